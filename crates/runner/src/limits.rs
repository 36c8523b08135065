//! The limits of open files and processes: how many commands they allow, which of them commands get, and the
//! messages for errors that they cause.

use std::fmt;
use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

/// What a running command takes from the server's open files: a connection to its worker (3), two pipes, a
/// third one if it has standard input, and its directory. An idle worker takes only its connection.
const FILES_PER_COMMAND: u64 = 3 + 2 + 1 + 1;

/// Open files of the rest of the server: standard streams, event loop, log, supervisor, prepared pipes, and
/// what the start of a command takes in addition.
const SERVER_FILES: u64 = 28;

/// One file in this many of the limit of open files is for stored output.
const STORED_FILES_DIVISOR: u64 = 16;

/// The most files for stored output.
const MAX_STORED_FILES: u64 = 256;

/// A worker, its command, and one process that the command starts.
const PROCESSES_PER_COMMAND: u64 = 3;

/// The server and the supervisor.
const SERVER_PROCESSES: u64 = 2;

/// The limit of open files to set if there is no hard limit. macOS does not accept a higher one.
const DEFAULT_OPEN_FILES: u64 = 10_240;

/// The lowest limit of open files that commands can get. The system starts a program only if its standard
/// streams are below the limit, and a worker has other files open.
const MIN_COMMAND_FILES: u64 = 24;

/// The soft limit of open files that the server was started with. Commands get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OriginalFileLimit(Option<u64>);

impl OriginalFileLimit {
    /// Raises the soft limit to the hard limit, once per process.
    pub(crate) fn raise() -> Self {
        static ORIGINAL: OnceLock<Option<u64>> = OnceLock::new();
        Self(*ORIGINAL.get_or_init(|| {
            let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
            let raised = maximum.unwrap_or(DEFAULT_OPEN_FILES);
            let original = current.filter(|&current| current < raised)?;
            let current = Some(raised);
            setrlimit(Resource::Nofile, Rlimit { current, maximum }).ok()?;
            Some(original)
        }))
    }

    /// The inverse of [`to_argument`](Self::to_argument). Without an argument, nothing was raised.
    pub(crate) fn from_argument(argument: Option<&str>) -> Self {
        Self(argument.and_then(|number| number.parse().ok()))
    }

    /// Text that passes the limit to another process, if it was raised.
    pub(crate) fn to_argument(self) -> Option<String> {
        Some(self.0?.to_string())
    }

    /// Starts a process that gets the original limit. The limit of this process is lowered only meanwhile,
    /// because a worker may need more open files than its commands.
    pub(crate) fn spawn<T>(self, spawn: impl FnOnce() -> T) -> T {
        let Some(original) = self.0 else {
            return spawn();
        };
        let raised = getrlimit(Resource::Nofile);
        let lowered = Rlimit {
            current: Some(original.max(MIN_COMMAND_FILES)),
            maximum: raised.maximum,
        };
        let _ = setrlimit(Resource::Nofile, lowered);
        let result = spawn();
        let _ = setrlimit(Resource::Nofile, raised);
        result
    }
}

/// How many commands the limits allow to run at once, at least one.
pub(crate) fn max_commands() -> usize {
    let files = getrlimit(Resource::Nofile).current;
    commands_within(files, process_limit())
}

/// How many files there may be for stored output.
pub(crate) fn max_stored_files() -> usize {
    let files = getrlimit(Resource::Nofile).current;
    let max_files = files.map_or(MAX_STORED_FILES, stored_files_within);
    usize::try_from(max_files).unwrap_or(usize::MAX)
}

fn stored_files_within(limit: u64) -> u64 {
    (limit / STORED_FILES_DIVISOR).min(MAX_STORED_FILES)
}

fn commands_within(files: Option<u64>, processes: Option<u64>) -> usize {
    let by_files = files.map(|limit| {
        let other_files = SERVER_FILES + stored_files_within(limit);
        limit.saturating_sub(other_files) / FILES_PER_COMMAND
    });
    let by_processes =
        processes.map(|limit| limit.saturating_sub(SERVER_PROCESSES) / PROCESSES_PER_COMMAND);
    let commands = by_files.into_iter().chain(by_processes).min();
    commands.map_or(usize::MAX, |commands| {
        usize::try_from(commands).unwrap_or(usize::MAX).max(1)
    })
}

/// The limit of processes of this user, if there is one. Linux does not apply it to root.
fn process_limit() -> Option<u64> {
    if getuid().is_root() {
        return None;
    }
    getrlimit(Resource::Nproc).current
}

/// A limit that keeps a command from being started. The command can be started later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReachedLimit {
    /// Open files of a process.
    OpenFiles,
    /// Open files of the whole system.
    SystemOpenFiles,
    /// Processes of the user, of a container or of the whole system.
    Processes,
    /// Memory.
    Memory,
}

impl ReachedLimit {
    /// The limit that caused an error, if a limit did.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            // Linux also limits how many descriptors of a user are in messages, by the limit of open files.
            Errno::MFILE | Errno::TOOMANYREFS => Some(Self::OpenFiles),
            Errno::NFILE => Some(Self::SystemOpenFiles),
            Errno::AGAIN => Some(Self::Processes),
            Errno::NOMEM => Some(Self::Memory),
            _ => None,
        }
    }
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenFiles => match getrlimit(Resource::Nofile).current {
                Some(limit) => write!(
                    formatter,
                    "the limit of open files (ulimit -n {limit}) is reached"
                ),
                None => formatter.write_str("the limit of open files is reached"),
            },
            Self::SystemOpenFiles => {
                formatter.write_str("the system's limit of open files is reached")
            }
            Self::Processes => match process_limit() {
                Some(limit) => write!(
                    formatter,
                    "the limit of processes (ulimit -u {limit}, or that of the container) is reached"
                ),
                None => formatter
                    .write_str("the limit of processes of the container or system is reached"),
            },
            Self::Memory => formatter.write_str("there is not enough memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_limit_decides_how_many_commands_may_run() {
        assert_eq!(commands_within(None, None), usize::MAX);
        assert_eq!(commands_within(Some(64), None), 4);
        assert_eq!(commands_within(Some(256), None), 30);
        assert_eq!(commands_within(Some(256), Some(60)), 19);
        assert_eq!(commands_within(Some(64), Some(60)), 4);
        assert_eq!(commands_within(Some(3), Some(1)), 1);
    }

    #[test]
    fn only_errors_that_can_pass_are_reached_limits() {
        let of = |errno: Errno| ReachedLimit::of(&errno.into());
        assert_eq!(of(Errno::MFILE), Some(ReachedLimit::OpenFiles));
        assert_eq!(of(Errno::TOOMANYREFS), Some(ReachedLimit::OpenFiles));
        assert_eq!(of(Errno::NFILE), Some(ReachedLimit::SystemOpenFiles));
        assert_eq!(of(Errno::AGAIN), Some(ReachedLimit::Processes));
        assert_eq!(of(Errno::NOMEM), Some(ReachedLimit::Memory));
        assert_eq!(of(Errno::NOENT), None);
        assert_eq!(ReachedLimit::of(&io::Error::other("no errno")), None);
    }

    #[test]
    fn the_original_limit_is_passed_as_an_argument() {
        for limit in [None, Some(256)] {
            let limit = OriginalFileLimit(limit);
            let argument = limit.to_argument();
            assert_eq!(OriginalFileLimit::from_argument(argument.as_deref()), limit);
        }
    }
}
