//! Answers `climax_output`: reads a stored output by lines or bytes, or searches it for a pattern.

mod matches;
mod pages;
mod request;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use climax_policy::limit::truncate_for_message;
use climax_runner::{OutputStore, StoredOutput};
use serde_json::{Map, Value, json};

use crate::call::CallRequest;
use crate::call::answer::{CallAnswer, CallResult};
use crate::registration::{
    BehaviourHints, OUTPUT_TOOL, OutputAccess, ToolDescription, json_object,
};
use climax_arguments::reader::CallRefusal;
use request::{OutputRange, OutputRequest};

/// How long reading may take, which only a search for a complex pattern can exceed.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads from a store.
pub(crate) struct OutputReader {
    pub(crate) store: Arc<OutputStore>,
    /// How agents call this tool.
    pub(crate) access: OutputAccess,
    /// The maximum size of the text in an answer.
    pub(crate) max_bytes: usize,
}

/// A part of an output as text.
struct Page {
    text: String,
    /// What the text is: `lines 1 to 10 of 20`.
    position: String,
    /// The arguments that read on, beside the id.
    next_arguments: Option<Map<String, Value>>,
}

/// A stored output that is read until a deadline.
struct OutputFile {
    output: Arc<StoredOutput>,
    deadline: Instant,
}

