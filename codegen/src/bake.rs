//! The door for build scripts: from configs to `catalog.rs` in the build's output folder.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, line_and_column, render};
use crate::source::{Source, read};
use crate::{compile, emit};

/// More warnings than this are counted, not shown.
const MOST_WARNINGS: usize = 3;

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
    let sources = read(&root, paths).unwrap_or_else(|errors| fail(&errors, &[]));
    let compiled = compile(&sources);
    let Some(catalog) = compiled.catalog else {
        fail(&compiled.diagnostics, &sources)
    };
    // Cargo looks at everything in a folder, so added and removed files count too. After a failure
    // it comes back in any case, and would show these lines as noise.
    for path in paths {
        directive(&format!("rerun-if-changed={}", root.join(path).display()));
    }
    warn(&compiled.diagnostics, &sources, paths);
    if let Err(error) = fs::write(&output, emit::rust_source(&catalog)) {
        let message = format!("cannot write `{}`: {error}", output.display());
        fail(&[Diagnostic::general(Code::Unreadable, message)], &[])
    }
}

#[expect(clippy::print_stdout, reason = "cargo reads a build script's output")]
fn directive(directive: &str) {
    println!("cargo::{directive}");
}

fn fail(diagnostics: &[Diagnostic], sources: &[Source]) -> ! {
    eprint!("{}", render(diagnostics, sources));
    process::exit(1)
}

/// Cargo shows warnings of build scripts as single lines, at every build: a few are enough.
fn warn(warnings: &[Diagnostic], sources: &[Source], paths: &[PathBuf]) {
    if warnings.len() <= MOST_WARNINGS {
        for warning in warnings {
            directive(&format!("warning={}", one_line(warning, sources)));
        }
    } else {
        let paths: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        directive(&format!(
            "warning=the configs give {} warnings; to see them: \
             cargo run -p climax-codegen -- check {}",
            warnings.len(),
            paths.join(" ")
        ));
    }
}

fn one_line(diagnostic: &Diagnostic, sources: &[Source]) -> String {
    let place = diagnostic.span.map_or(String::new(), |span| {
        let source = &sources[span.source];
        let (line, column) = line_and_column(&source.text, span.start);
        format!("{}:{line}:{column}: ", source.path)
    });
    let help = diagnostic.help.iter().map(|help| format!(" ({help})"));
    format!(
        "{place}{} [{}]{}",
        diagnostic.message,
        diagnostic.code.id(),
        help.collect::<String>()
    )
}
