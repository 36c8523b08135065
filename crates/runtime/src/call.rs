//! Turns a call of a tool into its answer: JSON to typed arguments, to a command line, to output, to text.

pub(crate) mod answer;
pub(crate) mod argument_names;
pub(crate) mod excerpt;
pub(crate) mod guard;
pub(crate) mod joined_list;
pub(crate) mod plan;
pub(crate) mod preview;
mod redact;
mod state;

use std::borrow::Cow;
use std::env;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use bumpalo::Bump;
use climax_arguments::argv::CallFile;
use climax_runner::{
    CallDirectory, CaptureOptions, CommandSpec, Outcome, Runner, WorkingDirectory,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use crate::call::answer::{CallAnswer, answer};
use crate::call::guard::ExecutionGuard;
use crate::call::plan::{CallInput, CallPlan};
use crate::registration::OutputAccess;
pub(crate) use state::CallState;

/// What all calls of a server share.
pub(crate) struct Executor {
    /// Runs the commands.
    pub(crate) runner: Runner,
    /// How the output of commands is captured.
    pub(crate) capture: CaptureOptions,
    /// Enforces what policies say about containers, variables and directories.
    pub(crate) guard: Arc<ExecutionGuard>,
}

/// A call as its client sent it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallRequest {
    /// The name of the tool.
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    /// Further parameters of the request, which have no meaning.
    pub(crate) unknown_parameters: Map<String, Value>,
}

/// What a call would run.
#[derive(Debug, Serialize)]
pub(crate) struct DryRun {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// Whether the command would run in a container.
    pub(crate) in_container: bool,
    /// The directory in which the command would run; `None` for the server's, or the container's.
    pub(crate) directory: Option<String>,
    /// Text for standard input.
    pub(crate) stdin: Option<String>,
    /// The files that the command would read: names and contents.
    pub(crate) files: Vec<(String, String)>,
    /// `NAME=VALUE` for each variable that the config sets.
    pub(crate) env: Vec<String>,
    pub(crate) timeout_seconds: f64,
    /// About unknown arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hints: Vec<String>,
}

impl Executor {
    /// Calls a tool. Waits for the permit right before the command starts. `output_access` says how an agent
    /// reads stored output.
    pub(crate) async fn call(
        &self,
        input: &CallInput<'_>,
        permit: impl Future<Output = OwnedSemaphorePermit>,
        state: Option<&CallState>,
        output_access: Option<OutputAccess>,
    ) -> CallAnswer {
        let outcome = async {
            let arena = Bump::new();
            let plan = input.plan(&self.guard, self.runner.private_files(), &arena)?;
            // Dropping the future while it waits here cancels the call.
            let permit = permit.await;
            self.run(input, &plan, permit, state).await
        };
        match outcome.await {
            Ok(outcome) => answer(outcome, &input.result_rules(), output_access),
            Err(refusal) => refusal,
        }
    }

    /// Validates a call, and returns what it would run.
    ///
    /// # Errors
    /// An answer that says why the call is refused.
    pub(crate) fn dry_run(&self, input: &CallInput<'_>) -> Result<DryRun, CallAnswer> {
        let arena = Bump::new();
        let plan = input.plan(&self.guard, self.runner.private_files(), &arena)?;
        match self.guard.open_working_directory(plan.requested_directory) {
            Ok(Ok(_)) => {}
            Ok(Err(refusal)) => return Err(input.refused(&refusal)),
            Err(error) => return Err(CallAnswer::not_started(error.to_string())),
        }
        Ok(DryRun {
            argv: plan.words.into_iter().map(Cow::into_owned).collect(),
            in_container: plan.container.is_some(),
            directory: plan.directory.map(str::to_owned),
            stdin: plan.stdin.map(str::to_owned),
            files: plan
                .files
                .iter()
                .map(|file| {
                    (
                        format!("{}/{}", plan.file_directory, file.name),
                        file.text.to_owned(),
                    )
                })
                .collect(),
            env: plan.env.into_iter().map(str::to_owned).collect(),
            timeout_seconds: plan.timeout.as_secs_f64(),
            hints: Vec::new(),
        })
    }

