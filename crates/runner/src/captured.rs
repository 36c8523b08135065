//! Captures a stream of any length: its beginning and its end in memory, and more of it in a store.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use crate::store::{OutputId, OutputStore, StreamStore};
use crate::stored_output::{OutputSummary, StoredOutput};

/// Output is text if at most one byte in this many is not valid UTF-8.
const MIN_BYTES_PER_INVALID_BYTE: u64 = 10;

/// How the output of a command is captured.
#[derive(Clone, Debug, Default)]
pub struct CaptureOptions {
    /// Bytes of standard output kept in memory.
    pub max_stdout_bytes: usize,
    /// Bytes of standard error kept in memory.
    pub max_stderr_bytes: usize,
    /// Where output that is longer or not text is stored.
    pub store: Option<Arc<OutputStore>>,
}

/// The output of a command: all of it if it is short, otherwise its beginning and its end.
#[derive(Debug, Default)]
pub struct CapturedOutput {
    /// How many bytes are kept of the beginning.
    max_head_bytes: usize,
    /// How many bytes are kept of the end.
    max_tail_bytes: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total_bytes: u64,
    line_ends: u64,
    ends_with_line_end: bool,
    text_check: TextCheck,
    store: Option<StreamStore>,
    stored: Option<io::Result<StoredOutput>>,
}

/// The captured output of a command that has ended.
#[derive(Debug)]
pub struct CommandOutput {
    /// The beginning, and the end directly after it if nothing is between them.
    pub head: Vec<u8>,
    /// The end, if bytes between the beginning and the end are missing.
    pub tail: Option<Vec<u8>>,
    /// Describes the whole output.
    pub summary: OutputSummary,
    /// What is stored of it, if it is not text or too long to be kept in memory, and there is a store. The error
    /// says why it was not stored.
    pub stored: Option<io::Result<StoredSummary>>,
}

/// What is stored of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSummary {
    /// The id by which the store returns it.
    pub id: OutputId,
    /// The parts that are stored: the beginning and the end.
    pub parts: [Range<u64>; 2],
    /// Why a write failed, if one did.
    pub write_error: Option<String>,
}

impl CapturedOutput {
    /// Keeps at most `max_bytes` in memory, and stores output that is longer or not text.
    #[must_use]
    pub fn new(max_bytes: usize, store: Option<StreamStore>) -> Self {
        Self {
            max_head_bytes: max_bytes - max_bytes / 2,
            max_tail_bytes: max_bytes / 2,
            store,
            ..Self::default()
        }
    }

    /// Appends the next chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        let Some(last) = chunk.last() else { return };
        self.total_bytes += chunk.len() as u64;
        self.line_ends += memchr_iter(b'\n', chunk).count() as u64;
        self.ends_with_line_end = *last == b'\n';
        self.text_check.push(chunk);
        if self.total_bytes > (self.max_head_bytes + self.max_tail_bytes) as u64 {
            self.store(chunk);
        }
        let remaining = (self.max_head_bytes - self.head.len()).min(chunk.len());
        let (head, rest) = chunk.split_at(remaining);
        self.head.extend_from_slice(head);
        // If the chunk is longer than the tail, only its end is kept.
        let rest = &rest[rest.len().saturating_sub(self.max_tail_bytes)..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.max_tail_bytes);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
    }

    /// Stores a chunk, and everything before it if nothing is stored yet.
    fn store(&mut self, chunk: &[u8]) {
        let Some(store) = &self.store else { return };
        let stored = self.stored.get_or_insert_with(|| {
            let mut stored = store.create()?;
            stored.append(&self.head);
            let (first, second) = self.tail.as_slices();
            stored.append(first);
            stored.append(second);
            Ok(stored)
        });
        if let Ok(stored) = stored {
            stored.append(chunk);
        }
    }

    /// Ends the output.
    #[must_use]
    pub fn finish(mut self) -> CommandOutput {
        let is_text = self.text_check.is_text(self.total_bytes);
        if !is_text {
            self.store(&[]);
        }
        let unfinished_line = self.total_bytes > 0 && !self.ends_with_line_end;
        let summary = OutputSummary {
            bytes: self.total_bytes,
            lines: self.line_ends + u64::from(unfinished_line),
            is_text,
        };
        let store = self.store.take();
        let stored = self.stored.take().zip(store).map(|(stored, store)| {
            let mut stored = stored?;
            stored.complete(summary);
            let parts = stored.parts();
            let write_error = stored.write_error().map(str::to_owned);
            Ok(StoredSummary {
                id: store.keep(stored)?,
                parts,
                write_error,
            })
        });
        let kept_bytes = (self.head.len() + self.tail.len()) as u64;
        let mut head = self.head;
        let mut tail = Vec::from(self.tail);
        let tail = if kept_bytes == self.total_bytes {
            head.append(&mut tail);
            None
        } else {
            Some(tail)
        };
        CommandOutput {
            head,
            tail,
            summary,
            stored,
        }
    }
}

/// Decides whether a stream is text.
#[derive(Debug, Default)]
struct TextCheck {
    has_nul: bool,
    invalid_bytes: u64,
    /// The beginning of a character whose other bytes have not arrived yet.
    incomplete: Vec<u8>,
}

