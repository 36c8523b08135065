//! Turns CLImax configs into the Rust source of a catalog.
//!
//! [`compile`] is the whole flow. Each stage is a module: [`written`] reads YAML into configs as written,
//! [`check`] turns them into the [`model`], [`facts`] turns the model into facts, from which `climax_catalog`
//! builds tables after applying the policy, and [`emit`] writes Rust. Build scripts use [`Bake`].

mod bake;
pub mod base_schema;
pub mod check;
pub mod emit;
pub mod examples;
pub mod facts;
mod literal;
pub mod model;
mod names;
mod parallel;
pub mod written;

use climax_catalog::facts::Facts;
use climax_catalog::{build, narrow};
use climax_discovery::derive;
use climax_input::diagnostic::{Diagnostic, Severity};
use climax_input::source::{Source, Sources};
use climax_input::yaml;
use climax_policy::check::{KnownTools, PolicyStage};
use climax_policy::rules::Policy;
use sha2::{Digest, Sha256};

pub use bake::{Bake, bake, bake_from_env};
use check::check;
use emit::{EmitterInput, rust_source};
use examples::add_examples;
use facts::facts;

/// The result of compiling a set of configs.
pub struct Compiled {
    /// The generated code, unless there was an error.
    pub source: Option<String>,
    /// The name and the number of tools of each CLI in the catalog.
    pub clis: Vec<(String, usize)>,
    /// All errors and warnings, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles configs and a policy to Rust source. Collects the errors of all files.
#[must_use]
pub fn compile(sources: &Sources) -> Compiled {
    let mut diagnostics = Vec::new();
    let configs = read_configs(&sources.all[..sources.config_count], &mut diagnostics);
    let (clis, tool_names) = check(configs, &mut diagnostics);
    let mut facts = facts(&clis);
    add_examples(&clis, &mut facts, &mut diagnostics);
    let policy = sources.policy();
    // An error may have left out a tool, which the policy would then seem not to know.
    let policy = policy.filter(|_| !has_error(&diagnostics));
    let policy = policy
        .and_then(|source| compile_policy(sources.config_count, source, &facts, &mut diagnostics));
    let original_numbers = narrow(&mut facts, policy.as_slice());
    check::warn_about_unlimited_arguments(&facts, &tool_names, &mut diagnostics);
    sort_and_deduplicate(&mut diagnostics);
    let source = (!has_error(&diagnostics)).then(|| {
        let (mut discovery, tables) = parallel::join(|| derive(&facts), || build(&facts));
        discovery.meaning.bake_neighbours();
        rust_source(&EmitterInput {
            files: sources
                .all
                .iter()
                .map(|source| &*source.file_name)
                .collect(),
            hash: content_hash(&sources.all),
            clis: &clis,
            original_numbers: &original_numbers,
            execution_rules: policy.as_ref().map(|policy| &policy.execution),
            tables: &tables,
            discovery: &discovery,
        })
    });
    let tools_of = |number| facts.tools.iter().filter(move |tool| tool.cli == number);
    let counts = facts.clis.iter().enumerate();
    let counts = counts.map(|(number, cli)| (cli.name.to_owned(), tools_of(number).count()));
    Compiled {
        clis: counts.collect(),
        source,
        diagnostics,
    }
}

/// Reads configs from YAML. Reports and skips those that cannot be read.
pub fn read_configs<'s>(
    configs: &'s [Source],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(&'s Source, written::WrittenConfig)> {
    let results = parallel::map(configs, |index, source| {
        let mut report = Vec::new();
        let config = match yaml::parse(index, source) {
            Ok(node) => written::read_config(node, &mut report),
            Err(error) => {
                report.push(error);
                None
            }
        };
        (config, report)
    });
    let mut written = Vec::new();
    for (source, (config, mut report)) in configs.iter().zip(results) {
        diagnostics.append(&mut report);
        written.extend(config.map(|config| (source, config)));
    }
    written
}

/// Compiles the policy in the source with the given index.
fn compile_policy(
    source_index: usize,
    source: &Source,
    facts: &Facts<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Policy> {
    let known = KnownTools {
        tools: facts.known_tools(),
        // The server may run on another machine, so paths cannot be checked here.
        host_path_problem: &|_, _| None,
    };
    climax_policy::compile(
        source_index,
        source,
        &known,
        PolicyStage::Build,
        diagnostics,
    )
}

fn has_error(diagnostics: &[Diagnostic]) -> bool {
    let mut severities = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.severity());
    severities.any(|severity| severity == Severity::Error)
}

fn sort_and_deduplicate(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
    // A YAML anchor is checked once for each of its aliases.
    diagnostics.dedup_by(|one, other| one.span == other.span && one.message == other.message);
}

/// The first 64 bits of a digest of all file names and contents.
fn content_hash(sources: &[Source]) -> String {
    let mut digest = Sha256::new();
    for source in sources {
        for part in [&source.file_name, &source.text] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    let bytes = digest.finalize();
    let first = bytes
        .iter()
        .take(8)
        .fold(0, |hash, byte| hash << 8 | u64::from(*byte));
    format!("{first:016x}")
}
