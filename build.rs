//! Bakes the configs at `CLIMAX_CONFIGS`, or those in `configs` if it is not set.

fn main() {
    climax_codegen::bake_from_env("configs");
}
