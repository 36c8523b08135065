//! What a policy means, the same when a server is built and when it starts: [`written`] gives its YAML
//! a shape, [`check`] holds it against the tools that there are and makes a [`rules::Policy`] of it,
//! [`limit`] and [`pattern`] say whether a value is allowed.

pub mod check;
pub mod limit;
pub mod pattern;
mod python;
pub mod rules;
mod write_out;
pub mod written;

use climax_input::diagnostic::{Diagnostic, Severity};
use climax_input::source::Source;
use climax_input::yaml;

use check::{KnownTools, PolicyStage};
use rules::Policy;

/// Takes a policy from text to rules. The source has the given number in messages.
///
/// There is no policy if one of the messages is an error.
pub fn compile(
    number: usize,
    source: &Source,
    known: &KnownTools<'_>,
    stage: PolicyStage,
    report: &mut Vec<Diagnostic>,
) -> Option<Policy> {
    let mut messages = Vec::new();
    let written = match yaml::parse(number, source) {
        Ok(node) => written::policy(node, &mut messages),
        Err(error) => {
            messages.push(error);
            None
        }
    };
    let mut policy = written.map(|written| check::check(written, known, stage, &mut messages));
    if let Some(policy) = &mut policy {
        policy.execution.origin = format!("`{}`", source.path);
    }
    messages.sort_by_key(|message| message.span.map(|span| span.start));
    let failed = messages
        .iter()
        .any(|message| message.code.severity() == Severity::Error);
    report.append(&mut messages);
    policy.filter(|_| !failed)
}
