//! Logs go to standard error, and to a file if one is named; standard output is the protocol's.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::Level;
use tracing_subscriber::fmt::writer::MakeWriterExt;

/// The variable that names a file for the log.
const LOG_FILE: &str = "CLIMAX_LOG_FILE";

/// How much is logged.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Warning,
    Error,
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Info => Self::INFO,
            LogLevel::Warning => Self::WARN,
            LogLevel::Error => Self::ERROR,
        }
    }
}

/// Starts to log. The file, if there is one, gets everything down to debug.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn start(level: LogLevel) -> Result<(), String> {
    let stderr = (|| Stderr).with_max_level(level.into());
    let builder = tracing_subscriber::fmt()
        // It would tell about them on standard error.
        .log_internal_errors(false)
        .with_ansi(false)
        .with_target(false);
    match env::var_os(LOG_FILE).filter(|path| !path.is_empty()) {
        None => builder
            .with_max_level(Level::from(level))
            .with_writer(stderr)
            .init(),
        Some(path) => {
            let file = File::options().create(true).append(true).open(&path);
            let file = file.map_err(|error| {
                format!("{LOG_FILE}: cannot write `{}`: {error}", path.display())
            })?;
            builder
                .with_max_level(Level::DEBUG)
                .with_writer(stderr.and(Arc::new(file)))
                .init();
        }
    }
    Ok(())
}

/// Standard error for a program that has better things to do than to wait for whoever reads it, or
/// does not: what does not fit is lost.
struct Stderr;

/// A pipe that can be written at all has room for so much.
const AT_ONCE: usize = 4096;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let stderr = io::stderr();
        let mut files = [PollFd::new(&stderr, PollFlags::OUT)];
        let piece = &bytes[..bytes.len().min(AT_ONCE)];
        let is_ready = poll(&mut files, Some(&Timespec::default())).is_ok()
            && files[0].revents() == PollFlags::OUT;
        if is_ready {
            let _ = rustix::io::write(&stderr, piece);
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
