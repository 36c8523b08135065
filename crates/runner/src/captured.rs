//! Turns a stream of any length into text of limited length: its beginning and its end.

use std::collections::VecDeque;

/// The maximum length of the line that says how much was left out.
const MAX_NOTE_BYTES: usize = 64;

/// The beginning and the end of a command's output.
#[derive(Debug, Default)]
pub struct CapturedOutput {
    /// How many bytes are kept of the beginning, and of the end.
    max_half_bytes: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out_bytes: u64,
}

impl CapturedOutput {
    /// Keeps at most `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_half_bytes: max_bytes / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out_bytes: 0,
        }
    }

    /// Appends the next chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        let remaining = (self.max_half_bytes - self.head.len()).min(chunk.len());
        let (head, rest) = chunk.split_at(remaining);
        self.head.extend_from_slice(head);
        // If the chunk is longer than the tail, only its end is kept.
        let skipped = rest.len().saturating_sub(self.max_half_bytes);
        let rest = &rest[skipped..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.max_half_bytes);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
        self.left_out_bytes += (skipped + overflow) as u64;
    }

    /// The kept bytes as text, with a line that says how many are left out. Invalid UTF-8 is replaced.
    #[must_use]
    pub fn into_text(self) -> String {
        let mut bytes = self.head;
        bytes.reserve_exact(self.tail.len() + MAX_NOTE_BYTES);
        if self.left_out_bytes > 0 {
            let count = self.left_out_bytes;
            let unit = if count == 1 { "byte" } else { "bytes" };
            let note = format!("\n[{count} {unit} left out]\n");
            bytes.extend_from_slice(note.as_bytes());
        }
        let (first, second) = self.tail.as_slices();
        bytes.extend_from_slice(first);
        bytes.extend_from_slice(second);
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(max_bytes: usize, chunks: &[&str]) -> String {
        let mut captured = CapturedOutput::new(max_bytes);
        for chunk in chunks {
            captured.push(chunk.as_bytes());
        }
        captured.into_text()
    }

    #[test]
    fn output_within_the_limit_is_kept_unchanged() {
        assert_eq!(captured(10, &[]), "");
        assert_eq!(captured(10, &["abc", "def", "ghij"]), "abcdefghij");
        assert_eq!(captured(10, &["abcdefghij"]), "abcdefghij");
        // A character that is split between head and tail is joined again.
        assert_eq!(captured(6, &["abäc"]), "abäc");
    }

    #[test]
    fn output_beyond_the_limit_keeps_its_beginning_and_end() {
        let expected = "abc\n[4 bytes left out]\nhij";
        assert_eq!(captured(6, &["abcdefghij"]), expected);
        assert_eq!(captured(6, &["ab", "cd", "ef", "gh", "ij"]), expected);
        assert_eq!(captured(6, &["a", "bcdefg", "hij"]), expected);
        assert_eq!(captured(0, &["abc"]), "\n[3 bytes left out]\n");
        assert_eq!(captured(0, &["a"]), "\n[1 byte left out]\n");
    }

    #[test]
    fn memory_does_not_grow_with_the_output() {
        let mut captured = CapturedOutput::new(1000);
        for _ in 0..10_000 {
            captured.push(&[b'x'; 777]);
        }
        assert!(captured.head.capacity() + captured.tail.capacity() < 10_000);
        assert_eq!(captured.left_out_bytes, 7_770_000 - 1000);
    }
}
