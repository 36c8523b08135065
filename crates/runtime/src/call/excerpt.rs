//! Turns the output of a command into text that fits an agent's context: its beginning and its end, and between
//! them a line that says what is omitted and how to read it.

use std::ops::Range;

use climax_core::output::pluralize;
use climax_runner::{CommandOutput, OutputId};
use memchr::{memchr, memchr_iter, memrchr};
use serde_json::json;

use crate::registration::OutputAccess;

/// The text of an output. `access` says how an agent reads what is stored of it.
pub(crate) fn excerpt(output: &CommandOutput, access: Option<OutputAccess>) -> String {
    if !output.summary.is_text {
        return binary_notice(output, access);
    }
    let Some(tail) = &output.tail else {
        return trimmed(&String::from_utf8_lossy(&output.head)).to_owned();
    };
    let head = &output.head[..head_end(&output.head)];
    let tail = &tail[tail_start(tail)..];
    let notice = omission_notice(output, head, tail, access);
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let head = trimmed_start(&head);
    let line_end = if head.is_empty() || head.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let text = format!("{head}{line_end}{notice}\n{tail}");
    text.trim_end().to_owned()
}

/// Where to cut the beginning: after its last line end, unless that would leave less than half of it. Never
/// inside a character.
fn head_end(head: &[u8]) -> usize {
    let line_end = memrchr(b'\n', head).map(|newline| newline + 1);
    line_end
        .filter(|end| *end * 2 >= head.len())
        .unwrap_or_else(|| complete_characters_end(head))
}

/// Where to cut the end: after its first line end, unless that would leave less than half of it. Never inside a
/// character.
fn tail_start(tail: &[u8]) -> usize {
    let line_start = memchr(b'\n', tail).map(|newline| newline + 1);
    line_start
        .filter(|start| *start * 2 <= tail.len())
        .unwrap_or_else(|| first_character_start(tail))
}

/// The end of the last complete character.
pub(crate) fn complete_characters_end(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(chunk) if is_incomplete_character(chunk.invalid()) => {
            bytes.len() - chunk.invalid().len()
        }
        _ => bytes.len(),
    }
}

