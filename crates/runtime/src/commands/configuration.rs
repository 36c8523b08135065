//! Turns the checked arguments of a subcommand into a service.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use climax_input::diagnostic::Diagnostic;
use climax_input::draw::render;
use climax_input::fields::closest;
use climax_policy::check::HostPathKind;
use climax_policy::rules::InheritedVariables;
use climax_runner::{CaptureOptions, OutputStore, Runner, RunnerOptions, StoreOptions};

use super::{Failure, subcommand_names};
use crate::call::Executor;
use crate::call::guard::{self, ExecutionGuard};
use crate::catalog::Catalog;
use crate::catalog::policies::{self, AllowedCatalog};
use crate::catalog::selection::Selection;
use crate::service::{Permits, ServerMode, Service};

/// Bytes of standard output in an answer, unless the command line says otherwise.
pub(super) const DEFAULT_INLINE_BYTES: usize = 32 * 1024;

/// With less, a notice would be longer than what is shown.
const MIN_INLINE_BYTES: usize = 100;

/// The answer has this many times more standard output than standard error.
const STDERR_DIVISOR: usize = 4;

/// The settings of a service.
pub(crate) struct Configuration {
    /// The tools to offer.
    pub(crate) selection: Selection,
    /// Enforces what policies say about containers, variables and directories.
    pub(crate) guard: ExecutionGuard,
    pub(crate) mode: ServerMode,
    /// How many commands may run at the same time, if the limits of open files and processes allow it.
    pub(crate) max_concurrent: usize,
    pub(crate) output: OutputLimits,
}

/// How much of a call's output is in the answer, and where more is stored.
pub(crate) struct OutputLimits {
    /// Bytes of standard output in the answer (standard error: 1/4 of it).
    pub(crate) inline_bytes: usize,
    /// Where longer output is stored, if it is.
    pub(crate) store: Option<StoreOptions>,
}

impl Configuration {
    /// The configuration for looking up tools without running any.
    pub(super) fn for_lookups(selection: Selection) -> Self {
        Self {
            selection,
            guard: ExecutionGuard::default(),
            mode: ServerMode::Explore,
            max_concurrent: 1,
            output: OutputLimits {
                inline_bytes: 0,
                store: None,
            },
        }
    }

    /// Creates the service and its runner.
    pub(crate) fn service(self) -> Service {
        let guard = Arc::new(self.guard);
        let runner = Runner::new(RunnerOptions {
            max_concurrent: self.max_concurrent,
            inherits_variable: {
                let guard = guard.clone();
                Box::new(move |name| guard.inherits_variable(name))
            },
        });
        let executor = Executor {
            runner,
            capture: CaptureOptions {
                max_stdout_bytes: self.output.inline_bytes,
                max_stderr_bytes: self.output.inline_bytes / STDERR_DIVISOR,
                store: self.output.store.map(OutputStore::new),
            },
            guard,
        };
        let permits = Permits::new(executor.runner.max_concurrent());
        Service::new(self.selection, self.mode, executor, permits)
    }
}

/// Parses the value of `--inline-output`.
pub(super) fn parse_inline_bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes >= MIN_INLINE_BYTES => Ok(bytes),
        _ => Err(format!("expected a number of at least {MIN_INLINE_BYTES}")),
    }
}

/// Parses the value of `--env`, and lists the values in the help.
pub(super) fn inherited_variables() -> impl TypedValueParser<Value = InheritedVariables> {
    let names = InheritedVariables::NAMES.map(|(name, _)| name);
    PossibleValuesParser::new(names).map(|text| {
        let mut levels = InheritedVariables::NAMES.into_iter();
        let level = levels.find(|(name, _)| *name == text);
        level
            .map(|(_, level)| level)
            .expect("the parser accepts these names only")
    })
}

/// Where a CLI's name is on the command line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NamePosition {
    /// In place of a subcommand, so it may be a misspelt subcommand.
    First,
    /// After a subcommand.
    AfterCommand,
}

/// Applies policies to a catalog, and then selects the CLIs with these names, or all if there are no names.
/// `host_path_problem` checks the paths in policies; subcommands that run nothing skip that.
pub(super) fn allowed(
    catalog: &'static Catalog,
    (names, position): (&[String], NamePosition),
    policies: &[PathBuf],
    host_path_problem: &dyn Fn(HostPathKind, &str) -> Option<Diagnostic>,
) -> Result<AllowedCatalog, Failure> {
    let mut allowed =
        policies::apply(catalog, policies, host_path_problem).map_err(Failure::Diagnostics)?;
    eprint!("{}", allowed.warnings);
    let all = allowed.selection;
    allowed.selection = all.with_clis_named(names).map_err(|unknown| {
        if Selection::all(catalog)
            .with_clis_named(slice::from_ref(unknown))
            .is_ok()
        {
            return format!("the policy allows no tool of `{unknown}`");
        }
        unknown_name_message(catalog, unknown, position)
    })?;
    Ok(allowed)
}

/// Like [`allowed`], for a subcommand that runs commands: paths in policies must exist, and the guard enforces the
/// rules for running commands.
pub(super) fn allowed_with_guard(
    catalog: &'static Catalog,
    names: (&[String], NamePosition),
    policies: &[PathBuf],
    inherit: InheritedVariables,
) -> Result<(Selection, ExecutionGuard), Failure> {
    let allowed = allowed(catalog, names, policies, &guard::host_path_problem)?;
    let guard = ExecutionGuard::new(&allowed.execution_rules, inherit)
        .map_err(|errors| Failure::Diagnostics(render(&errors, &[])))?;
    Ok((allowed.selection, guard))
}

fn unknown_name_message(catalog: &Catalog, unknown: &str, position: NamePosition) -> String {
    let extension = Path::new(unknown).extension();
    let is_yaml = extension.is_some_and(|extension| extension == "yaml" || extension == "yml");
    if is_yaml || unknown.contains('/') {
        return baked_config_message(unknown);
    }
    let commands = subcommand_names();
    if commands.iter().any(|command| command == unknown) {
        return format!("`{unknown}` is a command and must come first: climax {unknown} ...");
    }
    if unknown == "validate" {
        return "configs are checked before they are baked: climax-codegen check FOLDER".to_owned();
    }
    let clis: Vec<[&str; 2]> = catalog
        .tables
        .clis
        .rows()
        .iter()
        .map(|cli| [cli.stem, cli.name].map(|piece| piece.of(&catalog.tables.text)))
        .collect();
    let mut candidates = clis.concat();
    let mut message = match position {
        NamePosition::First => {
            candidates.extend(commands.iter().map(String::as_str));
            format!("there is no command or CLI named `{unknown}`")
        }
        NamePosition::AfterCommand => format!("there is no CLI named `{unknown}`"),
    };
    if let Some(candidate) = closest(unknown, &candidates) {
        let _ = write!(message, "; did you mean `{candidate}`?");
        return message;
    }
    message += ". CLIs in this binary:";
    for [stem, name] in clis {
        let _ = write!(message, "\n  {stem}");
        if name != stem {
            let _ = write!(message, " ({name})");
        }
    }
    message
}

pub(super) fn baked_config_message(file: &str) -> String {
    format!(
        "`{file}` cannot be loaded: configs are baked into this binary when it is built. \
         Build a binary with this config: CLIMAX_CONFIGS={file} cargo build --release"
    )
}
