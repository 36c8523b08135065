//! Logs go to standard error, and to a file if one is named; standard output is the protocol's.
//!
//! Few lines are logged, and none before the first request, so this does without what a subscriber
//! for everybody has to prepare.

use std::env;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

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
        let _ = write!(line.0, "{} {level:>5}", Time::now());
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

/// A moment, as RFC 3339 writes it.
struct Time {
    seconds: u64,
    microseconds: u32,
}

impl Time {
    fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            seconds: since.as_secs(),
            microseconds: since.subsec_micros(),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds / 86400, self.seconds % 86400);
        // Years begin in March here, so that the day that may be missing is the last. The first one
        // began 719468 days before 1970, and 400 years have 146097 days.
        let days = days + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        // Five months from March have 153 days, and so have the next five.
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let year = year + 400 * era + u64::from(month >= 10);
        let month = if month < 10 { month + 3 } else { month - 9 };
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{:06}Z",
            second % 60,
            self.microseconds
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_by_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000007Z"),
            (951_782_399, "2000-02-28T23:59:59.000007Z"),
            (951_782_400, "2000-02-29T00:00:00.000007Z"),
            (951_868_800, "2000-03-01T00:00:00.000007Z"),
            (1_767_225_599, "2025-12-31T23:59:59.000007Z"),
            (1_794_828_083, "2026-11-16T11:21:23.000007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000007Z"),
        ] {
            let time = Time {
                seconds,
                microseconds: 7,
            };
            assert_eq!(time.to_string(), expected);
        }
    }
}
