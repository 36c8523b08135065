//! Turns policy files that are named at the start into what they leave of a catalog.

use std::path::PathBuf;

use climax_catalog::{build, narrow};
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::draw::render;
use climax_input::source::read_file;
use climax_policy::check::{Known, Local, Moment};
use climax_policy::rules::{Policy, Surroundings};

use crate::call::guard;
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;

/// What policies allow.
pub(crate) struct Allowed {
    /// Of the tools.
    pub(crate) selection: Selection,
    /// Where and with what they run: what was baked, and what each file says.
    pub(crate) surroundings: Vec<Surroundings>,
    /// What is to be said about the files although they are right.
    pub(crate) warnings: String,
}

/// Applies policies to a catalog. `trouble` says what is wrong with them on this machine.
///
/// # Errors
/// What is wrong with the files, drawn.
pub(crate) fn apply(
    catalog: &'static Catalog,
    files: &[PathBuf],
    trouble: &dyn Fn(Local, &str) -> Option<Diagnostic>,
) -> Result<Allowed, String> {
    let mut allowed = Allowed {
        selection: Selection::all(catalog),
        surroundings: catalog
            .surroundings
            .iter()
            .map(guard::baked_rules)
            .collect(),
        warnings: String::new(),
    };
    if files.is_empty() {
        return Ok(allowed);
    }
    let baked = catalog.tables.facts();
    let known = Known {
        tools: baked.known_tools(),
        trouble,
    };
    let mut sources = Vec::new();
    let mut messages = Vec::new();
    let mut policies: Vec<Policy> = Vec::new();
    for file in files {
        match read_file("".as_ref(), file) {
            Ok(source) => {
                let number = sources.len();
                let moment = Moment::Start;
                let policy = climax_policy::compile(number, &source, &known, moment, &mut messages);
                policies.extend(policy);
                sources.push(source);
            }
            Err(error) => messages.push(error),
        }
    }
    if policies.len() == files.len() {
        let mut facts = baked;
        let kept = narrow(&mut facts, &policies);
        if facts.tools.is_empty() {
            messages.push(
                Diagnostic::general(Code::NoToolLeft, "no tool is allowed by all policies")
                    .help("let them have one in common"),
            );
        } else {
            // They serve until the process ends.
            let tables = Box::leak(Box::new(build(&facts)));
            allowed.selection = Selection::narrowed(catalog, tables, kept);
            let surroundings = policies.into_iter().map(|policy| policy.surroundings);
            allowed.surroundings.extend(surroundings);
            allowed.warnings = render(&messages, &sources);
            return Ok(allowed);
        }
    }
    Err(render(&messages, &sources))
}
