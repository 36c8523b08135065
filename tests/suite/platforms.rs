//! The operating systems that the server can be built for.

use std::fs;
use std::process::{Command, Output};

use climax_tests::{Folder, run};

/// Compiles `supported.rs` for a target whose standard library need not be installed. Without `core`, the one
/// macro that the file uses must be declared here.
fn compile(target: &str) -> Output {
    let folder = Folder::new();
    let code = "#![feature(no_core, rustc_attrs)]\n#![no_core]\n#![allow(internal_features, unused)]\n\
                #[rustc_builtin_macro]\nmacro_rules! compile_error { ($($token:tt)*) => {}; }\n\
                mod supported;\n";
    fs::write(folder.path().join("lib.rs"), code).expect("a file");
    let supported = include_str!("../../crates/runtime/src/supported.rs");
    fs::write(folder.path().join("supported.rs"), supported).expect("a file");
    run(Command::new("rustc")
        .current_dir(folder.path())
        .env("RUSTC_BOOTSTRAP", "1")
        .args([
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--target",
            target,
            "lib.rs",
        ]))
}

#[test]
fn an_unsupported_system_is_a_compile_error() {
    for target in ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"] {
        let output = compile(target);
        assert!(output.status.success(), "{target}: {output:?}");
    }
    for target in ["x86_64-pc-windows-msvc", "x86_64-unknown-freebsd"] {
        let output = compile(target);
        assert!(!output.status.success(), "{target}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains("error: CLImax runs on Linux and macOS"),
            "{errors}"
        );
    }
}
