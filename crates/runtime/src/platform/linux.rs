//! Linux: orphans come to the nearest subreaper, a process has a descriptor that tells its end, and
//! `/proc` lists all processes.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::event::PollFlags;
use rustix::fs::OFlags;
use rustix::net::RecvFlags;
use rustix::process::{Pid, getpid, set_child_subreaper};

use super::{Row, descendants_of};

/// The other end of a stream was closed, or half of it.
pub(crate) const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::RDHUP);

/// How a directory is opened that is only a place.
pub(crate) const PLACE: OFlags = OFlags::PATH;

/// Files that are received are not passed on to commands.
pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;

/// Nothing to do: they came with the flag.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn close_on_exec(_: &[OwnedFd]) -> io::Result<()> {
    Ok(())
}

/// This program, also when its file was replaced meanwhile.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Whether every orphan comes to the process that adopts.
pub(crate) const ADOPTS_ORPHANS: bool = true;

/// Makes this process the parent of descendants that lose theirs.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    // Any process stands for yes.
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// All that descends from this process. One that loses its parent meanwhile can be missed.
pub(crate) fn descendants() -> io::Result<Vec<Pid>> {
    // With hundreds of commands at once, it counts that each keeper looks at its own processes only.
    descendants_by_parent().or_else(|_| descendants_by_table())
}

/// The children of this process.
pub(crate) fn children() -> io::Result<Vec<Pid>> {
    let own = getpid();
    children_of(own).or_else(|_| {
        let rows = table()?.into_iter();
        let rows = rows.filter(|row| row.parent == own);
        Ok(rows.map(|row| row.process).collect())
    })
}

/// From parents to children. Fails where the system does not tell the children of a process.
fn descendants_by_parent() -> io::Result<Vec<Pid>> {
    let mut found = children_of(getpid())?;
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        // It may be gone by now.
        found.extend(children_of(process).unwrap_or_default());
        next += 1;
    }
    Ok(found)
}

/// Each thread has its own. Fails if none of them tells.
fn children_of(process: Pid) -> io::Result<Vec<Pid>> {
    let mut children = Vec::new();
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        // It may be gone by now.
        if let Ok(line) = fs::read_to_string(thread?.path().join("children")) {
            let numbers = line.split_ascii_whitespace();
            children.extend(numbers.filter_map(|number| Pid::from_raw(number.parse().ok()?)));
            outcome = Ok(());
        }
    }
    outcome.map(|()| children)
}

/// By a look at all processes that there are.
fn descendants_by_table() -> io::Result<Vec<Pid>> {
    Ok(descendants_of(getpid(), &table()?))
}

fn table() -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        let Some(process) = number.and_then(Pid::from_raw) else {
            continue;
        };
        // It may be gone by now. Names need not be UTF-8.
        if let Ok(line) = fs::read(path.join("stat"))
            && let Some(parent) = parent_of(&line)
        {
            rows.push(Row { process, parent });
        }
    }
    Ok(rows)
}

/// The line is `PID (NAME) STATE PARENT ...`, and a name can hold anything.
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
    fn both_ways_to_find_descendants_find_the_same() {
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
                .filter(|process| {
                    let line = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
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
            found.sort_by_key(|process| process.as_raw_nonzero());
        }
        assert_eq!(by_parent, found);
        for process in found {
            rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
        }
        child.wait().expect("it ends");
    }

    #[test]
    fn a_name_can_hold_anything() {
        let parent = Pid::from_raw(34);
        assert_eq!(parent_of(b"12 (a) S 1 (\xff) R 34 56 78 0 -1"), parent);
        assert_eq!(parent_of(b"2 (kthreadd) S 0 0 0 0"), None);
        assert_eq!(parent_of(b""), None);
    }
}
