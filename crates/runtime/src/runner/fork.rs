//! Splits this process in two.

use std::io;

use rustix::process::Pid;

/// Returns the child to the parent, and nothing to the child.
///
/// The process must have one thread only. That is so in the nursery, which starts none and has no
/// asynchronous runtime. The server, which may have threads, does not fork.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    #[expect(
        unsafe_code,
        reason = "a keeper must be there before its command, and no crate has a safe fork"
    )]
    // SAFETY: after a fork, the child has only the thread that forked, and locks that other threads
    // held are never released. With one thread there are none, and the child may do anything.
    let process = unsafe { libc::fork() };
    match process {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}
