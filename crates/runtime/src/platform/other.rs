//! Systems without Linux's means, that is macOS. Orphans go to the first process of all, so one that
//! also left its group is not found again.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::event::PollFlags;
use rustix::fs::{CWD, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, fchdir, getpid};

use super::{Place, Program, Row, Started, descendants_of, open_directory};

/// The other end of a stream was closed.
pub(crate) const CLOSED: PollFlags = PollFlags::HUP;

/// How a directory is opened that is only a place.
pub(crate) const PLACE: OFlags = OFlags::RDONLY;

/// None that would help.
pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();

/// Files that were received are not passed on to commands.
pub(crate) fn close_on_exec(files: &[OwnedFd]) -> io::Result<()> {
    for file in files {
        fcntl_setfd(file, FdFlags::CLOEXEC)?;
    }
    Ok(())
}

/// This program.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Whether every orphan comes to the process that adopts.
pub(crate) const ADOPTS_ORPHANS: bool = false;

/// Not possible here.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Nothing, because no orphan becomes a child.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn children() -> io::Result<Vec<Pid>> {
    Ok(Vec::new())
}

/// Starts programs.
pub(crate) struct Starter;

impl Starter {
    /// A program gets handled signals as they are by default, without being told.
    pub(crate) fn new(_: &'static [Signal]) -> Self {
        Self
    }

    /// Starts a program as the leader of a new group of processes. This process must have one thread,
    /// because it goes itself to a directory that was opened.
    #[expect(clippy::unused_self, reason = "elsewhere it has something")]
    pub(crate) fn start(&mut self, program: &Program<'_>) -> io::Result<Started> {
        let mut words = program.words.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        let [stdin, stdout, stderr] = program.streams.map(|stream| match stream {
            Some(stream) => stream.try_clone_to_owned().map(Stdio::from),
            None => Ok(Stdio::inherit()),
        });
        command
            .args(words)
            .envs(program.env.iter().filter_map(|pair| pair.split_once('=')))
            .stdin(stdin?)
            .stdout(stdout?)
            .stderr(stderr?)
            .process_group(0);
        let child = match program.place {
            Place::Here => command.spawn(),
            Place::Named(directory) => command.current_dir(directory).spawn(),
            Place::Opened(directory) => {
                let here = open_directory(CWD, ".")?;
                fchdir(directory)?;
                let child = command.spawn();
                fchdir(here)?;
                child
            }
        };
        Ok(Started {
            process: Pid::from_child(&child?),
            end: None,
        })
    }
}

/// All that descends from this process.
pub(crate) fn descendants() -> io::Result<Vec<Pid>> {
    let table = Command::new("ps").args(["-axo", "pid=,ppid="]).output()?;
    let table = String::from_utf8_lossy(&table.stdout);
    let rows = table.lines().filter_map(row).collect::<Vec<_>>();
    Ok(descendants_of(getpid(), &rows))
}

fn row(line: &str) -> Option<Row> {
    let mut fields = line.split_ascii_whitespace().map(str::parse);
    let process = Pid::from_raw(fields.next()?.ok()?)?;
    let parent = Pid::from_raw(fields.next()?.ok()?)?;
    Some(Row { process, parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found() {
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
    fn received_files_are_not_passed_on() {
        let (reader, _writer) = io::pipe().expect("a pipe");
        let file = OwnedFd::from(reader);
        fcntl_setfd(&file, FdFlags::empty()).expect("set");
        close_on_exec(std::slice::from_ref(&file)).expect("set");
        let flags = rustix::io::fcntl_getfd(&file).expect("flags");
        assert_eq!(flags, FdFlags::CLOEXEC);
        assert!(own_program().expect("a path").is_file());
        const { assert!(!ADOPTS_ORPHANS) };
        adopt_orphans().expect("nothing to do");
        assert_eq!(children().expect("nothing to do"), []);
        assert_eq!(RECEIVE_FLAGS, RecvFlags::empty());
        assert_eq!(CLOSED, PollFlags::HUP);
        assert_eq!(PLACE, OFlags::RDONLY);
    }
}
