//! What the system knows about processes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::process::{self, Command};
use std::thread;

/// A number out of what the system tells about a process, such as its memory in kilobytes.
///
/// # Panics
/// There is no such process or number.
#[must_use]
pub fn process_status(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let mut lines = status.lines();
    let line = lines.find(|line| line.split(':').next() == Some(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a number").parse().expect("a number")
}

/// How many bytes a process has read so far.
///
/// # Panics
/// There is no such process.
#[must_use]
pub fn read_bytes(process: u32) -> u64 {
    let counters = fs::read_to_string(format!("/proc/{process}/io")).expect("a process");
    let mut lines = counters.lines();
    let count = lines.find_map(|line| line.strip_prefix("rchar: "));
    count.expect("a counter").parse().expect("a number")
}

/// The variable that tells which test started a process.
const MARK: &str = "STARTED_BY_TEST";

/// Marks what a command starts, so that other tests leave it out of their counts.
pub fn mark(command: &mut Command) -> &mut Command {
    command.env(MARK, current_test())
}

/// The current test: the process of the test binary and the test's thread, which has the test's name.
fn current_test() -> String {
    let thread = thread::current();
    format!("{}:{}", process::id(), thread.name().unwrap_or_default())
}

/// How many processes have these words as their command line.
#[must_use]
pub fn count_processes(words: &[impl AsRef<OsStr>]) -> usize {
    find_processes(words).len()
}

/// The processes that have these words as their command line, but for those with another test's mark.
#[must_use]
pub fn find_processes(words: &[impl AsRef<OsStr>]) -> Vec<u32> {
    let wanted: Vec<u8> = words
        .iter()
        .flat_map(|word| [word.as_ref().as_encoded_bytes(), &[0]].concat())
        .collect();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let process = path.file_name()?.to_str()?.parse().ok()?;
            let line = fs::read(path.join("cmdline")).ok()?;
            (line == wanted && !is_of_another_test(process)).then_some(process)
        })
        .collect()
}

fn is_of_another_test(process: u32) -> bool {
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut variables = variables.split(|&byte| byte == 0);
    let mark = variables.find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?;
        value.strip_prefix(b"=")
    });
    mark.is_some_and(|mark| mark != current_test().as_bytes())
}

/// Sends a signal, named as `kill` names it.
///
/// # Panics
/// It cannot be sent.
pub fn send_signal(signal: &str, process: u32) {
    let mut command = Command::new("kill");
    let status = command
        .args([format!("-{signal}"), process.to_string()])
        .status();
    assert!(status.expect("it runs").success(), "{process}");
}

/// The processes that descend from one, with the letter of their state.
///
/// # Panics
/// There is no table of processes.
#[must_use]
pub fn descendants(ancestor: u32) -> HashMap<u32, char> {
    let mut rows = Vec::new();
    for entry in fs::read_dir("/proc")
        .expect("a table")
        .filter_map(Result::ok)
    {
        if let Ok(stat) = fs::read_to_string(entry.path().join("stat"))
            && let Some((before, after)) = stat.rsplit_once(") ")
            && let Some((process, _)) = before.split_once(' ')
        {
            let mut fields = after.split(' ');
            let state = fields.next().and_then(|state| state.chars().next());
            let parent = fields.next().and_then(|parent| parent.parse::<u32>().ok());
            rows.push((process.parse::<u32>().expect("a number"), parent, state));
        }
    }
    let mut found = HashMap::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for (process, _, state) in rows.iter().filter(|row| row.1 == Some(parent)) {
            found.insert(*process, state.unwrap_or('?'));
            parents.push(*process);
        }
    }
    found
}

/// How many files a process has open.
///
/// # Panics
/// There is no such process.
#[must_use]
pub fn count_open_files(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd"))
        .expect("a process")
        .count()
}

/// How many files a server has open beside the three that join it with each of its helpers.
///
/// # Panics
/// There is no such server.
#[must_use]
pub fn count_files_beside_workers(server: u32) -> usize {
    count_open_files(server).saturating_sub(3 * descendants(server).len())
}

/// The ends of the two pipes that a server makes ahead, for the next command.
pub const PREPARED_PIPE_ENDS: usize = 4;

/// Whether a process has ended. When nobody is left to wait for it, the first process of all does
/// in its own time.
#[must_use]
pub fn has_exited(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z "))
}
