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

/// All that descends from this process.
pub(crate) fn descendants() -> io::Result<Vec<Pid>> {
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
    Ok(descendants_of(getpid(), &rows))
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
    fn a_name_can_hold_anything() {
        let parent = Pid::from_raw(34);
        assert_eq!(parent_of(b"12 (a) S 1 (\xff) R 34 56 78 0 -1"), parent);
        assert_eq!(parent_of(b"2 (kthreadd) S 0 0 0 0"), None);
        assert_eq!(parent_of(b""), None);
    }
}
