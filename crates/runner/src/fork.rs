//! Forks this process.

use std::io;

use nix::unistd::{ForkResult, fork as nix_fork};
use rustix::process::Pid;

/// Returns the child's process id in the parent, and `None` in the child.
///
/// The process must have a single thread. This holds for the supervisor, which starts no threads and has no
/// asynchronous runtime. The server may have threads, so it does not fork.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    #[expect(
        unsafe_code,
        reason = "starting a program per worker takes ten times as long, which is noticeable with 200 calls at once"
    )]
    // SAFETY: only the forking thread exists in the child, so locks of other threads would never be released.
    // There are no other threads.
    let forked = unsafe { nix_fork() };
    match forked? {
        ForkResult::Parent { child } => Ok(Pid::from_raw(child.as_raw())),
        ForkResult::Child => Ok(None),
    }
}
