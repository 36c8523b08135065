//! What the arguments of a command mean once they are checked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use climax_input::diagnostic::Diagnostic;
use climax_policy::check::Local;
use climax_runner::{Runner, RunnerOptions};

use super::{Failure, is_subcommand};
use crate::call::Executor;
use crate::call::guard::ExecutionGuard;
use crate::catalog::Catalog;
use crate::catalog::policies::{self, Allowed};
use crate::catalog::selection::Selection;
use crate::service::{Mode, Permits, Service};

/// Everything that a service needs.
pub(crate) struct Configuration {
    /// The tools that are offered.
    pub(crate) selection: Selection,
    /// What policies say about where commands run, and with what.
    pub(crate) guard: ExecutionGuard,
    pub(crate) mode: Mode,
    /// How many commands run at the same time.
    pub(crate) max_concurrent: usize,
    /// Bytes of a command's output that are kept.
    pub(crate) max_output: usize,
}

impl Configuration {
    /// For looking up tools: nothing is going to run.
    pub(super) fn of_lookups(selection: Selection) -> Self {
        Self {
            selection,
            guard: ExecutionGuard::default(),
            mode: Mode::Explore,
            max_concurrent: 1,
            max_output: 0,
        }
    }

    /// The service, and the runner that it uses.
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
            max_output_bytes: self.max_output,
            guard,
        };
        let permits = Permits::new(self.max_concurrent);
        Service::new(self.selection, self.mode, executor, permits)
    }
}

/// What is left of the catalog by policies, and of that the CLIs that have one of the names. Where
/// nothing is run, it does not matter what this machine has.
pub(super) fn allowed(
    catalog: &'static Catalog,
    names: &[String],
    policies: &[PathBuf],
    trouble: &dyn Fn(Local, &str) -> Option<Diagnostic>,
) -> Result<Allowed, Failure> {
    let mut allowed = policies::apply(catalog, policies, trouble).map_err(Failure::Diagnostics)?;
    eprint!("{}", allowed.warnings);
    let all = allowed.selection;
    allowed.selection = all.named(names).map_err(|unknown| {
        if Selection::all(catalog)
            .named(slice::from_ref(unknown))
            .is_ok()
        {
            return format!("the policy allows no tool of `{unknown}`");
        }
        unknown_name_message(catalog, unknown)
    })?;
    Ok(allowed)
}

fn unknown_name_message(catalog: &Catalog, unknown: &str) -> String {
    let ending = Path::new(unknown).extension();
    let is_yaml = ending.is_some_and(|ending| ending == "yaml" || ending == "yml");
    if is_yaml || unknown.contains('/') {
        return baked_config_message(unknown);
    }
    if is_subcommand(unknown) {
        return format!(
            "`{unknown}` is a command, and comes before everything else: climax {unknown} ..."
        );
    }
    if unknown == "validate" {
        return "configs are checked where they are baked: climax-codegen check FOLDER".to_owned();
    }
    let mut message = format!("no CLI named `{unknown}` is baked into this binary. There are:");
    for cli in catalog.tables.clis.rows().iter() {
        let [stem, name] = [cli.stem, cli.name].map(|piece| piece.of(&catalog.tables.text));
        let _ = write!(message, "\n  {stem}");
        if name != stem {
            let _ = write!(message, " ({name})");
        }
    }
    message
}

pub(super) fn baked_config_message(file: &str) -> String {
    format!(
        "`{file}` cannot be read: configs are baked into this binary when it is built. \
         Build one that has it: CLIMAX_CONFIGS={file} cargo build --release"
    )
}
