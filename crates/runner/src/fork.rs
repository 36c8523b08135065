//! Forks this process.

use std::io;

use nix::unistd::{ForkResult, fork as nix_fork};
use rustix::process::Pid;

/// Returns the child's process id in the parent, and `None` in the child.
///
/// The process must have a single thread. The supervisor has: it starts none and has no asynchronous
/// runtime. The server, which may have threads, does not fork.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    #[expect(
        unsafe_code,
        reason = "starting a program for each worker takes ten times as long, which 200 calls at once notice"
    )]
    // SAFETY: the child has only the thread that forked, and locks that other threads held are never
    // released. With a single thread there are none, and the child may do anything.
    let forked = unsafe { nix_fork() };
    match forked? {
        ForkResult::Parent { child } => Ok(Pid::from_raw(child.as_raw())),
        ForkResult::Child => Ok(None),
    }
}
