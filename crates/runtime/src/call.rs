//! Turns a call of a tool into its answer: JSON to typed arguments, to a command line, to output, to text.

pub(crate) mod answer;
pub(crate) mod argument_names;
pub(crate) mod arguments;
pub(crate) mod argv;
pub(crate) mod expand;
pub(crate) mod guard;
mod state;

use std::borrow::Cow;
use std::mem;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bumpalo::Bump;
use climax_catalog::tables::ToolRow;
use climax_core::risk::refuses_unknown_arguments;
use climax_runner::{CommandSpec, Outcome, Runner, WorkingDirectory};
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use crate::call::answer::{CallAnswer, answer};
use crate::call::argument_names::{
    ResolvedArguments, name_for_key, resolve_names, unknown_argument,
};
use crate::call::arguments::{ArgumentReader, CallRefusal};
use crate::call::argv::Argv;
use crate::call::expand::expand;
use crate::call::guard::{ContainerTemplate, ExecutionGuard};
use crate::catalog::selection::Selection;
pub(crate) use state::CallState;

/// What all calls of a server share.
pub(crate) struct Executor {
    /// Runs the commands.
    pub(crate) runner: Runner,
    /// Bytes of standard output kept per call (standard error: 1/16 of it).
    pub(crate) max_output_bytes: usize,
    /// Enforces what policies say about containers, variables and directories.
    pub(crate) guard: Arc<ExecutionGuard>,
}

/// A call as its client sent it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallRequest {
    /// The name of the tool.
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    /// The names of further parameters of the request, which have no meaning.
    pub(crate) unknown_parameters: Vec<String>,
}

impl Executor {
    /// Calls a tool, which comes with its number. Waits for the permit right before the command starts.
    pub(crate) async fn call(
        &self,
        selection: &Selection,
        (number, tool): (u32, &ToolRow),
        request: &CallRequest,
        permit: impl Future<Output = OwnedSemaphorePermit>,
        state: Option<&CallState>,
    ) -> CallAnswer {
        let name = selection.text(tool.name);
        let guard = &self.guard;
        let cli = selection.cli_of(tool);
        let base = expand(selection.text(cli.command));
        if base.trim().is_empty() {
            let reason = "The base command is empty: check the environment variables that it uses";
            return answer(Outcome::not_started(reason.to_owned()));
        }
        let argument_names = argument_names(selection, tool);
        let resolved = resolve_names(&request.arguments, &argument_names);
        let name_errors = name_errors(tool, &argument_names, request, &resolved);
        // Owns the strings that coercion creates; the command line borrows them.
        let arena = Bump::new();
        let argv = Argv::new(&base, selection.text(tool.command));
        let reader =
            ArgumentReader::new(&resolved.arguments, &arena, selection.argument_limits(tool));
        let mut argv = match build_argv(selection, (number, tool), reader, argv, name_errors) {
            Ok(argv) => argv,
            Err(refusal) => return refused(name, &refusal),
        };
        let working_dir = cli.working_dir.map(|piece| expand(selection.text(piece)));
        let working_dir = working_dir
            .as_deref()
            .filter(|directory| !directory.is_empty());
        let mut directory = argv.directory.or(working_dir);
        let env: Vec<&str> = selection.tables.list(cli.env).collect();
        let container = guard
            .container
            .as_ref()
            .map(ContainerTemplate::next_container);
        if let Some(container) = &container {
            let prefix = container.command_prefix(argv.stdin.is_some(), &env, argv.directory);
            argv.words.splice(0..0, prefix);
            directory = None;
        }
        // Dropping the future while it waits here cancels the call.
        let permit = permit.await;
        // Opened after the wait, so that waiting calls do not use up open files.
        let timeout = Duration::from_millis(tool.timeout_ms);
        let open = || guard.open_working_directory(argv.directory);
        let opened = match self.runner.retry_at_limit(timeout, open).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(refusal)) => return refused(name, &refusal),
            Err(error) => {
                let program = &argv.words[0];
                return answer(Outcome::not_started(format!(
                    "Cannot run {program}: {error}"
                )));
            }
        };
        let working_dir = match (directory, &opened) {
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
        tracing::info!(tool = name, "running {}", format_for_log(&argv.words));
        let started = Instant::now();
        let command = CommandSpec {
            argv: &argv.words,
            env,
            working_dir,
            stdin: argv.stdin,
            cleanup: container
                .as_ref()
                .map_or(Vec::new(), |container| container.removal_command().into()),
            timeout,
            max_output_bytes: self.max_output_bytes,
            on_output_line: state.is_some().then_some(&on_output_line),
        };
        let outcome = self.runner.run(command, permit).await;
        let seconds = started.elapsed().as_secs_f64();
        if outcome.completion.is_success() {
            tracing::info!(tool = name, "done after {seconds:.3} s");
        } else {
            let completion = &outcome.completion;
            tracing::warn!(tool = name, "failed after {seconds:.3} s: {completion}");
        }
        answer(outcome)
    }
}