    fn write_files(&self, path: &str, files: &[CallFile<'_>]) -> io::Result<CallDirectory> {
        let files = files.iter().map(|file| (file.name, file.text));
        self.runner.private_files().write(path.as_ref(), files)
    }

    async fn run(
        &self,
        input: &CallInput<'_>,
        plan: &CallPlan<'_>,
        permit: OwnedSemaphorePermit,
        state: Option<&CallState>,
    ) -> Result<Outcome, CallAnswer> {
        let tool = input.tool_name();
        // Opened after the wait, so that waiting calls do not use up open files.
        let open = || self.guard.open_working_directory(plan.requested_directory);
        let opened = match self.runner.retry_at_limit(plan.timeout, open).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(refusal)) => return Err(input.refused(&refusal)),
            Err(error) => {
                let program = &plan.words[0];
                let reason = format!("Cannot run {program}: {error}");
                return Err(CallAnswer::not_started(reason));
            }
        };
        let working_dir = match (plan.directory, &opened) {
            (None, _) => WorkingDirectory::Inherited,
            (Some(path), None) => WorkingDirectory::Path(path),
            (Some(path), Some(opened)) => WorkingDirectory::Opened {
                directory: opened.as_fd(),
                path,
            },
        };
        if let Some(state) = state {
            state.set_running();
        }
        let on_output_line = |line: &str| {
            if let Some(state) = state {
                state.set_last_line(line.to_owned());
            }
        };
        // These are called only if a message is logged.
        let directory = || match plan.directory {
            Some(path) => PathBuf::from(path),
            None => env::current_dir().unwrap_or_default(),
        };
        let words = || input.secrets().format_words(&plan.words);
        tracing::info!(tool, directory = ?directory(), "running {}", words());
        let file_directory = (!plan.files.is_empty()).then_some(plan.file_directory);
        // Removes the files when the call ends.
        let _files = match file_directory {
            None => None,
            Some(path) => {
                let write = || self.write_files(path, &plan.files);
                match self.runner.retry_at_limit(plan.timeout, write).await {
                    Ok(directory) => Some(directory),
                    Err(error) => {
                        tracing::warn!(tool, "cannot write the files of the call: {error}");
                        let reason = format!("Cannot write the files of the call: {error}");
                        return Err(CallAnswer::not_started(reason));
                    }
                }
            }
        };
        let needed = self.guard.needed_variables(&plan.needed_variables);
        let started = Instant::now();
        let container = plan.container.as_ref();
        let command = CommandSpec {
            argv: &plan.words,
            env: needed
                .iter()
                .map(String::as_str)
                .chain(plan.env.iter().copied())
                .collect(),
            working_dir,
            stdin: plan.stdin,
            temporary_directory: file_directory.unwrap_or_default(),
            cleanup: container.map_or(Vec::new(), |container| container.removal_command().into()),
            timeout: plan.timeout,
            capture: &self.capture,
            on_output_line: state.is_some().then_some(&on_output_line),
        };
        let outcome = self.runner.run(command, permit).await;
        let seconds = started.elapsed().as_secs_f64();
        let completion = &outcome.completion;
        if input.result_rules().accepts(completion) {
            tracing::info!(tool, "done after {seconds:.3} s: {completion}");
        } else {
            let held_back = self.guard.held_back_secrets(&plan.needed_variables);
            let held_back = match held_back.as_slice() {
                [] => String::new(),
                names => format!("; variables held back: {}", names.join(", ")),
            };
            tracing::warn!(
                tool,
                directory = ?directory(),
                "failed after {seconds:.3} s: {completion}{held_back}"
            );
        }
        Ok(outcome)
    }
}
