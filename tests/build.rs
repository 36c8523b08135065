//! Bakes the fixtures.

fn main() {
    climax_codegen::bake("fixtures/configs");
}
