//! Turns the outcome of a command into the text that an agent reads.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;

use climax_core::scalar::Number;
use climax_runner::{Completion, Outcome};
use serde_json::{Map, Value};

use crate::call::excerpt::excerpt;
use crate::registration::OutputAccess;
use climax_arguments::reader::CallRefusal;

/// The text of a result if the command printed nothing.
pub(crate) const NO_OUTPUT: &str = "(no output)";

/// The text of a call's result.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    /// The text that the agent reads.
    pub(crate) text: String,
    /// The output, if it is a JSON object and the tool says so.
    pub(crate) structured: Option<Map<String, Value>>,
    pub(crate) result: CallResult,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallResult {
    Succeeded,
    Failed,
    /// Nothing ran, because the arguments are invalid.
    InvalidArguments,
}

impl CallAnswer {
    /// A failure before a command was started.
    pub(crate) fn error(text: String) -> Self {
        Self {
            text,
            structured: None,
            result: CallResult::Failed,
        }
    }

    /// A command that was not started.
    pub(crate) fn not_started(reason: String) -> Self {
        answer(Outcome::not_started(reason), &ResultRules::default(), None)
    }

    /// A refusal, with a line for each reason.
    pub(crate) fn refusal(refusal: &CallRefusal) -> Self {
        let (subject, reasons) = match refusal {
            CallRefusal::Arguments(reasons) => ("Argument", reasons),
            CallRefusal::Policy(reasons) => ("Policy", reasons),
        };
        let reasons = reasons.join("\n  - ");
        Self {
            result: match refusal {
                CallRefusal::Arguments(_) => CallResult::InvalidArguments,
                CallRefusal::Policy(_) => CallResult::Failed,
            },
            ..Self::error(format!("{subject} validation failed:\n  - {reasons}"))
        }
    }
}

/// How the result of a tool's command is read.
#[derive(Default)]
pub(crate) struct ResultRules {
    /// Exit codes other than 0 that are not errors.
    pub(crate) ok_exit_codes: Vec<i64>,
    /// Whether the output is a JSON object.
    pub(crate) has_json_output: bool,
}

impl ResultRules {
    /// Whether a command that ended this way was successful.
    pub(crate) fn accepts(&self, completion: &Completion) -> bool {
        let code = match completion {
            Completion::Exited(status) => status.code(),
            Completion::TimedOut(_) | Completion::NotStarted(_) => None,
        };
        code.is_some_and(|code| code == 0 || self.ok_exit_codes.contains(&code.into()))
    }
}

/// The answer to a call whose command has ended, or could not be started. `output_access` says how an agent
/// reads output that is too long for the answer.
pub(crate) fn answer(
    outcome: Outcome,
    rules: &ResultRules,
    output_access: Option<OutputAccess>,
) -> CallAnswer {
    let result = if rules.accepts(&outcome.completion) {
        CallResult::Succeeded
    } else {
        CallResult::Failed
    };
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
    let is_complete = outcome.stdout.tail.is_none() && outcome.stdout.summary.is_text;
    let structured = (rules.has_json_output && is_complete && result == CallResult::Succeeded)
        .then(|| serde_json::from_slice(&outcome.stdout.head).ok())
        .flatten();
    let mut text = excerpt(&outcome.stdout, output_access);
    let stderr = excerpt(&outcome.stderr, output_access);
    let start_section = |text: &mut String| {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
    };
    if !stderr.is_empty() || problem.is_some() {
        start_section(&mut text);
        text.push_str("[stderr]");
        let stderr = Some(stderr).filter(|text| !text.is_empty());
        for part in stderr.into_iter().chain(problem) {
            text.push('\n');
            text.push_str(&part);
        }
    }
    if code != 0 {
        start_section(&mut text);
        let _ = write!(text, "[exit code: {code}]");
    }
    if text.is_empty() {
        text.push_str(NO_OUTPUT);
    }
    CallAnswer {
        text,
        structured,
        result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::excerpt::tests::captured;
    use std::process::ExitStatus;
    use std::time::Duration;

    fn text(stdout: &str, stderr: &str, completion: Completion) -> String {
        let outcome = Outcome {
            stdout: captured(1000, stdout.as_bytes()),
            stderr: captured(1000, stderr.as_bytes()),
            completion,
        };
        answer(outcome, &ResultRules::default(), None).text
    }

    fn exited(code: i32) -> Completion {
        Completion::Exited(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn the_answer_of_a_successful_command_is_its_output() {
        assert_eq!(text("out\n", "", exited(0)), "out");
        assert_eq!(text("out\n", "warn\n", exited(0)), "out\n\n[stderr]\nwarn");
        assert_eq!(text("", "", exited(0)), "(no output)");
        assert_eq!(text(" \n\n", "\n", exited(0)), "(no output)");
    }

    #[test]
    fn the_answer_of_a_failed_command_has_its_exit_code() {
        assert_eq!(
            text("", "bad\n", exited(1)),
            "[stderr]\nbad\n\n[exit code: 1]"
        );
        assert_eq!(text("", "", exited(3)), "[exit code: 3]");
        let killed = Completion::Exited(ExitStatus::from_raw(9));
        assert_eq!(text("out", "", killed), "out\n\n[exit code: -9]");
    }

    #[test]
    fn exit_codes_that_the_tool_declares_are_no_errors() {
        let rules = ResultRules {
            ok_exit_codes: vec![1],
            ..ResultRules::default()
        };
        let answer_to = |completion| {
            let outcome = Outcome {
                stdout: captured(1000, b""),
                stderr: captured(1000, b""),
                completion,
            };
            let answer = answer(outcome, &rules, None);
            (answer.text, answer.result != CallResult::Succeeded)
        };
        let expected = |text: &str, is_error| (text.to_owned(), is_error);
        assert_eq!(answer_to(exited(1)), expected("[exit code: 1]", false));
        assert_eq!(answer_to(exited(2)), expected("[exit code: 2]", true));
        assert_eq!(answer_to(exited(0)), expected("(no output)", false));
        let killed = Completion::Exited(ExitStatus::from_raw(1));
        assert_eq!(answer_to(killed), expected("[exit code: -1]", true));
    }

    #[test]
    fn json_output_is_structured_if_it_is_one_whole_object() {
        let rules = ResultRules {
            has_json_output: true,
            ..ResultRules::default()
        };
        let structured = |max_bytes, stdout: &str, code| {
            let outcome = Outcome {
                stdout: captured(max_bytes, stdout.as_bytes()),
                stderr: captured(1000, b""),
                completion: exited(code),
            };
            answer(outcome, &rules, None).structured.map(Value::from)
        };
        assert_eq!(
            structured(1000, "{\"a\": 1}\n", 0),
            Some(serde_json::json!({"a": 1}))
        );
        assert_eq!(structured(1000, "[1]", 0), None, "a list");
        assert_eq!(structured(1000, "{} {}", 0), None, "two objects");
        assert_eq!(structured(1000, "{}", 1), None, "an error");
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(100));
        assert_eq!(structured(50, &long, 0), None, "truncated");
    }

    #[test]
    fn a_timeout_keeps_the_output_so_far() {
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
}
