//! Finds the last line in output that arrives in chunks.

/// Longer lines are cut off.
const MAX_LINE_CHARS: usize = 200;

/// The maximum length of a character in UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// Finds the last line that is not blank. A carriage return ends a line too, because programs that draw a
/// progress bar write over the same line.
#[derive(Default)]
pub(crate) struct LastLine {
    /// The current line, which has not ended yet.
    line: Vec<u8>,
}

impl LastLine {
    /// Adds the next chunk. Returns the last line if it has changed.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Option<String> {
        let is_line_end = |&byte: &u8| byte == b'\n' || byte == b'\r';
        let mut last = None;
        let mut lines = chunk.split(is_line_end).peekable();
        while let Some(line) = lines.next() {
            let capacity = MAX_LINE_CHARS * MAX_CHAR_BYTES;
            let remaining = capacity.saturating_sub(self.line.len());
            self.line.extend(line.iter().take(remaining));
            if !self.line.trim_ascii().is_empty() {
                last = Some(self.line.clone());
            }
            if lines.peek().is_some() {
                self.line.clear();
            }
        }
        last.map(|line| {
            let text = String::from_utf8_lossy(&line);
            text.trim().chars().take(MAX_LINE_CHARS).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_found_across_chunks() {
        let mut lines = LastLine::default();
        let mut push = |chunk: &str| lines.push(chunk.as_bytes());
        assert_eq!(push("one\ntw"), Some("tw".to_owned()));
        assert_eq!(push("o\n"), Some("two".to_owned()));
        assert_eq!(push("\n \n"), None);
        assert_eq!(push("10 %\r20 %\r"), Some("20 %".to_owned()));
        assert_eq!(push(""), None);
        let long = push(&"ä".repeat(10_000));
        assert_eq!(long, Some("ä".repeat(200)));
        assert!(lines.line.len() <= 800);
    }
}
