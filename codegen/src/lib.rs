//! Reads CLImax configs and generates the Rust code of a catalog.
//!
//! One stage, one file, in this order: [`written`] gives YAML the shape of a config, [`check`] makes the
//! [`model`], [`apply`] narrows it to what a policy allows, [`schema`] and [`layout`] make JSON and
//! tables of it, [`emit`] makes Rust. [`compile`] is the whole flow, [`Bake`] is what a build script
//! uses.

pub mod apply;
mod bake;
pub mod check;
pub mod emit;
pub mod facts;
pub mod layout;
pub mod model;
mod names;
mod parallel;
pub mod schema;
mod tables;
pub mod written;

use climax_input::diagnostic::{Diagnostic, Severity};
use climax_input::source::{Source, Sources};
use climax_input::yaml;
use sha2::{Digest, Sha256};

pub use bake::{Bake, bake, bake_from_env};
use model::Catalog;

/// What came of a set of configs.
pub struct Compiled {
    /// The catalog, if there was no error.
    pub catalog: Option<Catalog>,
    /// Everything that is to be said about the configs.
    pub diagnostics: Vec<Diagnostic>,
}

/// Takes configs from text to the checked model, and collects every error on the way.
#[must_use]
pub fn compile(sources: &Sources) -> Compiled {
    let configs = &sources.all[..sources.configs];
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
    let mut diagnostics = Vec::new();
    let mut written = Vec::new();
    for (source, (config, mut report)) in configs.iter().zip(read) {
        diagnostics.append(&mut report);
        written.extend(config.map(|config| (source, config)));
    }
    let (mut clis, names) = check::check(written, &mut diagnostics);
    let mut surroundings = None;
    // With tools missing, there would be errors that are none.
    if !has_error(&diagnostics)
        && let Some(policy) = sources.policy()
    {
        surroundings = apply::apply(sources.configs, policy, &mut clis, &mut diagnostics);
    }
    check::unlimited(&clis, &names, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
    // What an alias stands for is seen wherever it is used.
    diagnostics.dedup_by(|one, other| one.span == other.span && one.message == other.message);
    let catalog = (!has_error(&diagnostics)).then(|| Catalog {
        clis,
        files: sources
            .all
            .iter()
            .map(|source| source.file_name.clone())
            .collect(),
        hash: hash(&sources.all),
        surroundings,
    });
    Compiled {
        catalog,
        diagnostics,
    }
}

fn has_error(diagnostics: &[Diagnostic]) -> bool {
    let mut severities = diagnostics.iter().map(|message| message.code.severity());
    severities.any(|severity| severity == Severity::Error)
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
