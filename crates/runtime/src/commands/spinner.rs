//! Shows the progress of a call on a terminal.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use unicode_width::UnicodeWidthChar;

use crate::service::{Client, ProgressUpdate};

const FRAMES: [char; 8] = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇', '⠏', '⠛'];
const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Used if the width of the terminal is unknown.
const DEFAULT_WIDTH: u16 = 80;

/// Moves to the start of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// The client of a call from the command line: draws a spinner with the elapsed time and the last line of output
/// on standard error.
pub(super) struct Spinner {
    is_visible: bool,
    frame: AtomicUsize,
}

impl Spinner {
    pub(super) fn new(is_visible: bool) -> Self {
        Self {
            is_visible,
            frame: AtomicUsize::new(0),
        }
    }

    /// Removes the spinner from the terminal.
    pub(super) fn clear(&self) {
        if self.is_visible {
            draw(CLEAR_LINE);
        }
    }
}

impl Client for Spinner {
    fn wants_progress(&self) -> bool {
        self.is_visible
    }

    fn report_interval(&self) -> Duration {
        FRAME_INTERVAL
    }

    async fn report_progress(&self, update: ProgressUpdate) {
        let number = self.frame.fetch_add(1, Ordering::Relaxed);
        // Most calls end before the first frame.
        if number > 0 {
            let size = rustix::termios::tcgetwinsize(io::stderr());
            let width = size.map_or(0, |size| size.ws_col);
            let width = if width == 0 { DEFAULT_WIDTH } else { width };
            let line = format!("{} {}", FRAMES[number % FRAMES.len()], update.message);
            draw(&format!("{CLEAR_LINE}{}", fitting(&line, width.into())));
        }
    }
}

/// Writes to the terminal, which may have been closed.
fn draw(text: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// The part of a line that fits, without control characters.
fn fitting(line: &str, width: usize) -> String {
    let mut used = 0;
    let characters = line.chars().filter(|character| !character.is_control());
    let fitting = characters.take_while(|character| {
        used += character.width().unwrap_or(0);
        used < width
    });
    fitting.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_the_terminal_and_has_no_control_characters() {
        assert_eq!(fitting("abc", 80), "abc");
        assert_eq!(fitting("abc", 3), "ab");
        assert_eq!(fitting("a\x1b[31m\tb", 80), "a[31mb");
        assert_eq!(fitting("日本語", 6), "日本");
    }
}
