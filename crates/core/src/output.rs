//! Writes text to standard output, and formats counts for messages.

use std::io::{self, Write};

/// Prints a text. A closed pipe (`| head`) is not an error.
///
/// # Errors
/// Standard output cannot be written to. The error is the message for the user.
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

/// A count with its noun: `1 tool`, `2 tools`.
#[must_use]
pub fn pluralize(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
