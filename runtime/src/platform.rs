//! What differs between systems: whose children orphans become, how processes are found, and how
//! streams tell their end.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

// On Linux it is compiled for its tests.
#[cfg(any(test, not(target_os = "linux")))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};
use rustix::process::Pid;

/// Opens a directory as a place to be in, which needs no permission to read it where the system can do
/// without. A relative path counts from another directory.
pub(crate) fn open_directory(from: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let flags = PLACE | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(from, path, flags, Mode::empty())?)
}

/// A row of the system's table of processes.
struct Row {
    process: Pid,
    parent: Pid,
}

/// The processes that have this ancestor.
fn descendants_of(ancestor: Pid, rows: &[Row]) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for row in rows.iter().filter(|row| row.parent == parent) {
            parents.push(row.process);
            found.push(row.process);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).expect("positive")
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_others_are_not() {
        let row = |process, parent| Row {
            process: pid(process),
            parent: pid(parent),
        };
        let rows = [row(5, 4), row(2, 1), row(4, 3), row(3, 9), row(7, 6)];
        assert_eq!(descendants_of(pid(9), &rows), [3, 4, 5].map(pid));
    }
}
