//! Reads lines or bytes of a stored output.

use std::fmt::Write as _;
use std::io;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use memchr::{memchr, memchr_iter, memrchr};
use serde_json::{Map, Value, json};

use super::{OutputFile, Page, ReadError};
use crate::call::excerpt::{complete_characters_end, first_character_start, pluralize_large};
use crate::registration::json_object;

/// The size of the buffer for scanning a file.
const SCAN_BYTES: usize = 64 * 1024;

/// The bytes in one line of a hex dump, and the length of that line.
const DUMP_LINE_BYTES: usize = 16;
const DUMP_LINE_CHARS: usize = 78;

/// Reads lines, as many as fit.
pub(super) fn lines(
    file: &OutputFile,
    from: u64,
    count: Option<u64>,
    max_bytes: usize,
) -> Result<Page, ReadError> {
    file.require_text()?;
    let summary = file.output.summary();
    if from > summary.lines {
        return Err(ReadError::Refused(format!(
            "Argument 'from_line': the output has {}",
            pluralize_large(summary.lines, "line")
        )));
    }
    let Some((first, start)) = file.line_start(from)? else {
        return Err(ReadError::Refused(format!(
            "Line {from} and the lines after it are not stored"
        )));
    };
    let mut bytes = file.read(start, max_bytes)?;
    let is_full = bytes.len() == max_bytes;
    if let Some(end) = count.and_then(|count| nth_line_end(&bytes, count)) {
        bytes.truncate(end);
    } else if is_full {
        let line_end = memrchr(b'\n', &bytes).map(|newline| newline + 1);
        bytes.truncate(line_end.unwrap_or_else(|| complete_characters_end(&bytes)));
    }
    let end = start + bytes.len() as u64;
    let ends_with_line_end = bytes.ends_with(b"\n");
    let line_ends = memchr_iter(b'\n', &bytes).count() as u64;
    let last = first + line_ends - u64::from(ends_with_line_end);
    let is_line_end = ends_with_line_end || end == summary.bytes;
    let total = summary.lines;
    let mut position = match (first == last, is_line_end) {
        (true, true) => format!("line {first} of {total}"),
        (true, false) => format!("the beginning of line {first} of {total}"),
        (false, true) => format!("lines {first} to {last} of {total}"),
        (false, false) => format!("lines {first} to {last} of {total}, the last one in part"),
    };
    let next = file.next_offset(end);
    if first > from || next.is_some_and(|next| next > end) {
        position += &file.gap_remark();
    }
    let next_arguments = next.map(|next| {
        if !(is_line_end && next == end) {
            return json_object(json!({"from_byte": next}));
        }
        let next_arguments = json_object(json!({"from_line": last + 1}));
        with_count(next_arguments, "lines", count, line_ends)
    });
    Ok(Page {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        position,
        next_arguments,
    })
}