/// Whether bytes that are not valid UTF-8 are the beginning of a character.
fn is_incomplete_character(bytes: &[u8]) -> bool {
    !bytes.is_empty() && str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// The start of the first character. A character has at most three continuation bytes.
pub(crate) fn first_character_start(bytes: &[u8]) -> usize {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let count = bytes.iter().take_while(is_continuation).count();
    if count <= 3 { count } else { 0 }
}

/// Says what is missing between the beginning and the end, and how to read it.
fn omission_notice(
    output: &CommandOutput,
    head: &[u8],
    tail: &[u8],
    access: Option<OutputAccess>,
) -> String {
    let line_ends = |bytes| memchr_iter(b'\n', bytes).count();
    let head_lines = line_ends(head) as u64;
    let has_unfinished_line = !tail.is_empty() && !tail.ends_with(b"\n");
    let tail_lines = (line_ends(tail) + usize::from(has_unfinished_line)) as u64;
    let omitted = head.len() as u64..output.summary.bytes - tail.len() as u64;
    let bytes = pluralize_large(omitted.end - omitted.start, "byte");
    let what = match output.summary.lines.saturating_sub(head_lines + tail_lines) {
        0 => format!("{bytes} omitted within a line"),
        lines => format!("{}, {bytes} omitted", pluralize_large(lines, "line")),
    };
    let storage = Storage::of(output, access, &omitted);
    let is_line_start = head.ends_with(b"\n") && storage.stored_from == Some(omitted.start);
    let first_line = is_line_start.then_some(head_lines + 1);
    format!("[{what}{}]", storage.describe("read on", first_line))
}

/// Reports output that is not text, and how to read it.
fn binary_notice(output: &CommandOutput, access: Option<OutputAccess>) -> String {
    let bytes = output.summary.bytes;
    let text = format!("(binary output, {})", pluralize_large(bytes, "byte"));
    if output.stored.is_none() {
        return text;
    }
    let storage = Storage::of(output, access, &(0..bytes));
    let notice = storage.describe("read it", None);
    format!(
        "{text}\n[{}]",
        notice.trim_start_matches([',', ';', '.', ' '])
    )
}

/// What is stored of the bytes that are not shown.
struct Storage {
    access: Option<OutputAccess>,
    id: Option<OutputId>,
    /// The first byte that can be read.
    stored_from: Option<u64>,
    lost_bytes: u64,
    /// Why they are lost, if that is known.
    error: Option<String>,
    is_text: bool,
}

impl Storage {
    fn of(output: &CommandOutput, access: Option<OutputAccess>, omitted: &Range<u64>) -> Self {
        let (stored, error) = match &output.stored {
            Some(Ok(stored)) => (Some(stored), stored.write_error.clone()),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        let parts = stored.map(|stored| stored.parts.clone());
        let parts = parts.into_iter().flatten().map(|part| {
            let (start, end) = (part.start.max(omitted.start), part.end.min(omitted.end));
            start..end.max(start)
        });
        let parts: Vec<Range<u64>> = parts.filter(|part| !part.is_empty()).collect();
        let stored_bytes: u64 = parts.iter().map(|part| part.end - part.start).sum();
        Self {
            access,
            id: stored.map(|stored| stored.id),
            stored_from: parts.first().map(|part| part.start),
            lost_bytes: omitted.end - omitted.start - stored_bytes,
            error,
            is_text: output.summary.is_text,
        }
    }

    /// Says what is not stored, and gives the call that reads the rest. `first_line` is the line that begins with
    /// the first stored byte, if one does.
    fn describe(&self, purpose: &str, first_line: Option<u64>) -> String {
        let reason = self.error.as_ref();
        let reason = reason.map_or(String::new(), |error| format!(": {error}"));
        let (Some(access), Some(id), Some(byte)) = (self.access, self.id, self.stored_from) else {
            return format!(", not stored{reason}");
        };
        let id = id.to_string();
        let position = match first_line {
            Some(line) => json!({"id": id, "from_line": line}),
            None => json!({"id": id, "from_byte": byte}),
        };
        let lost = match self.lost_bytes {
            0 => String::new(),
            lost => format!("; {} not stored{reason}", pluralize_large(lost, "byte")),
        };
        let search = if self.is_text {
            r#" (or search it with "pattern")"#
        } else {
            ""
        };
        format!("{lost}. To {purpose}{search}: {}", access.call(&position))
    }
}

pub(crate) fn pluralize_large(count: u64, noun: &str) -> String {
    pluralize(usize::try_from(count).unwrap_or(usize::MAX), noun)
}

/// Removes blank lines at both ends and trailing white space.
fn trimmed(text: &str) -> &str {
    trimmed_start(text.trim_end())
}

/// Removes blank lines at the start. The first line keeps its indentation, which can be significant: ` M file`
/// in `git status`.
fn trimmed_start(text: &str) -> &str {
    let blank_bytes = text.len() - text.trim_start().len();
    let start = text[..blank_bytes].rfind('\n');
    &text[start.map_or(0, |newline| newline + 1)..]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use climax_runner::{CapturedOutput, OutputStore, StoreOptions};
    use std::sync::Arc;

    /// An output of which at most `max_bytes` are kept in memory.
    pub(crate) fn captured(max_bytes: usize, bytes: &[u8]) -> CommandOutput {
        let mut captured = CapturedOutput::new(max_bytes, None);
        captured.push(bytes);
        captured.finish()
    }

    pub(crate) fn store(directory: &str, max_call_bytes: u64) -> Arc<OutputStore> {
        OutputStore::new(StoreOptions {
            directory: directory.into(),
            max_call_bytes,
        })
    }

    /// The excerpt of a stored output, with `ID` for its id.
    fn stored_excerpt(store: &Arc<OutputStore>, max_bytes: usize, bytes: &[u8]) -> String {
        let mut captured = CapturedOutput::new(max_bytes, Some(store.for_stdout()));
        captured.push(bytes);
        let output = captured.finish();
        let text = excerpt(&output, Some(OutputAccess::Through("climax_call")));
        match &output.stored {
            Some(Ok(stored)) => text.replace(&stored.id.to_string(), "ID"),
            _ => text,
        }
    }

    /// Twenty lines.
    pub(crate) fn numbered_lines() -> String {
        let lines: Vec<String> = (1..=20).map(|number| format!("line {number}\n")).collect();
        lines.concat()
    }

    #[test]
    fn short_output_loses_blank_lines_and_trailing_white_space_only() {
        let text = |bytes| excerpt(&captured(100, bytes), None);
        assert_eq!(text(b"\n  \n M file\n?? x  \n\n"), " M file\n?? x");
        assert_eq!(text(b" \n\n"), "");
        assert_eq!(text(b"0123456789\xff"), "0123456789\u{fffd}");
    }

    #[test]
    fn long_output_is_cut_at_line_ends_and_says_how_to_read_on() {
        let store = store("/tmp", 1000);
        let text = stored_excerpt(&store, 40, numbered_lines().as_bytes());
        let expected = "line 1\nline 2\n[16 lines, 121 bytes omitted. To read on (or search it with \"pattern\"): climax_call \
                        {\"tool_name\":\"climax_output\",\"args\":{\"id\":\"ID\",\"from_line\":3}}]\n\
                        line 19\nline 20";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let store = store("/tmp", 1000);
        let text = stored_excerpt(&store, 10, "€".repeat(20).as_bytes());
        let expected = "€\n[54 bytes omitted within a line. To read on (or search it with \"pattern\"): climax_call \
                        {\"tool_name\":\"climax_output\",\"args\":{\"id\":\"ID\",\"from_byte\":3}}]\n€";
        assert_eq!(text, expected);
        // A line end near the start does not make the cut lose most of the beginning.
        let text = stored_excerpt(&store, 20, format!("a\n{}", "b".repeat(50)).as_bytes());
        assert!(
            text.starts_with("a\nbbbbbbbb\n[32 bytes omitted within a line. "),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_stored_is_said() {
        let lines = numbered_lines();
        let partly = stored_excerpt(&store("/tmp", 100), 40, lines.as_bytes());
        assert!(
            partly.contains("[16 lines, 121 bytes omitted; 57 bytes not stored. To read on"),
            "{partly}"
        );
        // What is stored is all shown.
        let less = stored_excerpt(&store("/tmp", 20), 40, lines.as_bytes());
        assert!(
            less.contains("[16 lines, 121 bytes omitted, not stored]"),
            "{less}"
        );
        let failed = stored_excerpt(&store("/no/such/directory", 100), 40, lines.as_bytes());
        assert!(
            failed.contains("[16 lines, 121 bytes omitted, not stored: No such file"),
            "{failed}"
        );
        let without_store = excerpt(&captured(40, lines.as_bytes()), None);
        assert!(
            without_store.contains("\n[16 lines, 121 bytes omitted, not stored]\n"),
            "{without_store}"
        );
    }

    #[test]
    fn the_reason_for_a_failed_write_is_said() {
        let store = store("/tmp", 1000);
        let mut captured = CapturedOutput::new(40, Some(store.for_stdout()));
        captured.push(numbered_lines().as_bytes());
        let mut output = captured.finish();
        let stored = output.stored.as_mut().expect("stored");
        let stored = stored.as_mut().expect("a file");
        stored.parts = [0..50, 151..151];
        stored.write_error = Some("No space left on device".to_owned());
        let text = excerpt(&output, Some(OutputAccess::Registered));
        assert!(
            text.contains("[16 lines, 121 bytes omitted; 85 bytes not stored: No space left on device. To read on"),
            "{text}"
        );
    }

    #[test]
    fn binary_output_is_reported_and_not_shown() {
        assert_eq!(
            excerpt(&captured(100, b"a\0b"), None),
            "(binary output, 3 bytes)"
        );
        let text = stored_excerpt(&store("/tmp", 100), 100, b"a\0b");
        assert_eq!(
            text,
            "(binary output, 3 bytes)\n[To read it: climax_call \
             {\"tool_name\":\"climax_output\",\"args\":{\"id\":\"ID\",\"from_byte\":0}}]"
        );
    }
}
