//! Links the unwinder of GCC into the program. rustc would load it as the shared library `libgcc_s`, which takes 6
//! to 10 % of the time that the server needs to start.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // Compilers install it beside `libgcc_s`, which linking any Rust program requires.
        println!("cargo::rustc-link-lib=gcc_eh");
    }
}
