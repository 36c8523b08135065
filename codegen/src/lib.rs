//! Reads CLImax configs and generates the Rust code of a catalog.
//!
//! [`compile`] is the whole flow. Each stage is a file: [`written`] gives YAML the shape of a config,
//! [`check`] makes the [`model`], [`facts`] takes from it what the catalog says about tools, and [`emit`]
//! writes Rust. Policies and tables are the work of `climax_catalog`. Build scripts use [`Bake`].

mod bake;
pub mod check;
pub mod emit;
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
use emit::{Catalog, rust_source};
use facts::facts;

/// What came of a set of configs.
pub struct Compiled {
    /// The generated code, if there was no error.
    pub source: Option<String>,
    /// The name of each CLI that is baked, and how many tools it has.
    pub clis: Vec<(String, usize)>,
    /// Everything that is to be said about the configs.
    pub diagnostics: Vec<Diagnostic>,
}

/// Takes configs and a policy from text to Rust source, and collects every error on the way.
#[must_use]
pub fn compile(sources: &Sources) -> Compiled {
    let mut diagnostics = Vec::new();
    let configs = read(&sources.all[..sources.configs], &mut diagnostics);
    let (clis, names) = check(configs, &mut diagnostics);
    let mut facts = facts(&clis);
    let policy = sources.policy();
    // With tools missing, there would be errors that are none.
    let policy = policy.filter(|_| !has_error(&diagnostics));
    let policy =
        policy.and_then(|it| compile_policy(sources.configs, it, &facts, &mut diagnostics));
    let kept = narrow(&mut facts, policy.as_slice());
    check::unlimited(&facts, &names, &mut diagnostics);
    sort(&mut diagnostics);
    let source = (!has_error(&diagnostics)).then(|| {
        let (discovery, tables) = parallel::both(|| derive(&facts), || build(&facts));
        rust_source(&Catalog {
            files: sources
                .all
                .iter()
                .map(|source| &*source.file_name)
                .collect(),
            hash: hash(&sources.all),
            clis: &clis,
            kept: &kept,
            surroundings: policy.as_ref().map(|policy| &policy.execution),
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

/// Reads configs from YAML into their written form. What cannot be read is reported and left out.
pub fn read<'s>(
    configs: &'s [Source],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(&'s Source, written::Config)> {
    let read = parallel::map(configs, |number, source| {
        let mut report = Vec::new();
        let config = match yaml::parse(number, source) {
            Ok(node) => written::config(node, &mut report),
            Err(error) => {
                report.push(error);
                None
            }
        };
        (config, report)
    });
    let mut written = Vec::new();
    for (source, (config, mut report)) in configs.iter().zip(read) {
        diagnostics.append(&mut report);
        written.extend(config.map(|config| (source, config)));
    }
    written
}

/// The policy in a source, which has the given number, with automata for its patterns.
fn compile_policy(
    number: usize,
    source: &Source,
    facts: &Facts<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Policy> {
    let known = KnownTools {
        tools: facts.known_tools(),
        // The server may run on another machine.
        host_path_problem: &|_, _| None,
    };
    let mut policy =
        climax_policy::compile(number, source, &known, PolicyStage::Build, diagnostics)?;
    policy.bake_patterns();
    Some(policy)
}

fn has_error(diagnostics: &[Diagnostic]) -> bool {
    let mut severities = diagnostics.iter().map(|message| message.code.severity());
    severities.any(|severity| severity == Severity::Error)
}

/// Puts messages into the order of the files, each once.
fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
    // What an alias stands for is seen wherever it is used.
    diagnostics.dedup_by(|one, other| one.span == other.span && one.message == other.message);
}

/// The first 64 bits of a digest over all names and contents.
fn hash(sources: &[Source]) -> String {
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
