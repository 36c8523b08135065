//! Logs go to standard error, and to a file if one is named; standard output is the protocol's.
//!
//! Few lines are logged, and none before the first request, so this does without what a subscriber
//! for everybody has to prepare.

use std::env;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write};

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::moment::Moment;

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
    let path = env::var_os(LOG_FILE).filter(|path| !path.is_empty());
    let file = path.map(|path| {
        let file = File::options().create(true).append(true).open(&path);
        file.map_err(|error| format!("{LOG_FILE}: cannot write `{}`: {error}", path.display()))
    });
    let log = Log {
        level: level.into(),
        file: file.transpose()?,
    };
    tracing::subscriber::set_global_default(log).map_err(|error| error.to_string())
}

/// Writes a line for each event. What it happened within is not told.
struct Log {
    /// What goes to standard error.
    level: Level,
    file: Option<File>,
}

impl Log {
    fn max_level(&self) -> Level {
        if self.file.is_some() {
            Level::DEBUG
        } else {
            self.level
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.max_level()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.max_level().into())
    }

    fn event(&self, event: &Event<'_>) {
        let level = *event.metadata().level();
        let mut line = Line(String::new());
        let _ = write!(line.0, "{} {level:>5}", Moment::now());
        event.record(&mut line);
        line.0.push('\n');
        if level <= self.level {
            write_to_stderr(line.0.as_bytes());
        }
        if let Some(mut file) = self.file.as_ref() {
            // There is nobody to tell.
            let _ = file.write_all(line.0.as_bytes());
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A line of the log: the message, and fields by their names.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

/// A pipe that can be written at all has room for so much.
const AT_ONCE: usize = 4096;

/// Writes for a program that has better things to do than to wait for whoever reads it, or does not:
/// what does not fit is lost.
fn write_to_stderr(bytes: &[u8]) {
    let stderr = io::stderr();
    for piece in bytes.chunks(AT_ONCE) {
        let mut files = [PollFd::new(&stderr, PollFlags::OUT)];
        let is_ready = poll(&mut files, Some(&Timespec::default())).is_ok()
            && files[0].revents() == PollFlags::OUT;
        if is_ready {
            let _ = rustix::io::write(&stderr, piece);
        }
    }
}
