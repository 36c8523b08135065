//! A command to run, and the message for one that could not be started.

use std::borrow::Cow;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use crate::captured::CaptureOptions;
use crate::limits::ReachedLimit;

/// A command to run.
pub struct CommandSpec<'a> {
    /// The program and its arguments.
    pub argv: &'a [Cow<'a, str>],
    /// `NAME=VALUE` for each variable that is set in addition to the inherited ones.
    pub env: Vec<&'a str>,
    /// The directory in which it runs.
    pub working_dir: WorkingDirectory<'a>,
    /// Text for its standard input; `None` for an empty one.
    pub stdin: Option<&'a str>,
    /// Program and arguments of a cleanup command that runs if this one is ended early, for example to remove
    /// a container. Empty if no cleanup is needed.
    pub cleanup: Vec<&'a str>,
    /// A directory that is removed when the command has ended, even if the server was killed. Empty if there is
    /// none.
    pub temporary_directory: &'a str,
    /// How long it may run, and how long to wait if a limit of the system keeps it from being started.
    pub timeout: Duration,
    /// How its output is captured.
    pub capture: &'a CaptureOptions,
    /// Called with the last line of output whenever it changes, except for commands that end within a few
    /// milliseconds.
    pub on_output_line: Option<&'a (dyn Fn(&str) + Sync)>,
}

/// The directory in which a command runs.
#[derive(Clone, Copy, Debug)]
pub enum WorkingDirectory<'a> {
    /// The server's working directory.
    Inherited,
    /// The directory with this path.
    Path(&'a str),
    /// A directory that is already open. Its path is not resolved again.
    Opened {
        /// The open directory.
        directory: BorrowedFd<'a>,
        /// Its path, for messages.
        path: &'a str,
    },
}

impl<'a> WorkingDirectory<'a> {
    /// The path, unless the directory is inherited.
    pub(crate) fn path(self) -> Option<&'a str> {
        match self {
            Self::Inherited => None,
            Self::Path(path) | Self::Opened { path, .. } => Some(path),
        }
    }

    /// The open directory, if there is one.
    pub(crate) fn opened(self) -> Option<BorrowedFd<'a>> {
        match self {
            Self::Inherited | Self::Path(_) => None,
            Self::Opened { directory, .. } => Some(directory),
        }
    }
}

impl CommandSpec<'_> {
    /// Rejects NUL bytes, which end a string for the system.
    pub(crate) fn check_nul_bytes(&self) -> io::Result<()> {
        let invalid = |message| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        let path = self.working_dir.path();
        if path.is_some_and(|path| path.contains('\0')) {
            return invalid("the working directory contains a NUL byte");
        }
        if self.argv.iter().any(|argument| argument.contains('\0')) {
            return invalid("an argument contains a NUL byte, which the system does not allow");
        }
        if self.env.iter().any(|variable| variable.contains('\0')) {
            return invalid(
                "an environment variable contains a NUL byte, which the system does not allow",
            );
        }
        Ok(())
    }

    /// The message for a command that could not be started. The system's error does not name the program or
    /// directory.
    pub(crate) fn start_error(&self, error: &io::Error) -> String {
        let program = self.argv.first().map_or("", AsRef::as_ref);
        if error.kind() != io::ErrorKind::InvalidInput
            && let Some(path) = self.working_dir.path()
            && let Some(problem) = directory_problem(path)
        {
            return problem;
        }
        match error.kind() {
            io::ErrorKind::NotFound => format!("Command not found: {program}"),
            io::ErrorKind::PermissionDenied => format!("Permission denied: {program}"),
            io::ErrorKind::ArgumentListTooLong => {
                let bytes: usize = self.argv.iter().map(|argument| argument.len()).sum();
                format!(
                    "Cannot run {program}: its arguments are too long for the system ({bytes} bytes)"
                )
            }
            _ => match ReachedLimit::of(error) {
                Some(limit) => format!("Cannot run {program}: {limit}"),
                None => format!("Cannot run {program}: {error}"),
            },
        }
    }
}

/// Why a directory cannot be used as a working directory, or `None` if it can.
fn directory_problem(path: &str) -> Option<String> {
    let error = Path::new(path).join(".").metadata().err()?;
    Some(match error.kind() {
        io::ErrorKind::NotFound => format!("Working directory not found: {path}"),
        io::ErrorKind::NotADirectory => format!("Working directory is not a directory: {path}"),
        io::ErrorKind::PermissionDenied => format!("Permission denied: working directory {path}"),
        _ => format!("Cannot use the working directory {path}: {error}"),
    })
}
