//! Logs go to standard error, and to a file if one is named; standard output is the protocol's.

use std::env;
use std::fs::File;
use std::io;
use std::sync::Arc;

use clap::ValueEnum;
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
    let stderr = io::stderr.with_max_level(level.into());
    let builder = tracing_subscriber::fmt()
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
