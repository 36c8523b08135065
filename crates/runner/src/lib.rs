//! Runs commands: turns a command line into its output and exit status, and leaves no process behind.
//!
//! ```text
//! server ── supervisor ─┬─ worker ── command ── whatever the command starts
//!                       ├─ worker ── command
//!                       └─ worker (idle)
//! ```
//!
//! The server does not start commands itself. For the first command, a [`Runner`] starts the server's own
//! program a second time as the supervisor (see [`is_helper_process`]), which forks workers. A worker runs
//! one command after the other. On Linux it is a subreaper: it becomes the parent of every orphan among the
//! command's descendants, so it can find and end all of them, even after the server was killed.
//!
//! No shell is involved, each command has its own process group, and all descriptors of the server are
//! close-on-exec.
//!
//! | module | purpose |
//! |---|---|
//! | `command` | a command to run, and the error message if it cannot be started |
//! | `run` | runs one command from the server's side |
//! | `output`, `captured`, `last_line` | read pipes: the beginning and the end of the output, its last line |
//! | `store`, `stored_output` | files that hold output that is too long for a response |
//! | `private_files` | files that exist only during a call |
//! | `pool` | the supervisor's process, and idle workers |
//! | `connection` | the server's side of a worker |
//! | `adoption` | ends what the server adopts from a killed supervisor |
//! | `limits` | the limits of open files and processes |
//! | `protocol` | messages between server, supervisor and workers |
//! | `supervisor`, `fork` | the helper process that forks workers and adopts orphans |
//! | `worker`, `spawn` | a process that runs commands |
//! | `program` | finds the program that a command runs |
//! | `process_tree` | finds, waits for and ends the processes of a command |
//! | `platform` | the differences between Linux and macOS |

mod adoption;
mod captured;
mod command;
mod connection;
mod fork;
mod last_line;
mod limits;
mod output;
mod platform;
mod pool;
mod private_files;
mod process_tree;
mod program;
mod protocol;
mod run;
mod spawn;
mod store;
mod stored_output;
mod supervisor;
mod worker;

use nix::sys::signal::SigSet;

pub use captured::{CaptureOptions, CapturedOutput, CommandOutput, StoredSummary};
pub use command::{CommandSpec, WorkingDirectory};
pub use private_files::{CallDirectory, PrivateFiles};
pub use program::find_program;
pub use run::{Completion, Outcome, Runner, RunnerOptions};
pub use store::{OutputId, OutputStore, StoreOptions, StreamStore};
pub use stored_output::{OutputSummary, StoredOutput};
pub use supervisor::{helper_main, is_helper_process};

/// Keeps commands out of this process and of the helper processes that it starts: other processes of the same
/// user cannot open its files through `/proc`, read its variables or memory, or trace it, and commands do not
/// inherit files that this process's client left open. Commands themselves are ordinary processes, because
/// executing a program resets this. Call this first in `main`.
pub fn protect_process() {
    const FIRST_AFTER_STANDARD_STREAMS: i32 = 3;
    close_fds::set_fds_cloexec(FIRST_AFTER_STANDARD_STREAMS, &[]);
    // This fails only on systems that do not have it.
    let _ = platform::set_not_dumpable();
}

/// Unblocks all signals for this thread and the threads that it starts. The server inherits the signal mask
/// of its client, and commands would inherit it too. Call this at the start of `main`.
pub fn unblock_signals() {
    // This fails only for an invalid set.
    let _ = SigSet::empty().thread_set_mask();
}
