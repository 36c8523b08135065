//! Puts what came of a command into the words that an agent reads.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;

use climax_core::scalar::Number;
use climax_runner::{CapturedOutput, Completion, Outcome};

use crate::call::arguments::CallRefusal;

/// The text of a call's result.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    /// What the agent reads.
    pub(crate) text: String,
    /// Whether the call failed.
    pub(crate) is_error: bool,
}

impl CallAnswer {
    /// A failure before anything ran.
    pub(crate) fn error(text: String) -> Self {
        Self {
            text,
            is_error: true,
        }
    }

    /// A refusal, with a line for each reason.
    pub(crate) fn refusal(refusal: &CallRefusal) -> Self {
        let (what, reasons) = match refusal {
            CallRefusal::Arguments(reasons) => ("Argument", reasons),
            CallRefusal::Policy(reasons) => ("Policy", reasons),
        };
        let reasons = reasons.join("\n  - ");
        Self::error(format!("{what} validation failed:\n  - {reasons}"))
    }
}

/// The answer to a call that was carried out.
pub(crate) fn answer(outcome: Outcome) -> CallAnswer {
    let (code, problem) = match outcome.completion {
        Completion::Exited(status) => {
            let signal = status.signal().map(|signal| -signal);
            (status.code().or(signal).unwrap_or(-1), None)
        }
        Completion::TimedOut(timeout) => {
            let seconds = Number::Float(timeout.as_secs_f64());
            (-1, Some(format!("Command timed out after {seconds}s")))
        }
        Completion::NotStarted(reason) => (-1, Some(reason)),
    };
    let mut text = trimmed(outcome.stdout);
    let stderr = trimmed(outcome.stderr);
    let begin_part = |text: &mut String| {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
    };
    if !stderr.is_empty() || problem.is_some() {
        begin_part(&mut text);
        text.push_str("[stderr]");
        let stderr = Some(stderr).filter(|text| !text.is_empty());
        for part in stderr.into_iter().chain(problem) {
            text.push('\n');
            text.push_str(&part);
        }
    }
    if code != 0 {
        begin_part(&mut text);
        let _ = write!(text, "[exit code: {code}]");
    }
    if text.is_empty() {
        text.push_str("(no output)");
    }
    CallAnswer {
        text,
        is_error: code != 0,
    }
}

/// Output without blank lines around it. The first line keeps its indentation, which means
/// something: ` M file` in `git status`.
fn trimmed(captured: CapturedOutput) -> String {
    let mut text = captured.into_text();
    text.truncate(text.trim_end().len());
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind('\n').map_or(0, |newline| newline + 1);
    text.drain(..start);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitStatus;
    use std::time::Duration;

    fn text(stdout: &str, stderr: &str, completion: Completion) -> String {
        answer(Outcome {
            stdout: captured(stdout.as_bytes()),
            stderr: captured(stderr.as_bytes()),
            completion,
        })
        .text
    }

    fn captured(bytes: &[u8]) -> CapturedOutput {
        let mut captured = CapturedOutput::new(1000);
        captured.push(bytes);
        captured
    }

    fn exited(code: i32) -> Completion {
        Completion::Exited(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn success_is_what_was_printed() {
        assert_eq!(text("out\n", "", exited(0)), "out");
        assert_eq!(text("out\n", "warn\n", exited(0)), "out\n\n[stderr]\nwarn");
        assert_eq!(text("", "", exited(0)), "(no output)");
        assert_eq!(text(" \n\n", "\n", exited(0)), "(no output)");
    }

    #[test]
    fn failure_has_an_exit_code() {
        assert_eq!(
            text("", "bad\n", exited(1)),
            "[stderr]\nbad\n\n[exit code: 1]"
        );
        assert_eq!(text("", "", exited(3)), "[exit code: 3]");
        let killed = Completion::Exited(ExitStatus::from_raw(9));
        assert_eq!(text("out", "", killed), "out\n\n[exit code: -9]");
    }

    #[test]
    fn a_timeout_keeps_what_was_printed_so_far() {
        let completion = || Completion::TimedOut(Duration::from_secs(1));
        assert_eq!(
            text("half\n", "", completion()),
            "half\n\n[stderr]\nCommand timed out after 1.0s\n\n[exit code: -1]"
        );
        assert_eq!(
            text("", "warn\n", completion()),
            "[stderr]\nwarn\nCommand timed out after 1.0s\n\n[exit code: -1]"
        );
    }

    #[test]
    fn blank_lines_around_go_and_the_first_lines_indentation_stays() {
        assert_eq!(
            text("\n  \n M file\n?? x  \n\n", "", exited(0)),
            " M file\n?? x"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let outcome = Outcome {
            stdout: captured(b"a\xffb\0"),
            stderr: captured(b""),
            completion: exited(0),
        };
        assert_eq!(answer(outcome).text, "a\u{fffd}b\0");
    }
}
