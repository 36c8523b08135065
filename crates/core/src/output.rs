//! What both programs print, and how.

use std::io::{self, Write};

/// Prints a text. Who has read enough (`| head`) and leaves is no error.
///
/// # Errors
/// It cannot be written, and the message says so.
pub fn print(text: &str) -> Result<(), String> {
    let mut stdout = io::stdout();
    let written = stdout.write_all(text.as_bytes());
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// `1 tool`, `2 tools`.
#[must_use]
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