impl TextCheck {
    fn push(&mut self, chunk: &[u8]) {
        self.has_nul = self.has_nul || memchr(0, chunk).is_some();
        if self.has_nul {
            return;
        }
        let joined;
        let mut rest = chunk;
        if !self.incomplete.is_empty() {
            self.incomplete.extend_from_slice(chunk);
            joined = mem::take(&mut self.incomplete);
            rest = &joined;
        }
        while let Err(error) = str::from_utf8(rest) {
            rest = &rest[error.valid_up_to()..];
            let Some(length) = error.error_len() else {
                self.incomplete = rest.to_vec();
                break;
            };
            self.invalid_bytes += length as u64;
            rest = &rest[length..];
        }
    }

    fn is_text(&self, total_bytes: u64) -> bool {
        let invalid_bytes = self.invalid_bytes + self.incomplete.len() as u64;
        !self.has_nul && invalid_bytes * MIN_BYTES_PER_INVALID_BYTE <= total_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreOptions;

    fn store() -> Arc<OutputStore> {
        OutputStore::new(StoreOptions {
            directory: std::env::temp_dir(),
            max_call_bytes: 1000,
        })
    }

    fn output(
        max_bytes: usize,
        store: Option<&Arc<OutputStore>>,
        chunks: &[&[u8]],
    ) -> CommandOutput {
        let store = store.map(OutputStore::for_stdout);
        let mut captured = CapturedOutput::new(max_bytes, store);
        for chunk in chunks {
            captured.push(chunk);
        }
        captured.finish()
    }

    fn is_text(chunks: &[&[u8]]) -> bool {
        output(100, None, chunks).summary.is_text
    }

    #[test]
    fn short_output_is_kept_in_memory_and_not_stored() {
        for chunks in [
            &["abc", "def", "ghij"][..],
            &["abcdefghij"],
            &["a", "", "bcdefghij"],
        ] {
            let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
            let output = output(10, Some(&store()), &chunks);
            assert_eq!(output.head, b"abcdefghij");
            assert_eq!(output.tail, None);
            assert!(output.stored.is_none());
        }
    }

    #[test]
    fn of_long_output_the_beginning_and_the_end_are_kept_and_all_is_stored() {
        for chunks in [
            &["abcdefghij"][..],
            &["ab", "cd", "ef", "gh", "ij"],
            &["a", "bcdefg", "hij"],
        ] {
            let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
            let store = store();
            let output = output(6, Some(&store), &chunks);
            assert_eq!(output.head, b"abc");
            assert_eq!(output.tail.as_deref(), Some(&b"hij"[..]));
            let summary = output.stored.expect("stored").expect("a file");
            let stored = store.get(summary.id).expect("kept");
            let mut bytes = [0; 20];
            let length = stored.read_at(0, &mut bytes).expect("readable");
            assert_eq!(&bytes[..length], b"abcdefghij");
            assert_eq!(summary.parts, [0..10, 10..10]);
        }
    }

    #[test]
    fn lines_are_counted() {
        for (chunks, lines) in [
            (&["a\nb\n", "c"][..], 3),
            (&["a\n", "b\n"], 2),
            (&["\n\n"], 2),
            (&["a"], 1),
            (&[""], 0),
        ] {
            let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
            assert_eq!(output(2, None, &chunks).summary.lines, lines, "{chunks:?}");
        }
    }

    #[test]
    fn nul_bytes_and_much_invalid_utf8_are_not_text() {
        assert!(is_text(&[]));
        assert!(is_text(&["größe".as_bytes()]));
        assert!(!is_text(&[b"a\0b"]));
        assert!(is_text(&[b"123456789\xff"]));
        assert!(!is_text(&[b"12345678\xff"]));
        // An incomplete character at the end is invalid.
        assert!(!is_text(&[b"1234\xe2\x82"]));
        // Characters may be cut between chunks.
        let euros = "€".repeat(10);
        let bytes: Vec<&[u8]> = euros.as_bytes().chunks(1).collect();
        assert!(is_text(&bytes));
        let bytes: Vec<&[u8]> = euros.as_bytes().chunks(4).collect();
        assert!(is_text(&bytes));
    }

    #[test]
    fn short_output_that_is_not_text_is_stored() {
        let output = output(10, Some(&store()), &[b"a\0b"]);
        assert!(!output.summary.is_text);
        let stored = output.stored.expect("stored").expect("a file");
        assert_eq!(stored.parts, [0..3, 3..3]);
    }

    #[test]
    fn memory_does_not_grow_with_the_output() {
        let store = store();
        let mut captured = CapturedOutput::new(1000, Some(store.for_stdout()));
        for _ in 0..10_000 {
            captured.push(&[b'x'; 777]);
        }
        assert!(captured.head.capacity() + captured.tail.capacity() < 10_000);
        assert_eq!(captured.total_bytes, 7_770_000);
        let output = captured.finish();
        let stored = output.stored.expect("stored").expect("a file");
        let stored_bytes: u64 = stored.parts.iter().map(|part| part.end - part.start).sum();
        // Standard error has a share of its own.
        assert_eq!(stored_bytes, 1000 - 1000 / 16);
    }
}
