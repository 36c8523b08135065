//! The differences between Linux and macOS: who adopts orphans, how processes are found, and whether received
//! descriptors are close-on-exec.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

// Compiled on Linux too, for its tests.
#[cfg(any(test, not(target_os = "linux")))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

use rustix::process::Pid;

/// A row of the system's process table.
struct ProcessRow {
    pid: Pid,
    parent: Pid,
}

/// All descendants of a process.
fn descendants_of(ancestor: Pid, table: &[ProcessRow]) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for row in table.iter().filter(|row| row.parent == parent) {
            parents.push(row.pid);
            found.push(row.pid);
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
        let row = |child, parent| ProcessRow {
            pid: pid(child),
            parent: pid(parent),
        };
        let table = [row(5, 4), row(2, 1), row(4, 3), row(3, 9), row(7, 6)];
        assert_eq!(descendants_of(pid(9), &table), [3, 4, 5].map(pid));
    }
}
