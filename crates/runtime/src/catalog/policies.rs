//! Applies the policy files given at startup to a catalog.

use std::path::PathBuf;

use climax_catalog::{build, narrow};
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::draw::render;
use climax_input::source::read_file;
use climax_policy::check::{HostPathKind, KnownTools, PolicyStage};
use climax_policy::rules::{ExecutionRules, Policy};

use crate::call::guard;
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;

/// A catalog narrowed by policies.
pub(crate) struct AllowedCatalog {
    /// The allowed tools.
    pub(crate) selection: Selection,
    /// The execution rules of the baked policy and of each file.
    pub(crate) execution_rules: Vec<ExecutionRules>,
    /// Rendered warnings about the files.
    pub(crate) warnings: String,
}

/// Narrows a catalog to what all policy files allow. `host_path_problem` checks parts of a policy that depend on
/// this machine.
///
/// # Errors
/// All errors in the files, rendered with their source lines.
pub(crate) fn apply(
    catalog: &'static Catalog,
    files: &[PathBuf],
    host_path_problem: &dyn Fn(HostPathKind, &str) -> Option<Diagnostic>,
) -> Result<AllowedCatalog, String> {
    let mut allowed = AllowedCatalog {
        selection: Selection::all(catalog),
        execution_rules: catalog
            .execution_rules
            .iter()
            .map(guard::baked_rules)
            .collect(),
        warnings: String::new(),
    };
    if files.is_empty() {
        return Ok(allowed);
    }
    let baked = catalog.tables.facts();
    let known = KnownTools {
        tools: baked.known_tools(),
        host_path_problem,
    };
    let mut sources = Vec::new();
    let mut diagnostics = Vec::new();
    let mut policies: Vec<Policy> = Vec::new();
    for file in files {
        match read_file("".as_ref(), file) {
            Ok(source) => {
                let number = sources.len();
                let policy = climax_policy::compile(
                    number,
                    &source,
                    &known,
                    PolicyStage::Start,
                    &mut diagnostics,
                );
                policies.extend(policy);
                sources.push(source);
            }
            Err(error) => diagnostics.push(error),
        }
    }
    if policies.len() == files.len() {
        let mut facts = baked;
        let baked_numbers = narrow(&mut facts, &policies);
        if facts.tools.is_empty() {
            diagnostics.push(
                Diagnostic::general(Code::NoToolAllowed, "no tool is allowed by all policies")
                    .help("allow at least one tool in every policy"),
            );
        } else {
            // Leaked because the tables live as long as the process.
            let tables = Box::leak(Box::new(build(&facts)));
            allowed.selection = Selection::narrowed(catalog, tables, baked_numbers);
            let execution_rules = policies.into_iter().map(|policy| policy.execution);
            allowed.execution_rules.extend(execution_rules);
            allowed.warnings = render(&diagnostics, &sources);
            return Ok(allowed);
        }
    }
    Err(render(&diagnostics, &sources))
}
