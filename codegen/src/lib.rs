//! Reads CLImax configs and generates the Rust code of a catalog.
//!
//! One stage, one file, in this order: [`source`] reads files, [`yaml`] parses them, [`written`]
//! gives them the shape of a config, [`check`] makes the [`model`], [`schema`], [`layout`] and
//! [`index`] make JSON and tables of it, [`emit`] makes Rust. [`compile`] is the whole flow, [`bake()`] is what a
//! build script calls.

mod bake;
pub mod check;
pub mod code;
pub mod diagnostic;
pub mod emit;
pub mod index;
pub mod layout;
pub mod model;
mod names;
mod parallel;
pub mod schema;
pub mod source;
mod tables;
pub mod written;
pub mod yaml;

use sha2::{Digest, Sha256};

pub use bake::{bake, bake_from_env};
use diagnostic::{Diagnostic, Severity};
use model::Catalog;
use source::Source;

/// What came of a set of configs.
pub struct Compiled {
    /// The catalog, if there was no error.
    pub catalog: Option<Catalog>,
    /// Everything that is to be said about the configs.
    pub diagnostics: Vec<Diagnostic>,
}

/// Takes configs from text to the checked model, and collects every error on the way.
#[must_use]
pub fn compile(sources: &[Source]) -> Compiled {
    let read = parallel::map(sources, |number, source| {
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
    let mut configs = Vec::new();
    for (source, (config, mut report)) in sources.iter().zip(read) {
        diagnostics.append(&mut report);
        configs.extend(config.map(|config| (source, config)));
    }
    let clis = check::check(configs, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
    // What an alias stands for is seen wherever it is used.
    diagnostics.dedup_by(|one, other| one.span == other.span && one.message == other.message);
    let failed = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.code.severity() == Severity::Error);
    let catalog = (!failed).then(|| Catalog {
        clis,
        files: sources
            .iter()
            .map(|source| source.file_name.clone())
            .collect(),
        hash: hash(sources),
    });
    Compiled {
        catalog,
        diagnostics,
    }
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
