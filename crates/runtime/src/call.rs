//! Carries out a call of a tool: JSON to shell_quoted arguments, these to a command line, this to an
//! answer. Both modes of the server come through here.

pub(crate) mod answer;
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
use climax_catalog::tables::Tool;
use climax_runner::{CommandSpec, Outcome, Runner, WorkingDirectory};
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use crate::call::answer::{CallAnswer, answer};
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
    /// Bytes of a command's output that are kept.
    pub(crate) max_output: usize,
    /// What policies say about where commands run, and with what.
    pub(crate) guard: Arc<ExecutionGuard>,
}

impl Executor {
    /// Calls a tool, which is given with its number. It waits for the permit when all is ready to run.
    pub(crate) async fn call(
        &self,
        selection: &Selection,
        (number, tool): (u32, &Tool),
        arguments: &Map<String, Value>,
        permit: impl Future<Output = OwnedSemaphorePermit>,
        state: Option<&CallState>,
    ) -> CallAnswer {
        let name = selection.text(tool.name);
        let guard = &self.guard;
        let cli = selection.cli_of(tool);
        let base = expand(selection.text(cli.command));
        if base.trim().is_empty() {
            let reason = "The base command is empty: check the variables in it";
            return answer(Outcome::not_started(reason.to_owned()));
        }
        // Holds what coercion makes; the command line borrows from it.
        let arena = Bump::new();
        let argv = Argv::new(&base, selection.text(tool.command));
        let mut argv = match build_argv(selection, number, tool, arguments, &arena, argv) {
            Ok(argv) => argv,
            Err(refusal) => return refused(name, &refusal),
        };
        let working_dir = cli.working_dir.map(|piece| expand(selection.text(piece)));
        let working_dir = working_dir
            .as_deref()
            .filter(|directory| !directory.is_empty());
        let mut directory = argv.directory.or(working_dir);
        let env: Vec<&str> = selection.tables.list(cli.env).collect();
        let container = guard.container.as_ref().map(ContainerTemplate::next);
        if let Some(container) = &container {
            let words = container.words(argv.stdin.is_some(), &env, argv.directory);
            argv.words.splice(0..0, words);
            directory = None;
        }
        // Who waits here can still be cancelled.
        let permit = permit.await;
        // Not before, because it is an open file.
        let opened = match guard.directory(argv.directory) {
            Ok(opened) => opened,
            Err(refusal) => return refused(name, &refusal),
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
            state.started();
        }
        let wrote = |line: &str| {
            if let Some(state) = state {
                state.wrote(line.to_owned());
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
                .map_or(Vec::new(), |container| container.removal().into()),
            timeout: Duration::from_millis(tool.timeout_ms),
            max_output_bytes: self.max_output,
            on_output_line: state.is_some().then_some(&wrote),
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

/// The whole command line, or everything that is wrong with the arguments.
fn build_argv<'a>(
    selection: &Selection,
    number: u32,
    tool: &Tool,
    arguments: &'a Map<String, Value>,
    arena: &'a Bump,
    mut argv: Argv<'a>,
) -> Result<Argv<'a>, CallRefusal> {
    let allowed = selection.allowed(tool);
    argv.allowing_leading_dash = allowed.allowing_leading_dash();
    let mut reader = ArgumentReader::new(arguments, arena, allowed);
    selection.call(number, tool, &mut reader, &mut argv);
    reader.finish(mem::take(&mut argv.errors))?;
    Ok(argv)
}

/// What a call becomes, for somebody who wants to see it: the command line as one would type it, what it
/// reads, and where it runs. Variables stay as they are written.
pub(crate) struct CallPreview {
    pub(crate) command_line: String,
    pub(crate) stdin: Option<String>,
    pub(crate) directory: Option<String>,
}

/// Shows what a call becomes, or nothing if it would be refused.
pub(crate) fn shown(
    selection: &Selection,
    number: u32,
    tool: &Tool,
    arguments: &Map<String, Value>,
) -> Option<CallPreview> {
    let cli = selection.cli_of(tool);
    let arena = Bump::new();
    let base = selection.text(cli.command);
    let argv = Argv::begin_preview(base, selection.text(tool.command));
    // These have variables that are not expanded here.
    let own = base.split_whitespace().count();
    let argv = build_argv(selection, number, tool, arguments, &arena, argv).ok()?;
    let words = argv.words.iter().enumerate();
    let words = words.map(|(at, word)| {
        if at < own {
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

/// A word as one would type it into a shell.
fn shell_quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |it: char| it.is_alphanumeric() || "_@%+=:,./-".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// A command line for the log, where a long argument is of no use.
fn format_for_log(words: &[Cow<'_, str>]) -> String {
    const MAX_LOGGED_CHARS: usize = 120;
    let shown = words
        .iter()
        .map(|word| match word.char_indices().nth(MAX_LOGGED_CHARS) {
            None => format!("{word:?}"),
            Some((end, _)) => format!("{:?}… ({} bytes)", &word[..end], word.len()),
        });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_shortens_long_arguments() {
        let words = ["git".into(), "ä".repeat(1000).into()];
        let shown = format_for_log(&words);
        assert!(shown.starts_with("\"git\" \"ää"), "{shown}");
        assert!(shown.ends_with("… (2000 bytes)"), "{shown}");
        assert!(shown.chars().count() < 200, "{shown}");
    }

    #[test]
    fn a_word_is_typed_with_quotes_where_it_needs_them() {
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