/// Why a part of an output cannot be read.
enum ReadError {
    /// The request cannot be fulfilled.
    Refused(String),
    /// The file cannot be read.
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl OutputReader {
    /// Answers a request. Reads files, which can take a while.
    pub(crate) fn read(&self, call: &CallRequest) -> CallAnswer {
        let request = match request::parse(call) {
            Ok(request) => request,
            Err(refusal) => return CallAnswer::refusal(&refusal),
        };
        let Some(output) = request.id().and_then(|id| self.store.get(id)) else {
            let id = truncate_for_message(&request.id);
            return CallAnswer::error(format!(
                "Unknown output '{id}'. Output is kept until the server ends or newer output needs the space. \
                 Call the tool again if that is safe."
            ));
        };
        let file = OutputFile {
            output,
            deadline: Instant::now() + READ_TIMEOUT,
        };
        match self.page(&file, &request) {
            Ok(page) => CallAnswer {
                structured: None,
                text: self.page_text(&request.id, page),
                result: CallResult::Succeeded,
            },
            Err(ReadError::Refused(reason)) => {
                CallAnswer::refusal(&CallRefusal::Arguments(vec![reason]))
            }
            Err(ReadError::Io(error)) => {
                CallAnswer::error(format!("Cannot read the stored output: {error}"))
            }
        }
    }

    fn page(&self, file: &OutputFile, request: &OutputRequest) -> Result<Page, ReadError> {
        match &request.range {
            OutputRange::Lines { from, count } => pages::lines(file, *from, *count, self.max_bytes),
            OutputRange::Bytes { from, count } => pages::bytes(file, *from, *count, self.max_bytes),
            OutputRange::Matches {
                pattern,
                from_line,
                count,
            } => matches::find(file, pattern, *from_line, *count, self.max_bytes),
        }
    }

    /// The text of a page, and a last line that says where it is from and how to read on.
    fn page_text(&self, id: &str, page: Page) -> String {
        let Page {
            mut text,
            position,
            next_arguments,
        } = page;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let next = next_arguments.map_or(String::new(), |next_arguments| {
            let mut arguments = json_object(json!({"id": id}));
            arguments.extend(next_arguments);
            let call = self.access.call(&arguments.into());
            format!(". To read on: {call}")
        });
        format!("{text}[{position}{next}]")
    }
}

/// Describes the tool, for servers that register it.
pub(crate) fn registered_tool() -> ToolDescription {
    let integer = |minimum: u64, description: &str| json!({"type": "integer", "minimum": minimum, "description": description});
    ToolDescription {
        name: OUTPUT_TOOL,
        title: Some("Read stored output"),
        description: "Read output that was too long for a result, or search it. The notice in the result has \
                      the id.",
        input_schema: json_object(json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Id of the output, from the notice"},
                "from_line": integer(1, "First line to read (default: 1)"),
                "lines": integer(1, "Maximum number of lines, or of matching lines"),
                "from_byte": integer(0, "First byte to read, instead of from_line"),
                "bytes": integer(1, "Maximum number of bytes"),
                "pattern": {
                    "type": "string",
                    "description": "Regular expression; returns the lines that match, with their numbers",
                },
            },
            "required": ["id"],
            "additionalProperties": false,
        })),
        hints: Some(BehaviourHints::LOOKUP),
        is_always_loaded: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::excerpt::tests::{numbered_lines, store};
    use climax_runner::CapturedOutput;

    /// Stores an output, and returns the answers to requests about it, with `ID` for its id.
    fn answers<const N: usize>(
        (max_call_bytes, max_bytes): (u64, usize),
        output: &[u8],
        requests: [Value; N],
    ) -> [String; N] {
        let store = store("/tmp", max_call_bytes);
        let mut captured = CapturedOutput::new(0, Some(store.for_stdout()));
        captured.push(output);
        let stored = captured.finish().stored.expect("stored").expect("a file");
        let id = stored.id.to_string();
        let reader = OutputReader {
            store,
            access: OutputAccess::Registered,
            max_bytes,
        };
        requests.map(|request| {
            let mut arguments = json_object(request);
            arguments.insert("id".to_owned(), id.clone().into());
            reader.read(&call(arguments)).text.replace(&id, "ID")
        })
    }

    fn call(arguments: Map<String, Value>) -> CallRequest {
        CallRequest {
            arguments,
            ..CallRequest::default()
        }
    }

    #[test]
    fn lines_are_read_and_the_last_line_says_how_to_read_on() {
        let [some, to_end, beyond, full] = answers(
            (1000, 30),
            numbered_lines().as_bytes(),
            [
                json!({"from_line": 2, "lines": 2}),
                json!({"from_line": 19}),
                json!({"from_line": 21}),
                json!({}),
            ],
        );
        assert_eq!(
            some,
            "line 2\nline 3\n[lines 2 to 3 of 20. To read on: climax_output \
             {\"id\":\"ID\",\"from_line\":4,\"lines\":2}]"
        );
        assert_eq!(to_end, "line 19\nline 20\n[lines 19 to 20 of 20]");
        assert_eq!(
            beyond,
            "Argument validation failed:\n  - Argument 'from_line': the output has 20 lines"
        );
        assert_eq!(
            full,
            "line 1\nline 2\nline 3\nline 4\n[lines 1 to 4 of 20. To read on: climax_output \
             {\"id\":\"ID\",\"from_line\":5}]"
        );
    }

    #[test]
    fn a_line_that_does_not_fit_is_continued_by_bytes() {
        let [line, rest, middle] = answers(
            (1000, 10),
            "äöüäöüäöü\nend".as_bytes(),
            [
                json!({"from_line": 1}),
                json!({"from_byte": 10}),
                json!({"from_byte": 1, "bytes": 4}),
            ],
        );
        assert_eq!(
            line,
            "äöüäö\n[the beginning of line 1 of 2. To read on: climax_output \
             {\"id\":\"ID\",\"from_byte\":10}]"
        );
        assert_eq!(
            rest,
            "üäöü\ne\n[bytes 10 to 19 of 22. To read on: climax_output {\"id\":\"ID\",\"from_byte\":20}]"
        );
        // Incomplete characters at both ends are left out.
        assert_eq!(
            middle,
            "ö\n[bytes 2 to 3 of 22. To read on: climax_output {\"id\":\"ID\",\"from_byte\":4,\"bytes\":4}]"
        );
    }

    #[test]
    fn a_gap_is_reported_and_skipped() {
        // Of 151 bytes, the first and the last 19 are stored.
        let [
            before,
            across,
            after,
            in_gap,
            byte_in_gap,
            match_after,
            all_bytes,
        ] = answers(
            (40, 1000),
            numbered_lines().as_bytes(),
            [
                json!({"from_line": 2}),
                json!({"from_byte": 10}),
                json!({"from_byte": 132}),
                json!({"from_line": 10}),
                json!({"from_byte": 60}),
                json!({"pattern": "20$|line$"}),
                json!({"from_byte": 0}),
            ],
        );
        let gap = "bytes 19 to 131 are not stored";
        assert_eq!(
            before,
            format!(
                "line 2\nline \n[lines 2 to 3 of 20, the last one in part; {gap}. To read on: climax_output \
                 {{\"id\":\"ID\",\"from_byte\":132}}]"
            )
        );
        assert_eq!(
            across,
            format!(
                "e 2\nline \n[bytes 10 to 18 of 151; {gap}. To read on: climax_output \
                 {{\"id\":\"ID\",\"from_byte\":132}}]"
            )
        );
        assert_eq!(after, "18\nline 19\nline 20\n[bytes 132 to 150 of 151]");
        assert_eq!(
            in_gap,
            format!("line 19\nline 20\n[lines 19 to 20 of 20; {gap}]")
        );
        assert_eq!(
            byte_in_gap,
            format!("18\nline 19\nline 20\n[bytes 132 to 150 of 151; {gap}]")
        );
        // Where the stored part is cut off, a line does not end.
        assert_eq!(
            match_after,
            format!("20: line 20\n[1 of 1 matching line; {gap}]")
        );
        assert!(all_bytes.starts_with("line 1\nline 2\nline \n[bytes 0 to 18 of 151; "));
    }

    #[test]
    fn matching_lines_have_numbers_and_can_be_continued() {
        let [some, rest, anchored, none, invalid] = answers(
            (1000, 1000),
            numbered_lines().as_bytes(),
            [
                json!({"pattern": "1", "lines": 2}),
                json!({"pattern": "1", "from_line": 18}),
                json!({"pattern": "^LINE 2$|(?i)^LINE 3$"}),
                json!({"pattern": "x"}),
                json!({"pattern": "a(b"}),
            ],
        );
        assert_eq!(
            some,
            "1: line 1\n10: line 10\n[2 of 11 matching lines. To read on: climax_output \
             {\"id\":\"ID\",\"pattern\":\"1\",\"from_line\":11,\"lines\":2}]"
        );
        assert_eq!(
            rest,
            "18: line 18\n19: line 19\n[2 of 2 matching lines from line 18]"
        );
        assert_eq!(anchored, "3: line 3\n[1 of 1 matching line]");
        assert_eq!(none, "[0 of 0 matching lines]");
        assert!(invalid.contains("Argument 'pattern': "), "{invalid}");
        assert!(invalid.contains("unclosed group"), "{invalid}");
    }

    #[test]
    fn of_a_long_line_the_text_around_the_match_is_shown() {
        let line = format!("{}needle{}", "ä".repeat(50_000), "b".repeat(100_000));
        let [found] = answers(
            (1_000_000, 1000),
            line.as_bytes(),
            [json!({"pattern": "needle"})],
        );
        assert!(found.starts_with("1 (byte 99806): …äää"), "{found}");
        assert!(found.contains("needlebbb"), "{found}");
        assert!(found.ends_with("b…\n[1 of 1 matching line]"), "{found}");
        assert!(found.len() < 600, "{}", found.len());
    }

    #[test]
    fn empty_lines_lines_that_end_with_crlf_and_a_last_line_without_an_end_match() {
        let [empty, last] = answers(
            (1000, 1000),
            b"a\r\n\r\nb",
            [json!({"pattern": "^$"}), json!({"pattern": "^[ab]$"})],
        );
        assert_eq!(empty, "2: \n[1 of 1 matching line]");
        assert_eq!(last, "1: a\n3: b\n[2 of 2 matching lines]");
    }

    #[test]
    fn output_that_is_not_text_is_read_as_a_hex_dump() {
        let [bytes, lines, pattern] = answers(
            (1000, 1000),
            b"\0\x01ELF 0123456789xyz",
            [
                json!({"from_byte": 1, "bytes": 17}),
                json!({}),
                json!({"pattern": "ELF"}),
            ],
        );
        assert_eq!(
            bytes,
            "00000001  01 45 4c 46 20 30 31 32 33 34 35 36 37 38 39 78  |.ELF 0123456789x|\n\
             00000011  79                                               |y|\n\
             [bytes 1 to 17 of 19. To read on: climax_output {\"id\":\"ID\",\"from_byte\":18,\"bytes\":17}]"
        );
        for refused in [lines, pattern] {
            assert!(refused.contains("read it with 'from_byte'"), "{refused}");
        }
    }

    #[test]
    fn a_long_or_complex_pattern_is_refused() {
        // Pseudo-random letters: the automaton needs a new state for almost each of them.
        let mut number: u32 = 1;
        let letters = std::iter::repeat_with(|| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if number >> 31 == 0 { b'a' } else { b'b' }
        });
        let output: Vec<u8> = letters.take(200_000).collect();
        let [long, complex] = answers(
            (1_000_000, 1000),
            &output,
            [
                json!({"pattern": "a".repeat(5000)}),
                json!({"pattern": "[ab]*a[ab]{200}c"}),
            ],
        );
        assert!(long.contains("at most 4096 bytes"), "{long}");
        assert!(complex.contains("too complex"), "{complex}");
    }

    #[test]
    fn an_unknown_id_is_an_error_that_says_what_to_do() {
        let reader = OutputReader {
            store: store("/tmp", 10),
            access: OutputAccess::Registered,
            max_bytes: 10,
        };
        for id in ["x", "0123456789abcdef0123456789abcdef"] {
            let answer = reader.read(&call(json_object(json!({"id": id}))));
            assert_ne!(answer.result, CallResult::Succeeded);
            assert!(answer.text.starts_with(&format!("Unknown output '{id}'. ")));
        }
    }
}