fn refused(tool: &str, refusal: &CallRefusal) -> CallAnswer {
    let answer = CallAnswer::refusal(refusal);
    tracing::warn!(tool, "refused: {}", answer.text.replace('\n', " "));
    answer
}

/// Completes a command line with the call's arguments. Fails with everything that is wrong with them, and
/// with `name_errors` after that.
fn build_argv<'a>(
    selection: &Selection,
    (number, tool): (u32, &ToolRow),
    mut reader: ArgumentReader<'a>,
    mut argv: Argv<'a>,
    name_errors: Vec<String>,
) -> Result<Argv<'a>, CallRefusal> {
    argv.allowing_leading_dash = reader.limits().allowing_leading_dash();
    selection.write_command_line(number, tool, &mut reader, &mut argv);
    argv.errors.extend(name_errors);
    reader.finish(mem::take(&mut argv.errors))?;
    Ok(argv)
}

fn argument_names(selection: &Selection, tool: &ToolRow) -> Vec<&'static str> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let names = arguments
        .iter()
        .map(|argument| selection.text(argument.name));
    names.collect()
}

/// The error lines for the keys of a call: duplicates, then unknown ones if the tool refuses them.
fn name_errors(
    tool: &ToolRow,
    argument_names: &[&str],
    request: &CallRequest,
    resolved: &ResolvedArguments<'_>,
) -> Vec<String> {
    let mut errors = resolved.duplicates.clone();
    if refuses_unknown_arguments(tool.risk) {
        let unknown = resolved.unknown.iter();
        errors.extend(unknown.map(|key| unknown_argument(key, argument_names)));
        let parameters = request.unknown_parameters.iter();
        errors.extend(
            parameters.map(|key| match name_for_key(key, argument_names) {
                Some(name) => format!("Unknown argument '{name}': put it into 'args'"),
                None => unknown_argument(key, &["tool_name", "args"]),
            }),
        );
    }
    errors
}

/// A call's command line as a user would type it, its standard input and its working directory. Environment
/// variables are not expanded.
pub(crate) struct CallPreview {
    pub(crate) command_line: String,
    pub(crate) stdin: Option<String>,
    pub(crate) directory: Option<String>,
}

/// Previews a call without running it. Returns `None` if the call would be refused.
pub(crate) fn preview(
    selection: &Selection,
    number: u32,
    tool: &ToolRow,
    arguments: &Map<String, Value>,
) -> Option<CallPreview> {
    let cli = selection.cli_of(tool);
    let arena = Bump::new();
    let base = selection.text(cli.command);
    let argv = Argv::new_preview(base, selection.text(tool.command));
    // The base command may contain variables, which quotes would hide from a shell.
    let base_words = base.split_whitespace().count();
    let reader = ArgumentReader::new(arguments, &arena, selection.argument_limits(tool));
    let argv = build_argv(selection, (number, tool), reader, argv, Vec::new()).ok()?;
    let words = argv.words.iter().enumerate();
    let words = words.map(|(index, word)| {
        if index < base_words {
            word.clone()
        } else {
            shell_quoted(word)
        }
    });
    Some(CallPreview {
        command_line: words.collect::<Vec<_>>().join(" "),
        stdin: argv.stdin.map(str::to_owned),
        directory: argv.directory.map(str::to_owned),
    })
}

/// Quotes a word for a shell, if it needs quotes.
fn shell_quoted(word: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_alphanumeric() || "_@%+=:,./-".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// Formats a command line for the log, with long arguments cut off.
fn format_for_log(words: &[Cow<'_, str>]) -> String {
    const MAX_LOGGED_CHARS: usize = 120;
    let formatted = words
        .iter()
        .map(|word| match word.char_indices().nth(MAX_LOGGED_CHARS) {
            None => format!("{word:?}"),
            Some((end, _)) => format!("{:?}… ({} bytes)", &word[..end], word.len()),
        });
    formatted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_shortens_long_arguments() {
        let words = ["git".into(), "ä".repeat(1000).into()];
        let line = format_for_log(&words);
        assert!(line.starts_with("\"git\" \"ää"), "{line}");
        assert!(line.ends_with("… (2000 bytes)"), "{line}");
        assert!(line.chars().count() < 200, "{line}");
    }

    #[test]
    fn a_word_is_quoted_for_a_shell_if_it_needs_quotes() {
        for (word, expected) in [
            ("a-b/c.txt", "a-b/c.txt"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(shell_quoted(word), expected);
        }
    }
}
