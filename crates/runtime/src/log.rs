//! Logs go to standard error, and to a file if one is named; standard output is the protocol's.

use std::borrow::Cow;
use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::{Level, Metadata};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriterExt};
use tracing_subscriber::layer::SubscriberExt;

/// The variable that names a file for the log.
const LOG_FILE: &str = "CLIMAX_LOG_FILE";

/// How much is logged.
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

/// Starts to log. The file, if there is one, gets everything down to debug.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn start(level: LogLevel) -> Result<(), String> {
    let level = Level::from(level);
    let path = env::var_os(LOG_FILE).filter(|path| !path.is_empty());
    let file = path.map(|path| {
        let file = File::options().create(true).append(true).open(&path);
        file.map_err(|error| format!("{LOG_FILE}: cannot write `{}`: {error}", path.display()))
    });
    let stderr = Arc::new(LossyWriter::new(io::stderr())).with_max_level(level);
    let (max_level, writer) = match file.transpose()? {
        Some(file) => (Level::DEBUG, BoxMakeWriter::new(stderr.and(file))),
        None => (level, BoxMakeWriter::new(stderr)),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(max_level)
        .with_target(false)
        .with_writer(writer)
        // Such an error would be printed to standard error, which may block.
        .log_internal_errors(false)
        .finish()
        .with(filter_fn(is_logged));
    tracing::subscriber::set_global_default(subscriber).map_err(|error| error.to_string())
}

/// rmcp's spans and reports repeat what requests and responses say, down to whole outputs of commands. Only its
/// errors help a reader of the log.
fn is_logged(metadata: &Metadata<'_>) -> bool {
    let is_rmcp = metadata.target().starts_with("rmcp");
    !metadata.is_span() && (!is_rmcp || *metadata.level() == Level::ERROR)
}

/// Bytes that a pipe takes at once if it takes any.
const MAX_WRITE_BYTES: usize = 4096;

/// Writes lines to a pipe without blocking and drops what does not fit, so that a client that does not read
/// the log cannot stop the server. The file is shared with other processes, so it is not made non-blocking;
/// a thread that writes would delay the start and the exit, and forking requires a single thread.
struct LossyWriter<F> {
    file: F,
    /// The last line that was written lacks its end.
    is_cut: AtomicBool,
}

impl<F: AsFd> LossyWriter<F> {
    fn new(file: F) -> Self {
        Self {
            file,
            is_cut: AtomicBool::new(false),
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
    /// Expects a whole line, which is what the subscriber passes.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let was_cut = self.is_cut.load(Ordering::Relaxed);
        let text = if was_cut {
            Cow::Owned([b"\n", line].concat())
        } else {
            Cow::Borrowed(line)
        };
        let pieces = text.chunks(MAX_WRITE_BYTES);
        let failed = pieces.enumerate().find(|(_, piece)| !self.try_write(piece));
        let is_cut = failed.is_some_and(|(number, _)| number > 0 || was_cut);
        self.is_cut.store(is_cut, Ordering::Relaxed);
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
    fn a_full_pipe_drops_lines_and_the_next_line_stands_for_itself() {
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
        let (cut, whole) = others.split_last().expect("lines");
        assert_eq!(*last, "last");
        assert!(long.starts_with(cut));
        assert!(!whole.is_empty() && whole.iter().all(|line| *line == long.trim_end()));
    }
}
