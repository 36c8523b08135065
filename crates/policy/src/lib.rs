//! Turns the YAML of a policy into rules, in the same way at build time and at the start of a server:
//! [`written`] reads the YAML, [`check`] checks it against the known tools and returns a [`rules::Policy`],
//! [`limit`] and [`pattern`] decide whether a value is allowed.

pub mod check;
mod expand;
pub mod limit;
pub mod pattern;
mod python;
pub mod rules;
pub mod written;

use climax_input::diagnostic::{Diagnostic, Severity};
use climax_input::source::Source;
use climax_input::yaml;

use check::{KnownTools, PolicyStage};
use rules::Policy;

/// Compiles the text of a policy to rules. `number` is the index of the source in diagnostics.
///
/// Returns `None` if one of the diagnostics is an error.
pub fn compile(
    number: usize,
    source: &Source,
    known: &KnownTools<'_>,
    stage: PolicyStage,
    report: &mut Vec<Diagnostic>,
) -> Option<Policy> {
    let mut diagnostics = Vec::new();
    let written = match yaml::parse(number, source) {
        Ok(node) => written::policy(node, &mut diagnostics),
        Err(error) => {
            diagnostics.push(error);
            None
        }
    };
    let mut policy = written.map(|written| check::check(written, known, stage, &mut diagnostics));
    if let Some(policy) = &mut policy {
        policy.execution.origin = format!("`{}`", source.path);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    let has_error = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.code.severity() == Severity::Error);
    report.append(&mut diagnostics);
    policy.filter(|_| !has_error)
}
