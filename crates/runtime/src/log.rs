//! Logs to standard error, and to a file if `CLIMAX_LOG_FILE` is set. Standard output carries the protocol. Whatever
//! a message contains, it is one line of visible characters.

use std::borrow::Cow;
use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriterExt};

/// The environment variable with the path of the log file.
const LOG_FILE_VARIABLE: &str = "CLIMAX_LOG_FILE";

/// Only the owner can read and write a new log file, because it shows what commands are called with.
const LOG_FILE_MODE: u32 = 0o600;

/// The least severe level that is logged to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    #[default]
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

/// Installs the global logger. Without a level, standard error gets warnings and errors, and the log file everything.
///
/// # Errors
/// If the log file cannot be opened.
pub(crate) fn start(level: Option<LogLevel>) -> Result<(), String> {
    let file_level = Level::from(level.unwrap_or(LogLevel::Debug));
    let level = Level::from(level.unwrap_or_default());
    let path = env::var_os(LOG_FILE_VARIABLE).filter(|path| !path.is_empty());
    let file = path.map(|path| {
        let mut options = File::options();
        let file = options
            .create(true)
            .append(true)
            .mode(LOG_FILE_MODE)
            .open(&path);
        file.map_err(|error| {
            format!(
                "{LOG_FILE_VARIABLE}: cannot write `{}`: {error}",
                path.display()
            )
        })
    });
    let stderr = LossyWriter::new(io::stderr());
    let stderr = Arc::new(EscapingWriter(stderr)).with_max_level(level);
    let (max_level, writer) = match file.transpose()? {
        Some(file) => (
            file_level,
            BoxMakeWriter::new(stderr.and(Arc::new(EscapingWriter(file)))),
        ),
        None => (level, BoxMakeWriter::new(stderr)),
    };
    let create_formatter = move || -> Formatter {
        let formatter = tracing_subscriber::fmt()
            .with_max_level(max_level)
            .with_target(false)
            .with_writer(writer)
            // Internal errors are printed to standard error, which may block.
            .log_internal_errors(false);
        Box::new(formatter.finish())
    };
    let logger = Logger {
        max_level,
        formatter: LazyLock::new(Box::new(create_formatter)),
    };
    tracing::subscriber::set_global_default(logger).map_err(|error| error.to_string())
}

/// Formats and writes events.
type Formatter = Box<dyn Subscriber + Send + Sync>;

/// Passes the events that are logged to the formatter. Spans are never enabled.
struct Logger {
    max_level: Level,
    /// Created for the first event. Most sessions have none, and the formatter fills a table of 32 KiB for spans,
    /// which would delay every start.
    formatter: LazyLock<Formatter, Box<dyn FnOnce() -> Formatter + Send>>,
}

impl Subscriber for Logger {
    /// Drops all of rmcp's events except errors: they repeat requests and responses, including the whole output of
    /// commands.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let level = metadata.level();
        let is_rmcp = metadata.target().starts_with("rmcp");
        metadata.is_event() && *level <= self.max_level && (!is_rmcp || *level == Level::ERROR)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.max_level.into())
    }

    fn event(&self, event: &Event<'_>) {
        self.formatter.event(event);
    }

    /// Is not called, because no span is enabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Escapes what could forge lines or change how a terminal or an editor shows them: control characters, which include
/// line ends and the start of escape sequences, line separators, and marks that change the direction of text.
struct EscapingWriter<W>(W);

impl<'a, W> Write for &'a EscapingWriter<W>
where
    &'a W: Write,
{
    /// Expects a whole line, as the subscriber passes it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        (&self.0).write_all((escape_line(text) + "\n").as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.0).flush()
    }
}

fn escape_line(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let is_hidden = character.is_control()
            || matches!(
                character,
                '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            );
        if is_hidden {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// A pipe that polls as writable takes this many bytes without blocking.
const MAX_WRITE_BYTES: usize = 4096;

/// Writes lines to a pipe without blocking and drops lines that do not fit, so that a client that does not
/// read the log cannot stop the server. The pipe is not set to non-blocking mode because other processes
/// share it. A writer thread would delay start and exit, and forking requires a single thread.
struct LossyWriter<F> {
    file: F,
    /// Whether the last line was written only in part.
    is_truncated: AtomicBool,
}

impl<F: AsFd> LossyWriter<F> {
    fn new(file: F) -> Self {
        Self {
            file,
            is_truncated: AtomicBool::new(false),
        }
    }

    /// Returns whether all bytes were written.
    fn try_write(&self, bytes: &[u8]) -> bool {
        let mut files = [PollFd::new(&self.file, PollFlags::OUT)];
        let is_writable = poll(&mut files, Some(&Timespec::default())).is_ok()
            && files[0].revents() == PollFlags::OUT;
        is_writable && rustix::io::write(&self.file, bytes) == Ok(bytes.len())
    }
}

impl<F: AsFd> Write for &LossyWriter<F> {
    /// Expects a whole line, as the subscriber passes it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let was_truncated = self.is_truncated.load(Ordering::Relaxed);
        let text = if was_truncated {
            Cow::Owned([b"\n", line].concat())
        } else {
            Cow::Borrowed(line)
        };
        let mut chunks = text.chunks(MAX_WRITE_BYTES);
        let failed_chunk = chunks.position(|chunk| !self.try_write(chunk));
        let is_truncated = failed_chunk.is_some_and(|index| index > 0 || was_truncated);
        self.is_truncated.store(is_truncated, Ordering::Relaxed);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_line_has_visible_characters_only() {
        let text = "ä\n\r\t\u{1b}[31m\u{9b}\u{202e}\u{2066}\u{2028}\u{200f}\\";
        let escaped = r"ä\n\r\t\u{1b}[31m\u{9b}\u{202e}\u{2066}\u{2028}\u{200f}\";
        assert_eq!(escape_line(text), escaped);
    }

    #[test]
    fn lines_are_dropped_while_the_pipe_is_full_and_the_next_one_starts_on_a_new_line() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let lossy = LossyWriter::new(writer);
        let long = "x".repeat(2 * MAX_WRITE_BYTES - 100) + "\n";
        for _ in 0..100 {
            (&lossy).write_all(long.as_bytes()).expect("no error");
        }
        let mut text = vec![0; 4 * MAX_WRITE_BYTES];
        reader.read_exact(&mut text).expect("lines");
        (&lossy).write_all(b"last\n").expect("no error");
        drop(lossy);
        reader.read_to_end(&mut text).expect("lines");
        let text = String::from_utf8(text).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let (last, others) = lines.split_last().expect("lines");
        let (truncated, complete) = others.split_last().expect("lines");
        assert_eq!(*last, "last");
        assert!(long.starts_with(truncated));
        assert!(!complete.is_empty() && complete.iter().all(|line| *line == long.trim_end()));
    }
}
