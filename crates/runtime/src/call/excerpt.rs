//! Turns the output of a command into text that fits an agent's context: its beginning and its end, and between
//! them a line that says what is omitted and how to read it.

use climax_core::output::pluralize;
use climax_runner::CommandOutput;
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
    format!("{head}{line_end}{notice}\n{}", tail.trim_end())
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
    let tail_lines = (line_ends(tail) + usize::from(!tail.ends_with(b"\n"))) as u64;
    let bytes = output.summary.bytes - (head.len() + tail.len()) as u64;
    let bytes = pluralize_large(bytes, "byte");
    let omitted = match output.summary.lines.saturating_sub(head_lines + tail_lines) {
        0 => format!("{bytes} omitted within a line"),
        lines => format!("{}, {bytes} omitted", pluralize_large(lines, "line")),
    };
    let (Some(stored), Some(access)) = (&output.stored, access) else {
        return format!("[{omitted} and not stored]");
    };
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => return format!("[{omitted} and not stored: {error}]"),
    };
    let lost = match output.summary.bytes - stored.bytes {
        0 => String::new(),
        lost => format!("; {} of them are not stored", pluralize_large(lost, "byte")),
    };
    let id = stored.id.to_string();
    let position = if head.ends_with(b"\n") {
        json!({"id": id, "from_line": head_lines + 1})
    } else {
        json!({"id": id, "from_byte": head.len()})
    };
    format!("[{omitted}{lost}. To read on: {}]", access.call(&position))
}

/// Reports output that is not text, and how to read it.
fn binary_notice(output: &CommandOutput, access: Option<OutputAccess>) -> String {
    let bytes = pluralize_large(output.summary.bytes, "byte");
    let text = format!("(binary output, {bytes})");
    match (&output.stored, access) {
        (Some(Ok(stored)), Some(access)) => {
            let call = access.call(&json!({"id": stored.id.to_string(), "from_byte": 0}));
            format!("{text}\n[To read it: {call}]")
        }
        _ => text,
    }
}

fn pluralize_large(count: u64, noun: &str) -> String {
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
        let mut captured = CapturedOutput::new(max_bytes, Some(store.for_call()));
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
        let expected = "line 1\nline 2\n[16 lines, 121 bytes omitted. To read on: climax_call \
                        {\"tool_name\":\"climax_output\",\"args\":{\"id\":\"ID\",\"from_line\":3}}]\n\
                        line 19\nline 20";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let store = store("/tmp", 1000);
        let text = stored_excerpt(&store, 10, "€".repeat(20).as_bytes());
        let expected = "€\n[54 bytes omitted within a line. To read on: climax_call \
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
            partly.contains(
                "[16 lines, 121 bytes omitted; 51 bytes of them are not stored. To read on"
            ),
            "{partly}"
        );
        let failed = stored_excerpt(&store("/no/such/directory", 100), 40, lines.as_bytes());
        assert!(
            failed.contains("[16 lines, 121 bytes omitted and not stored: No such file"),
            "{failed}"
        );
        let without_store = excerpt(&captured(40, lines.as_bytes()), None);
        assert!(
            without_store.contains("\n[16 lines, 121 bytes omitted and not stored]\n"),
            "{without_store}"
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
