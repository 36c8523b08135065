//! The door for build scripts: from configs to `catalog.rs` in the build's output folder.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;

use crate::compile;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, line_and_column};
use climax_input::draw::render;
use climax_input::source::{Source, read};

/// More warnings than this are counted, not shown.
const MOST_WARNINGS: usize = 3;

/// Bakes the configs under `path`, a folder or file relative to the crate that is built.
///
/// To be called from a build script; if the configs are wrong, it says why and ends the build.
/// The crate then includes the catalog with `climax_runtime::catalog!()`.
pub fn bake(path: &str) {
    Bake::new(path).run();
}

/// Bakes the configs that `CLIMAX_CONFIGS` names, as paths joined like those in `PATH`, or those under
/// `default` if it is not set; and the policy that `CLIMAX_POLICY` names, if it names one. Relative paths
/// count from the crate that is built.
pub fn bake_from_env(default: &str) {
    let value_of = |variable: &str| {
        directive(&format!("rerun-if-env-changed={variable}"));
        env::var_os(variable).filter(|value| !value.is_empty())
    };
    let configs = value_of("CLIMAX_CONFIGS").unwrap_or_else(|| default.into());
    let paths = env::split_paths(&configs);
    Bake {
        configs: paths.filter(|path| !path.as_os_str().is_empty()).collect(),
        policy: value_of("CLIMAX_POLICY").map(PathBuf::from),
        output: CATALOG,
    }
    .run();
}

/// What `climax_runtime::catalog!()` includes.
const CATALOG: &str = "catalog.rs";

/// What a build script bakes.
#[must_use]
pub struct Bake {
    configs: Vec<PathBuf>,
    policy: Option<PathBuf>,
    output: &'static str,
}

impl Bake {
    /// The configs under `path`, a folder or file relative to the crate that is built.
    pub fn new(path: &str) -> Self {
        Self {
            configs: vec![path.into()],
            policy: None,
            output: CATALOG,
        }
    }

    /// With a policy: what it excludes is not in the binary.
    pub fn policy(mut self, path: &str) -> Self {
        self.policy = Some(path.into());
        self
    }

    /// Into a file of this name, for a crate with several servers. A server includes it with
    /// `climax_runtime::catalog!("NAME")`.
    pub fn output(mut self, name: &'static str) -> Self {
        self.output = name;
        self
    }

    /// Bakes. If something is wrong, it says what and ends the build.
    ///
    /// # Panics
    /// It is not called from a build script.
    pub fn run(self) {
        let folder = |variable| PathBuf::from(env::var_os(variable).expect("cargo sets it"));
        let root = folder("CARGO_MANIFEST_DIR");
        let output = folder("OUT_DIR").join(self.output);
        let sources = read(&root, &self.configs, self.policy.as_deref());
        let sources = sources.unwrap_or_else(|errors| fail(&errors, &[]));
        let compiled = compile(&sources);
        let Some(source) = compiled.source else {
            fail(&compiled.diagnostics, &sources.all)
        };
        // Cargo looks at everything in a folder, so added and removed files count too. After a failure
        // it comes back in any case, and would show these lines as noise.
        for path in self.configs.iter().chain(&self.policy) {
            directive(&format!("rerun-if-changed={}", root.join(path).display()));
        }
        self.warn(&compiled.diagnostics, &sources.all);
        if let Err(error) = fs::write(&output, source) {
            let message = format!("cannot write `{}`: {error}", output.display());
            fail(&[Diagnostic::general(Code::Unreadable, message)], &[])
        }
    }

    /// Cargo shows warnings of build scripts as single lines, at every build: a few are enough.
    fn warn(&self, warnings: &[Diagnostic], sources: &[Source]) {
        if warnings.len() <= MOST_WARNINGS {
            for warning in warnings {
                directive(&format!("warning={}", one_line(warning, sources)));
            }
        } else {
            let policy = self.policy.iter();
            let policy = policy.map(|path| format!("--policy {}", path.display()));
            let configs = self.configs.iter().map(|path| path.display().to_string());
            let words: Vec<String> = policy.chain(configs).collect();
            directive(&format!(
                "warning=the configs give {} warnings; to see them: \
                 cargo run -p climax-codegen -- check {}",
                warnings.len(),
                words.join(" ")
            ));
        }
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
