//! Linux: the nearest subreaper adopts orphans, pidfds signal the exit of a process, and `/proc` lists all
//! processes.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command};

use rustix::net::RecvFlags;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, getpid, pidfd_open, set_child_subreaper,
    set_dumpable_behavior, set_parent_process_death_signal,
};

use super::{ProcessRow, descendants_of};

/// Received descriptors are close-on-exec.
pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;

/// Does nothing: received descriptors are close-on-exec already.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn set_close_on_exec(_: &[OwnedFd]) -> io::Result<()> {
    Ok(())
}

/// The program of this process, even if its file was replaced.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Starts a command in a directory that is open.
pub(crate) fn spawn_in_directory(
    command: &mut Command,
    directory: BorrowedFd<'_>,
) -> io::Result<Child> {
    // The child has a copy of the descriptor until it executes the program.
    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
    command.current_dir(path).spawn()
}

/// Makes this process not dumpable: its files in `/proc` belong to root, and only root can trace it. Forked
/// processes inherit this; executing a program resets it.
pub(crate) fn set_not_dumpable() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// A descriptor that is readable when a process has exited, or `None` before Linux 5.3.
pub(crate) fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether orphans are adopted by a process that calls [`adopt_orphans`].
pub(crate) const ADOPTS_ORPHANS: bool = true;

/// Makes this process the parent of descendants that lose theirs.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    // Any process id switches it on.
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Resumes this process, if it was stopped by a signal, when its parent exits. It then does what the exit
/// requires.
pub(crate) fn resume_when_parent_exits() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::CONT))?)
}

/// All descendants of this process. One that loses its parent meanwhile can be missed.
pub(crate) fn descendants() -> io::Result<Vec<Pid>> {
    // With hundreds of commands at once, reading the whole process table in each worker would take seconds.
    descendants_by_parent().or_else(|_| descendants_by_table())
}

/// The children of this process.
pub(crate) fn children() -> io::Result<Vec<Pid>> {
    let own = getpid();
    children_of(own).or_else(|_| {
        let rows = process_table()?.into_iter();
        let rows = rows.filter(|row| row.parent == own);
        Ok(rows.map(|row| row.pid).collect())
    })
}

/// Walks from parents to children. Fails if the kernel does not list the children of a process.
fn descendants_by_parent() -> io::Result<Vec<Pid>> {
    let mut found = children_of(getpid())?;
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        // It may have exited meanwhile.
        found.extend(children_of(pid).unwrap_or_default());
        next += 1;
    }
    Ok(found)
}

/// The children of all threads of a process. Fails if they are listed for none of the threads.
fn children_of(pid: Pid) -> io::Result<Vec<Pid>> {
    let mut children = Vec::new();
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // It may have exited meanwhile.
        if let Ok(line) = fs::read_to_string(thread?.path().join("children")) {
            let numbers = line.split_ascii_whitespace();
            children.extend(numbers.filter_map(|number| Pid::from_raw(number.parse().ok()?)));
            outcome = Ok(());
        }
    }
    outcome.map(|()| children)
}

/// Reads the whole process table.
fn descendants_by_table() -> io::Result<Vec<Pid>> {
    Ok(descendants_of(getpid(), &process_table()?))
}

fn process_table() -> io::Result<Vec<ProcessRow>> {
    let mut rows = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else {
            continue;
        };
        // It may have exited meanwhile. Its name need not be UTF-8.
        if let Ok(line) = fs::read(path.join("stat"))
            && let Some(parent) = parent_of(&line)
        {
            rows.push(ProcessRow { pid, parent });
        }
    }
    Ok(rows)
}

/// The line is `PID (NAME) STATE PARENT ...`, and the name can contain anything.
fn parent_of(line: &[u8]) -> Option<Pid> {
    let name_end = memchr::memrchr(b')', line)?;
    let rest = str::from_utf8(&line[name_end + 1..]).ok()?;
    let parent = rest.split_ascii_whitespace().nth(1)?;
    Pid::from_raw(parent.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walking_the_tree_and_reading_the_table_find_the_same_descendants() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 1401 & sleep 1402 & wait"])
            .spawn()
            .expect("it starts");
        let shell = i32::try_from(child.id()).expect("a number");
        let shell = Pid::from_raw(shell).expect("positive");
        // Other tests have children too.
        let of_shell = |found: Vec<Pid>| {
            let sleeps: Vec<Pid> = found
                .into_iter()
                .filter(|pid| {
                    let line = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
                    parent_of(&line) == Some(shell)
                })
                .collect();
            (sleeps.len() == 2).then_some(sleeps)
        };
        let mut found = loop {
            if let Some(found) = of_shell(descendants_by_table().expect("a table")) {
                break found;
            }
        };
        let mut by_parent = of_shell(descendants_by_parent().expect("children")).expect("both");
        for found in [&mut found, &mut by_parent] {
            found.sort_unstable_by_key(|pid| pid.as_raw_nonzero());
        }
        assert_eq!(by_parent, found);
        for pid in found {
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
        }
        child.wait().expect("it ends");
    }

    #[test]
    fn a_process_name_can_contain_anything() {
        let parent = Pid::from_raw(34);
        assert_eq!(parent_of(b"12 (a) S 1 (\xff) R 34 56 78 0 -1"), parent);
        assert_eq!(parent_of(b"2 (kthreadd) S 0 0 0 0"), None);
        assert_eq!(parent_of(b""), None);
    }
}
