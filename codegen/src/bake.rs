//! Compiles configs in a build script and writes the generated code to `OUT_DIR`.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;

use crate::compile;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, line_and_column};
use climax_input::draw::render;
use climax_input::source::{Source, read};

/// If there are more warnings than this, the build prints only their count.
const MAX_PRINTED_WARNINGS: usize = 3;

/// Bakes the configs at `path`, a file or folder relative to the crate being built.
///
/// Call it from a build script. If a config has errors, it prints them and fails the build.
/// The crate includes the catalog with `climax_runtime::catalog!()`.
pub fn bake(path: &str) {
    Bake::new(path).run();
}

/// Bakes the configs at the paths in `CLIMAX_CONFIGS`, a list separated as in `PATH`, or at `default` if the
/// variable is not set. Also bakes the policy at the path in `CLIMAX_POLICY`, if that is set. Paths are
/// relative to the crate being built.
pub fn bake_from_env(default: &str) {
    let value_of = |variable: &str| {
        print_directive(&format!("rerun-if-env-changed={variable}"));
        env::var_os(variable).filter(|value| !value.is_empty())
    };
    let configs = value_of("CLIMAX_CONFIGS").unwrap_or_else(|| default.into());
    let paths = env::split_paths(&configs);
    Bake {
        configs: paths.filter(|path| !path.as_os_str().is_empty()).collect(),
        policy: value_of("CLIMAX_POLICY").map(PathBuf::from),
        output: CATALOG_FILE,
    }
    .run();
}

/// The file that `climax_runtime::catalog!()` includes.
const CATALOG_FILE: &str = "catalog.rs";

/// Builder with the inputs and the output of a build script; [`run`](Self::run) bakes them.
#[must_use]
pub struct Bake {
    configs: Vec<PathBuf>,
    policy: Option<PathBuf>,
    output: &'static str,
}

impl Bake {
    /// Selects the configs at `path`, a file or folder relative to the crate being built. A build script that
    /// generates configs writes them to `OUT_DIR`.
    pub fn new(path: &str) -> Self {
        Self {
            configs: vec![path.into()],
            policy: None,
            output: CATALOG_FILE,
        }
    }

    /// Sets the policy to bake. Tools that it excludes are not in the binary.
    pub fn policy(mut self, path: &str) -> Self {
        self.policy = Some(path.into());
        self
    }

    /// Sets the name of the generated file, for crates with several servers. A server includes it with
    /// `climax_runtime::catalog!("NAME")`.
    pub fn output(mut self, name: &'static str) -> Self {
        self.output = name;
        self
    }

    /// Writes the generated code. If a config has errors, prints them and fails the build.
    ///
    /// # Panics
    /// If it is not called from a build script.
    pub fn run(self) {
        let path_from_env = |variable| {
            PathBuf::from(env::var_os(variable).expect("cargo sets it for build scripts"))
        };
        let root = path_from_env("CARGO_MANIFEST_DIR");
        let output_folder = path_from_env("OUT_DIR");
        let output = output_folder.join(self.output);
        let sources = read(&root, &self.configs, self.policy.as_deref());
        let sources = sources.unwrap_or_else(|errors| fail(&errors, &[]));
        let compiled = compile(&sources);
        let Some(source) = compiled.source else {
            fail(&compiled.diagnostics, &sources.all)
        };
        // Printed only on success: cargo reruns a failed build script anyway, and would show the directives
        // together with the errors. For a folder, cargo also notices added and removed files.
        let paths = self.configs.iter().chain(&self.policy);
        // Cargo would rerun the build script at every build if it watched what the script itself wrote.
        for path in paths.filter(|path| !path.starts_with(&output_folder)) {
            print_directive(&format!("rerun-if-changed={}", root.join(path).display()));
        }
        self.print_warnings(&compiled.diagnostics, &sources.all);
        if let Err(error) = fs::write(&output, source) {
            let message = format!("cannot write `{}`: {error}", output.display());
            fail(&[Diagnostic::general(Code::Unreadable, message)], &[])
        }
    }

    /// Prints each warning on one line, or only their count if there are many, because cargo repeats the
    /// warnings of build scripts at every build.
    fn print_warnings(&self, warnings: &[Diagnostic], sources: &[Source]) {
        if warnings.len() <= MAX_PRINTED_WARNINGS {
            for warning in warnings {
                print_directive(&format!("warning={}", format_as_line(warning, sources)));
            }
        } else {
            let policy = self.policy.iter();
            let policy = policy.map(|path| format!("--policy {}", path.display()));
            let configs = self.configs.iter().map(|path| path.display().to_string());
            let arguments: Vec<String> = policy.chain(configs).collect();
            print_directive(&format!(
                "warning=the configs have {} warnings; to see them, run: \
                 cargo run -p climax-codegen -- check {}",
                warnings.len(),
                arguments.join(" ")
            ));
        }
    }
}

#[expect(clippy::print_stdout, reason = "cargo reads a build script's output")]
fn print_directive(directive: &str) {
    println!("cargo::{directive}");
}

fn fail(diagnostics: &[Diagnostic], sources: &[Source]) -> ! {
    eprint!("{}", render(diagnostics, sources));
    process::exit(1)
}

fn format_as_line(diagnostic: &Diagnostic, sources: &[Source]) -> String {
    let location = diagnostic.span.map_or(String::new(), |span| {
        let source = &sources[span.source];
        let (line, column) = line_and_column(&source.text, span.start);
        format!("{}:{line}:{column}: ", source.path)
    });
    let help = diagnostic.help.iter().map(|help| format!(" ({help})"));
    format!(
        "{location}{} [{}]{}",
        diagnostic.message,
        diagnostic.code.id(),
        help.collect::<String>()
    )
}
