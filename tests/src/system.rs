//! Reads `/proc` and sends signals.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::process::{self, Command};
use std::thread;

/// A number from `/proc/PID/status`, such as the memory in kilobytes.
///
/// # Panics
/// There is no such process or field.
#[must_use]
pub fn process_status(process: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let mut lines = status.lines();
    let line = lines.find(|line| line.split(':').next() == Some(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a number").parse().expect("a number")
}

/// How many bytes a server has read so far. Only root can see it, so for other users it is 0.
///
/// # Panics
/// There is no such process.
#[must_use]
pub fn read_bytes(process: u32) -> u64 {
    let path = format!("/proc/{process}/io");
    let counters = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return 0,
        other => other.expect("a process"),
    };
    let mut lines = counters.lines();
    let count = lines.find_map(|line| line.strip_prefix("rchar: "));
    count.expect("a counter").parse().expect("a number")
}

/// The environment variable that names the test that started a process.
const MARK: &str = "STARTED_BY_TEST";

/// Marks a command and its children, so that other tests do not count them.
pub fn mark(command: &mut Command) -> &mut Command {
    command.env(MARK, current_test())
}

/// The id of the test process and the name of the test's thread, which is that of the test.
fn current_test() -> String {
    let thread = thread::current();
    format!("{}:{}", process::id(), thread.name().unwrap_or_default())
}

/// How many processes have this command line, without those of other tests.
#[must_use]
pub fn count_processes(words: &[impl AsRef<OsStr>]) -> usize {
    find_processes(words).len()
}

/// The processes that have this command line, without those of other tests.
#[must_use]
pub fn find_processes(words: &[impl AsRef<OsStr>]) -> Vec<u32> {
    let command_line: Vec<u8> = words
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
            (line == command_line && !belongs_to_another_test(process)).then_some(process)
        })
        .collect()
}

fn belongs_to_another_test(process: u32) -> bool {
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut variables = variables.split(|&byte| byte == 0);
    let mark = variables.find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?;
        value.strip_prefix(b"=")
    });
    mark.is_some_and(|mark| mark != current_test().as_bytes())
}

/// Sends a signal, whose name has no `SIG`.
///
/// # Panics
/// The signal cannot be sent.
pub fn send_signal(signal: &str, process: u32) {
    let mut command = Command::new("kill");
    let status = command
        .args([format!("-{signal}"), process.to_string()])
        .status();
    assert!(status.expect("it runs").success(), "{process}");
}

/// The descendants of a process, with the letters of their states.
///
/// # Panics
/// `/proc` cannot be read.
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
    let folder = format!("/proc/{process}/fd");
    if let Ok(files) = fs::read_dir(&folder) {
        return files.count();
    }
    // Only root can list the files of a server, but since Linux 6.2 everybody can see how many there are.
    let count = fs::metadata(folder).expect("a process").len();
    usize::try_from(count).expect("a number")
}

/// How many files a server has open, without the three that connect it with each of its descendants.
///
/// # Panics
/// There is no such process.
#[must_use]
pub fn count_files_beside_workers(server: u32) -> usize {
    count_open_files(server).saturating_sub(3 * descendants(server).len())
}

/// Files that a server keeps open for the next command: the ends of two pipes.
pub const PREPARED_PIPE_ENDS: usize = 4;

/// Whether a process has ended. A zombie counts as ended: `init` may take its time to reap an orphan.
#[must_use]
pub fn has_exited(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z "))
}
