//! Bakes the fixtures, and once more with a policy.

use climax_codegen::{Bake, bake};

fn main() {
    bake("fixtures/configs");
    Bake::new("fixtures/configs")
        .policy("fixtures/guarded.yaml")
        .output("guarded.rs")
        .run();
}
