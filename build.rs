//! Bakes the configs that `CLIMAX_CONFIGS` names, by default the folder `configs`.

fn main() {
    climax_codegen::bake_from_env("configs");
}
