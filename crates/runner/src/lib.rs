//! Runs commands: turns a command line into its output and exit status, and leaves no process behind.
//!
//! ```text
//! server ── supervisor ─┬─ worker ── command ── whatever the command starts
//!                       ├─ worker ── command
//!                       └─ worker (idle)
//! ```
//!
//! The server does not start commands itself. For the first command, a [`Runner`] starts the server's
//! own program a second time as the supervisor (see [`is_helper_process`]), which forks workers. A
//! worker runs one command after the other. On Linux it is a subreaper: it becomes the parent of every
//! orphan among the command's descendants, so it can find and end all of them. It outlives the server,
//! so this also holds when the server is killed.
//!
//! There is no shell, a command has a process group of its own, and every descriptor of the server is
//! close-on-exec.
//!
//! | module | purpose |
//! |---|---|
//! | `command` | what to run, and why it could not be started |
//! | `run` | runs one command from the server's side |
//! | `output`, `captured`, `last_line` | pipes to bounded text |
//! | `pool` | idle workers, and the server's end of their connections |
//! | `protocol` | messages between server, supervisor and workers |
//! | `supervisor`, `fork` | the helper process that forks workers and adopts what they leave |
//! | `worker`, `spawn` | a process that runs commands |
//! | `process_tree` | finds, waits for and ends the processes of a command |
//! | `platform` | what differs between Linux and macOS |

mod captured;
mod command;
mod fork;
mod last_line;
mod output;
mod platform;
mod pool;
mod process_tree;
mod protocol;
mod run;
mod spawn;
mod supervisor;
mod worker;

use nix::sys::signal::SigSet;

pub use captured::CapturedOutput;
pub use command::{CommandSpec, WorkingDirectory};
pub use run::{Completion, Outcome, Runner, RunnerOptions};
pub use supervisor::{helper_main, is_helper_process};

/// Unblocks all signals for this thread and those that it starts. A client may block some of them while
/// it starts the server, and a blocked signal stays blocked in every command. Call it first in `main`.
pub fn unblock_signals() {
    // It fails for an invalid set only.
    let _ = SigSet::empty().thread_set_mask();
}