/// Reads bytes, as many as fit. Output that is not text becomes a hex dump.
pub(super) fn bytes(
    file: &OutputFile,
    from: u64,
    count: Option<u64>,
    max_bytes: usize,
) -> Result<Page, ReadError> {
    let summary = file.output.summary();
    let Some(first) = file.next_offset(from) else {
        return Err(ReadError::Refused(format!(
            "Argument 'from_byte': the output has {}",
            pluralize_large(summary.bytes, "byte")
        )));
    };
    let max_bytes = if summary.is_text {
        max_bytes
    } else {
        (max_bytes / DUMP_LINE_CHARS).max(1) * DUMP_LINE_BYTES
    };
    let wanted = count.and_then(|count| usize::try_from(count).ok());
    let mut bytes = file.read(first, wanted.unwrap_or(max_bytes).min(max_bytes))?;
    let mut start = first;
    let text = if summary.is_text {
        // A page begins and ends between characters, unless it is shorter than a character.
        let end = complete_characters_end(&bytes);
        if end > 0 {
            bytes.truncate(end);
        }
        let skipped = first_character_start(&bytes);
        if skipped < bytes.len() {
            start += skipped as u64;
            bytes.drain(..skipped);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        hex_dump(start, &bytes)
    };
    let end = start + bytes.len() as u64;
    let last = end.saturating_sub(1).max(start);
    let mut position = format!("bytes {start} to {last} of {}", summary.bytes);
    let next = file.next_offset(end);
    if first > from || next.is_some_and(|next| next > end) {
        position += &file.gap_remark();
    }
    Ok(Page {
        text,
        position,
        next_arguments: next.map(|next| {
            let next_arguments = json_object(json!({"from_byte": next}));
            with_count(next_arguments, "bytes", count, 0)
        }),
    })
}

/// Adds the count of a request to the arguments that read on: what is left of it if the page had fewer.
pub(super) fn with_count(
    mut arguments: Map<String, Value>,
    name: &str,
    count: Option<u64>,
    shown: u64,
) -> Map<String, Value> {
    if let Some(count) = count {
        let rest = count.saturating_sub(shown);
        let next_count = if rest == 0 { count } else { rest };
        arguments.insert(name.to_owned(), next_count.into());
    }
    arguments
}

impl OutputFile {
    pub(super) fn require_text(&self) -> Result<(), ReadError> {
        if self.output.summary().is_text {
            return Ok(());
        }
        let reason = "The output is not text: read it with 'from_byte'";
        Err(ReadError::Refused(reason.to_owned()))
    }

    /// The first stored byte at or after an offset.
    fn next_offset(&self, offset: u64) -> Option<u64> {
        let mut parts = self.output.parts().into_iter();
        let part = parts.find(|part| offset < part.end)?;
        Some(part.start.max(offset))
    }

    /// Names the bytes that are not stored, for the end of a position.
    pub(super) fn gap_remark(&self) -> String {
        let [beginning, end] = self.output.parts();
        if beginning.end == end.start {
            return String::new();
        }
        format!(
            "; bytes {} to {} are not stored",
            beginning.end,
            end.start - 1
        )
    }

    /// Finds a stored line, or the first one after it that is stored. Returns its number and its offset.
    fn line_start(&self, line: u64) -> io::Result<Option<(u64, u64)>> {
        for part in self.output.parts() {
            if part.is_empty() {
                continue;
            }
            let mut number = self.first_line(&part)?;
            let mut start = part.start;
            // The end of an output usually begins inside a line.
            let begins_inside_line = part.start > 0;
            if number >= line && !begins_inside_line {
                return Ok(Some((number, start)));
            }
            let found = self.scan(part.start..part.end, |offset, chunk| {
                for newline in memchr_iter(b'\n', chunk) {
                    number += 1;
                    start = offset + newline as u64 + 1;
                    if number >= line {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if found.is_break() && start < part.end {
                return Ok(Some((number, start)));
            }
        }
        Ok(None)
    }

    /// The number of the line that contains the first byte of a stored part. The lines of the end of an output
    /// are numbered backwards from the last one.
    pub(super) fn first_line(&self, part: &Range<u64>) -> io::Result<u64> {
        if part.start == 0 {
            return Ok(1);
        }
        let mut line_ends = 0;
        let mut ends_with_line_end = false;
        let _ = self.scan(part.clone(), |_, chunk| {
            line_ends += memchr_iter(b'\n', chunk).count() as u64;
            ends_with_line_end = chunk.ends_with(b"\n");
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(self.output.summary().lines + u64::from(ends_with_line_end) - line_ends)
    }

    /// Passes a stored range to a function, chunk by chunk, until it breaks.
    pub(super) fn scan(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &[u8]) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<ControlFlow<()>> {
        let mut buffer = vec![0; SCAN_BYTES];
        let mut offset = range.start;
        while offset < range.end {
            if Instant::now() > self.deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let wanted = usize::try_from(range.end - offset).unwrap_or(SCAN_BYTES);
            let buffer = &mut buffer[..wanted.min(SCAN_BYTES)];
            let length = self.output.read_at(offset, buffer)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if visit(offset, &buffer[..length])?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            offset += length as u64;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads up to `max_bytes` of the stored part that contains `start`.
    pub(super) fn read(&self, start: u64, max_bytes: usize) -> io::Result<Vec<u8>> {
        let parts = self.output.parts();
        let part = parts.iter().find(|part| part.contains(&start));
        let end = part.map_or(start, |part| part.end);
        let end = end.min(start.saturating_add(max_bytes as u64));
        let mut bytes = Vec::new();
        let _ = self.scan(start..end, |_, chunk| {
            bytes.extend_from_slice(chunk);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(bytes)
    }
}

/// The offset after the line end that completes this many lines.
fn nth_line_end(bytes: &[u8], count: u64) -> Option<usize> {
    let index = usize::try_from(count).ok()?.checked_sub(1)?;
    let newline = memchr_iter(b'\n', bytes).nth(index)?;
    Some(newline + 1)
}

/// The first line of some bytes, without its end.
pub(super) fn without_line_end(bytes: &[u8]) -> (&[u8], bool) {
    match memchr(b'\n', bytes) {
        Some(newline) => {
            let line = &bytes[..newline];
            (line.strip_suffix(b"\r").unwrap_or(line), true)
        }
        None => (bytes, false),
    }
}

/// Formats bytes as lines of 16: offset, hexadecimal, and what is printable.
fn hex_dump(start: u64, bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut offset = start;
    for line in bytes.chunks(DUMP_LINE_BYTES) {
        let mut hex = String::new();
        for byte in line {
            let _ = write!(hex, "{byte:02x} ");
        }
        let printable = line.iter().map(|&byte| match byte {
            b' '..=b'~' => char::from(byte),
            _ => '.',
        });
        let printable: String = printable.collect();
        let _ = writeln!(text, "{offset:08x}  {hex:<48} |{printable}|");
        offset += line.len() as u64;
    }
    text
}
