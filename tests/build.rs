//! Bakes the fixtures, without and with a policy, and the configs of real programs.

use std::env;

use climax_codegen::{Bake, bake};

fn main() {
    // Without this feature there is no server to bake for.
    if env::var_os("CARGO_FEATURE_PROGRAMS").is_none() {
        return;
    }
    bake("fixtures/configs");
    Bake::new("fixtures/configs")
        .policy("fixtures/guarded.yaml")
        .output("guarded.rs")
        .run();
    Bake::new("fixtures/programs").output("programs.rs").run();
}
