//! Reads lines or bytes of a stored output.

use std::fmt::Write as _;
use std::io;
use std::ops::{ControlFlow, Range};

use climax_runner::StoredOutput;
use memchr::{memchr_iter, memrchr};
use serde_json::{Map, json};

use super::{Page, ReadError};
use crate::call::excerpt::{complete_characters_end, first_character_start};
use crate::registration::json_object;

/// The size of the buffer for scanning a file.
const SCAN_BYTES: usize = 64 * 1024;

/// The bytes in one line of a hex dump, and the length of that line.
const DUMP_LINE_BYTES: usize = 16;
const DUMP_LINE_CHARS: usize = 80;

/// Reads lines, as many as fit.
pub(super) fn lines(
    output: &StoredOutput,
    from: u64,
    count: Option<u64>,
    max_bytes: usize,
) -> Result<Page, ReadError> {
    let summary = output.summary();
    if !summary.is_text {
        let reason = "The output is not text: read it with 'from_byte'";
        return Err(ReadError::Refused(reason.to_owned()));
    }
    if from > summary.lines {
        return Err(ReadError::Refused(format!(
            "Argument 'from_line': the output has {} lines",
            summary.lines
        )));
    }
    let Some((first, start)) = line_start(output, from)? else {
        return Err(ReadError::Refused(format!(
            "Line {from} and the lines after it are not stored"
        )));
    };
    let mut bytes = read(output, start, max_bytes)?;
    if let Some(end) = count.and_then(|count| nth_line_end(&bytes, count)) {
        bytes.truncate(end);
    } else if start + (bytes.len() as u64) < summary.bytes {
        // The page is full, or the rest is not stored.
        let line_end = memrchr(b'\n', &bytes).map(|newline| newline + 1);
        bytes.truncate(line_end.unwrap_or_else(|| complete_characters_end(&bytes)));
    }
    let end = start + bytes.len() as u64;
    let line_ends = memchr_iter(b'\n', &bytes).count() as u64;
    let is_line_end = bytes.ends_with(b"\n") || end == summary.bytes;
    let last = first + line_ends - u64::from(bytes.ends_with(b"\n"));
    let next = (end < summary.bytes).then(|| {
        let mut next = if is_line_end {
            json_object(json!({"from_line": last + 1}))
        } else {
            json_object(json!({"from_byte": end}))
        };
        if let Some(count) = count.filter(|_| is_line_end) {
            next.insert("lines".to_owned(), count.into());
        }
        next
    });
    let part = if is_line_end { "" } else { "the beginning of " };
    let position = if first == last {
        format!("{part}line {first} of {}", summary.lines)
    } else {
        format!("lines {first} to {last} of {}", summary.lines)
    };
    Ok(Page {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        position,
        next,
    })
}

/// Reads bytes, as many as fit. Output that is not text becomes a hex dump.
pub(super) fn bytes(
    output: &StoredOutput,
    from: u64,
    count: Option<u64>,
    max_bytes: usize,
) -> Result<Page, ReadError> {
    let summary = output.summary();
    let parts = output.parts();
    let is_stored = parts.iter().any(|part| part.contains(&from));
    if !is_stored {
        let parts = parts.iter().filter(|part| !part.is_empty());
        let parts: Vec<String> = parts
            .map(|part| format!("{} to {}", part.start, part.end - 1))
            .collect();
        return Err(ReadError::Refused(format!(
            "Argument 'from_byte': the stored bytes are {}",
            parts.join(" and ")
        )));
    }
    let max_bytes = if summary.is_text {
        max_bytes
    } else {
        (max_bytes / DUMP_LINE_CHARS).max(1) * DUMP_LINE_BYTES
    };
    let wanted = count.and_then(|count| usize::try_from(count).ok());
    let mut bytes = read(output, from, wanted.unwrap_or(max_bytes).min(max_bytes))?;
    let mut start = from;
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
    Ok(Page {
        text,
        position: format!("bytes {start} to {} of {}", end - 1, summary.bytes),
        next: (end < summary.bytes).then(|| {
            let mut next: Map<_, _> = json_object(json!({"from_byte": end}));
            if let Some(count) = count {
                next.insert("bytes".to_owned(), count.into());
            }
            next
        }),
    })
}

/// Finds a stored line, or the first one after it that is stored. Returns its number and its offset.
pub(super) fn line_start(output: &StoredOutput, line: u64) -> io::Result<Option<(u64, u64)>> {
    for part in output.parts() {
        let Some((mut number, mut start)) = first_line(output, &part)? else {
            continue;
        };
        if number < line {
            let found = scan(output, start..part.end, |offset, chunk| {
                for newline in memchr_iter(b'\n', chunk) {
                    number += 1;
                    if number == line {
                        start = offset + newline as u64 + 1;
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            })?;
            if found.is_continue() || start == part.end {
                continue;
            }
        }
        return Ok(Some((number, start)));
    }
    Ok(None)
}

/// The number and the offset of the first line that begins in a stored part.
pub(super) fn first_line(
    output: &StoredOutput,
    part: &Range<u64>,
) -> io::Result<Option<(u64, u64)>> {
    if part.is_empty() {
        return Ok(None);
    }
    if part.start == 0 {
        return Ok(Some((1, 0)));
    }
    // The part is the end of the output, so its lines are numbered backwards from the last one.
    let mut line_ends = 0;
    let mut first_end = None;
    let mut ends_with_line_end = false;
    let _ = scan(output, part.clone(), |offset, chunk| {
        line_ends += memchr_iter(b'\n', chunk).count() as u64;
        first_end = first_end.or_else(|| Some(offset + memchr::memchr(b'\n', chunk)? as u64));
        ends_with_line_end = chunk.ends_with(b"\n");
        ControlFlow::Continue(())
    })?;
    let lines_begun = line_ends - u64::from(ends_with_line_end && line_ends > 0);
    let start = first_end.filter(|_| lines_begun > 0).map(|end| end + 1);
    Ok(start.map(|start| (output.summary().lines - lines_begun + 1, start)))
}

/// Passes a stored range to a function, chunk by chunk, until it breaks.
pub(super) fn scan(
    output: &StoredOutput,
    range: Range<u64>,
    mut visit: impl FnMut(u64, &[u8]) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut buffer = vec![0; SCAN_BYTES];
    let mut offset = range.start;
    while offset < range.end {
        let wanted = usize::try_from(range.end - offset).unwrap_or(SCAN_BYTES);
        let length = output.read_at(offset, &mut buffer[..wanted.min(SCAN_BYTES)])?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if visit(offset, &buffer[..length]).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        offset += length as u64;
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads up to `max_bytes` of the stored part that contains `start`.
pub(super) fn read(output: &StoredOutput, start: u64, max_bytes: usize) -> io::Result<Vec<u8>> {
    let parts = output.parts();
    let part = parts.iter().find(|part| part.contains(&start));
    let end = part.map_or(start, |part| part.end);
    let end = end.min(start.saturating_add(max_bytes as u64));
    let mut bytes = Vec::new();
    let _ = scan(output, start..end, |_, chunk| {
        bytes.extend_from_slice(chunk);
        ControlFlow::Continue(())
    })?;
    Ok(bytes)
}

/// The offset after the line end that completes this many lines.
fn nth_line_end(bytes: &[u8], count: u64) -> Option<usize> {
    let index = usize::try_from(count).ok()?.checked_sub(1)?;
    memchr_iter(b'\n', bytes)
        .nth(index)
        .map(|newline| newline + 1)
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
