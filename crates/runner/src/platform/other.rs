//! Systems other than Linux, which means macOS. The init process adopts orphans, so an orphan that also left
//! its process group cannot be found.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::RecvFlags;
use rustix::process::{Pid, fchdir, getpid};

use super::{ProcessRow, descendants_of};

/// There is no flag that makes received descriptors close-on-exec.
pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();

/// Makes received descriptors close-on-exec.
pub(crate) fn set_close_on_exec(descriptors: &[OwnedFd]) -> io::Result<()> {
    for descriptor in descriptors {
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    }
    Ok(())
}

/// The program of this process.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Starts a command in a directory that is open. Changes the working directory of this process meanwhile.
#[cfg_attr(
    target_os = "linux",
    expect(dead_code, reason = "tests have several threads")
)]
pub(crate) fn spawn_in_directory(
    command: &mut Command,
    directory: BorrowedFd<'_>,
) -> io::Result<Child> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let before = openat(CWD, ".", flags, Mode::empty())?;
    fchdir(directory)?;
    let child = command.spawn();
    fchdir(before)?;
    child
}

/// Does nothing: this system has no `/proc`, and only root can trace a process without its consent.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn set_not_dumpable() -> io::Result<()> {
    Ok(())
}

/// This system has no descriptors for processes.
pub(crate) fn open_pidfd(_: Pid) -> Option<OwnedFd> {
    None
}

/// Whether orphans are adopted by a process that calls [`adopt_orphans`].
pub(crate) const ADOPTS_ORPHANS: bool = false;

/// Does nothing: this system has no subreapers.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Does nothing: this system has no signal for the exit of a parent.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn resume_when_parent_exits() -> io::Result<()> {
    Ok(())
}

/// Returns nothing, because no orphan becomes a child.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn children() -> io::Result<Vec<Pid>> {
    Ok(Vec::new())
}

/// All descendants of this process.
pub(crate) fn descendants() -> io::Result<Vec<Pid>> {
    let table = Command::new("ps").args(["-axo", "pid=,ppid="]).output()?;
    let table = String::from_utf8_lossy(&table.stdout);
    let rows = table.lines().filter_map(parse_row).collect::<Vec<_>>();
    Ok(descendants_of(getpid(), &rows))
}

fn parse_row(line: &str) -> Option<ProcessRow> {
    let mut fields = line.split_ascii_whitespace().map(str::parse);
    let pid = Pid::from_raw(fields.next()?.ok()?)?;
    let parent = Pid::from_raw(fields.next()?.ok()?)?;
    Some(ProcessRow { pid, parent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_child_is_among_the_descendants() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .spawn()
            .expect("started");
        let found = descendants().expect("a table");
        assert!(found.contains(&Pid::from_child(&child)), "{found:?}");
        drop(child.stdin.take());
        child.wait().expect("a child");
    }

    #[test]
    fn received_descriptors_are_close_on_exec() {
        let (reader, _writer) = io::pipe().expect("a pipe");
        let descriptor = OwnedFd::from(reader);
        fcntl_setfd(&descriptor, FdFlags::empty()).expect("set");
        set_close_on_exec(std::slice::from_ref(&descriptor)).expect("set");
        let flags = rustix::io::fcntl_getfd(&descriptor).expect("flags");
        assert_eq!(flags, FdFlags::CLOEXEC);
        assert!(own_program().expect("a path").is_file());
        const { assert!(!ADOPTS_ORPHANS) };
        adopt_orphans().expect("nothing to do");
        set_not_dumpable().expect("nothing to do");
        resume_when_parent_exits().expect("nothing to do");
        assert_eq!(children().expect("nothing to do"), []);
        assert_eq!(RECEIVE_FLAGS, RecvFlags::empty());
        assert!(open_pidfd(getpid()).is_none());
    }
}
