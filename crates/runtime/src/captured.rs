//! Keeps the beginning and the end of a stream, however much comes between.

use std::collections::VecDeque;

/// The line that tells what is left out is not longer.
const LINE: usize = 64;

/// What was kept of a stream.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// How many bytes are kept at each end.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Captured {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            half: limit / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out: 0,
        }
    }

    /// Takes what came next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = (self.half - self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        // Of a piece longer than the tail, only its end can stay.
        let skipped = rest.len().saturating_sub(self.half);
        let rest = &rest[skipped..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
        self.left_out += (skipped + overflow) as u64;
    }

    /// How many bytes are kept.
    pub(crate) fn length(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// What was kept as text, with a line that tells what is not there.
    pub(crate) fn into_text(self) -> String {
        let mut bytes = self.head;
        bytes.reserve_exact(self.tail.len() + LINE);
        if self.left_out > 0 {
            let line = format!("\n[{} bytes left out]\n", self.left_out);
            bytes.extend_from_slice(line.as_bytes());
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

    fn captured(limit: usize, pieces: &[&str]) -> String {
        let mut captured = Captured::new(limit);
        for piece in pieces {
            captured.push(piece.as_bytes());
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
        let mut captured = Captured::new(1000);
        for _ in 0..10_000 {
            captured.push(&[b'x'; 777]);
        }
        assert!(captured.head.capacity() + captured.tail.capacity() < 10_000);
        assert_eq!(captured.left_out, 7_770_000 - 1000);
    }
}
