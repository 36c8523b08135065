//! The door for build scripts: from configs to `catalog.rs` in the build's output folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use crate::diagnostic::{Diagnostic, Severity, render};
use crate::source::{Source, read};
use crate::{compile, emit};

/// Bakes the configs under `path`, a folder or file relative to the crate that is built.
///
/// To be called from a build script; if the configs are wrong, it says why and ends the build.
/// The crate then includes the catalog with `climax_runtime::catalog!()`.
pub fn bake(path: &str) {
    bake_paths(&[PathBuf::from(path)]);
}

/// Bakes the configs that an environment variable names, as paths joined like those in `PATH`, or
/// those under `default` if it is not set. Relative paths count from the crate that is built.
pub fn bake_from_env(variable: &str, default: &str) {
    directive(&format!("rerun-if-env-changed={variable}"));
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    let value = value.unwrap_or_else(|| default.into());
    let paths: Vec<PathBuf> = env::split_paths(&value)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    bake_paths(&paths);
}

fn bake_paths(paths: &[PathBuf]) {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let output = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("catalog.rs");
    // Cargo looks at everything in a folder, so added and removed files count too.
    for path in paths {
        directive(&format!("rerun-if-changed={}", root.join(path).display()));
    }
    let sources = read(&root, paths).unwrap_or_else(|errors| fail(&errors, &[]));
    let compiled = compile(&sources);
    let Some(catalog) = compiled.catalog else {
        fail(&compiled.diagnostics, &sources)
    };
    for warning in &compiled.diagnostics {
        directive(&format!("warning={}", one_line(warning, &sources)));
    }
    write(&output, &emit::rust_source(&catalog));
}

#[expect(clippy::print_stdout, reason = "cargo reads a build script's output")]
fn directive(directive: &str) {
    println!("cargo::{directive}");
}

fn fail(diagnostics: &[Diagnostic], sources: &[Source]) -> ! {
    eprint!("{}", render(diagnostics, sources));
    process::exit(1)
}

fn write(path: &Path, text: &str) {
    if let Err(error) = fs::write(path, text) {
        fail(
            &[Diagnostic::general(format!(
                "cannot write `{}`: {error}",
                path.display()
            ))],
            &[],
        )
    }
}

/// Cargo shows warnings of build scripts as single lines.
fn one_line(diagnostic: &Diagnostic, sources: &[Source]) -> String {
    debug_assert_eq!(diagnostic.severity, Severity::Warning);
    let place = diagnostic.span.map_or(String::new(), |span| {
        let source = &sources[span.source];
        let before = &source.text[..span.start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
        format!("{}:{line}:{column}: ", source.path)
    });
    let help = diagnostic.help.iter().map(|help| format!(" ({help})"));
    format!("{place}{}{}", diagnostic.message, help.collect::<String>())
}
