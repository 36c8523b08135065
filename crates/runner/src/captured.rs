//! Keeps the beginning and the end of a stream, however long it is.

use std::collections::VecDeque;

/// The line that says how much was left out is not longer than this.
const MAX_NOTE_BYTES: usize = 64;

/// The beginning and the end of what a command wrote to a stream.
#[derive(Debug, Default)]
pub struct CapturedOutput {
    /// How many bytes are kept at each end.
    half_limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out_bytes: u64,
}

impl CapturedOutput {
    /// Keeps at most `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self {
            half_limit: max_bytes / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out_bytes: 0,
        }
    }

    /// Appends the next chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        let remaining = (self.half_limit - self.head.len()).min(chunk.len());
        let (head, rest) = chunk.split_at(remaining);
        self.head.extend_from_slice(head);
        // Of a chunk longer than the tail, only its end can be kept.
        let skipped = rest.len().saturating_sub(self.half_limit);
        let rest = &rest[skipped..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.half_limit);
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
            let note = format!("\n[{} bytes left out]\n", self.left_out_bytes);
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

    fn captured(limit: usize, chunks: &[&str]) -> String {
        let mut captured = CapturedOutput::new(limit);
        for chunk in chunks {
            captured.push(chunk.as_bytes());
        }
        captured.into_text()
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        assert_eq!(captured(10, &[]), "");
        assert_eq!(captured(10, &["abc", "def", "ghij"]), "abcdefghij");
        assert_eq!(captured(10, &["abcdefghij"]), "abcdefghij");
        // A character that is cut in half between both ends is whole again.
        assert_eq!(captured(6, &["abäc"]), "abäc");
    }

    #[test]
    fn of_the_rest_the_beginning_and_the_end_stay() {
        let expected = "abc\n[4 bytes left out]\nhij";
        assert_eq!(captured(6, &["abcdefghij"]), expected);
        assert_eq!(captured(6, &["ab", "cd", "ef", "gh", "ij"]), expected);
        assert_eq!(captured(6, &["a", "bcdefg", "hij"]), expected);
        assert_eq!(captured(0, &["abc"]), "\n[3 bytes left out]\n");
    }

    #[test]
    fn memory_stays_bounded() {
        let mut captured = CapturedOutput::new(1000);
        for _ in 0..10_000 {
            captured.push(&[b'x'; 777]);
        }
        assert!(captured.head.capacity() + captured.tail.capacity() < 10_000);
        assert_eq!(captured.left_out_bytes, 7_770_000 - 1000);
    }
}
