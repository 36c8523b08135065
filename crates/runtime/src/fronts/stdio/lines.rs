//! Splits the input's bytes into lines of limited length.

use std::io;
use std::mem;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::message_id::IdFinder;
use super::streams::Input;

/// Buffers up to this capacity are reused for the next line.
const MAX_RECYCLED_BYTES: usize = 64 * 1024;

/// One line of input.
pub(super) enum Line {
    /// The bytes of the line, with its newline.
    Whole(Vec<u8>),
    /// The line was too long and was skipped. This is the id of its request, or null if none was found.
    TooLong(Value),
    /// The end of input.
    End,
}

/// Reads lines of limited length.
pub(super) struct Lines {
    reader: BufReader<Input>,
    /// The maximum length of a line, with its newline.
    max_line_bytes: usize,
    /// The part of the current line that was read.
    line: Vec<u8>,
    /// Set while a line that is too long is skipped: finds the id of its request.
    skipped: Option<IdFinder>,
}

impl Lines {
    pub(super) fn new(input: Input, max_line_bytes: usize) -> Self {
        Self {
            reader: BufReader::new(input),
            max_line_bytes,
            line: Vec::new(),
            skipped: None,
        }
    }

    /// Reads the next line. The future may be dropped and created again.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            // The crate memchr would first query the processor for its features, which takes 40 microseconds of
            // every start in a virtual machine.
            let newline = available.iter().position(|&byte| byte == b'\n');
            let (length, is_end) = match newline {
                Some(newline) => (newline + 1, true),
                // The last line may lack its newline.
                None => (available.len(), available.is_empty()),
            };
            let piece = &available[..length];
            if self.skipped.is_none() && self.line.len() + piece.len() > self.max_line_bytes {
                let mut finder = IdFinder::default();
                finder.push(&mem::take(&mut self.line));
                self.skipped = Some(finder);
            }
            match &mut self.skipped {
                Some(finder) => finder.push(piece),
                None => self.line.extend_from_slice(piece),
            }
            self.reader.consume(length);
            if is_end {
                return Ok(self.end());
            }
        }
    }

    fn end(&mut self) -> Line {
        if let Some(finder) = self.skipped.take() {
            return Line::TooLong(finder.id());
        }
        if self.line.is_empty() {
            return Line::End;
        }
        Line::Whole(mem::take(&mut self.line))
    }

    /// Reuses the memory of a line for the next one.
    pub(super) fn recycle(&mut self, mut line: Vec<u8>) {
        if self.line.is_empty() && line.capacity() <= MAX_RECYCLED_BYTES {
            line.clear();
            self.line = line;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_that_are_too_long_are_skipped_and_the_others_are_returned() {
        let long = format!(r#"{{"params":"{}","id":5}}"#, "x".repeat(100_000));
        let input = format!("\none\n{long}\n{}\n{long}", "y".repeat(999));
        let mut lines = Lines::new(Box::new(io::Cursor::new(input)), 1000);
        let mut seen = Vec::new();
        loop {
            match lines.next().await.expect("no error") {
                Line::Whole(line) => {
                    seen.push(line.len().to_string());
                    lines.recycle(line);
                }
                Line::TooLong(id) => seen.push(format!("too long: {id}")),
                Line::End => break,
            }
        }
        assert_eq!(seen, ["1", "4", "too long: 5", "1000", "too long: 5"]);
        assert!(lines.line.capacity() <= MAX_RECYCLED_BYTES);
    }
}
