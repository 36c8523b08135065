//! The nursery: a helper process from which keepers are forked. It is this program, started a second
//! time when the first command runs; a keeper forked from it costs a tenth of a program's start.

use std::env;
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, WaitOptions, getrlimit, setrlimit, setsid, waitpid};

use super::fork::fork;
use super::keeper::{Line, keep};
use super::wire::receive_with_files;

/// The first argument of a nursery; its second is the number of files that commands may open.
pub(super) const ARGUMENT: &str = "__nursery";

/// Whether this process was started as a nursery.
pub(crate) fn is_asked_for() -> bool {
    env::args_os().nth(1).is_some_and(|word| word == ARGUMENT)
}

/// Forks keepers until the server goes away, and ends when they all have.
pub(crate) fn main() -> ExitCode {
    match nurse() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the process that runs commands failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A keeper, and a pipe that it holds open as long as it lives.
struct Ward {
    process: Pid,
    lifeline: PipeReader,
}

fn nurse() -> io::Result<()> {
    // A session of its own: what a terminal sends to the server is not for commands, and commands
    // have no terminal to ask for a password.
    let _ = setsid();
    let open_files = env::args().nth(2).and_then(|number| number.parse().ok());
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // It stays open to the end, which the server thereby notices.
    let server = socket;
    let mut is_open = true;
    let mut wards: Vec<Ward> = Vec::new();
    while is_open || !wards.is_empty() {
        let files = is_open.then(|| server.as_fd()).into_iter();
        let files = files.chain(wards.iter().map(|ward| ward.lifeline.as_fd()));
        let mut files: Vec<_> = files
            .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN))
            .collect();
        match poll(&mut files, None) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let mut is_ready = files.iter().map(|file| !file.revents().is_empty());
        let is_asked = is_open && is_ready.next() == Some(true);
        let has_ended: Vec<bool> = is_ready.collect();
        drop(files);
        let mut has_ended = has_ended.into_iter();
        wards.retain(|ward| {
            let keep = has_ended.next() != Some(true);
            if !keep {
                let _ = waitpid(Some(ward.process), WaitOptions::empty());
            }
            keep
        });
        if !is_asked {
            continue;
        }
        let Some(line) = next_keeper(&server)? else {
            is_open = false;
            continue;
        };
        let (lifeline, end) = io::pipe()?;
        match fork() {
            Ok(Some(process)) => wards.push(Ward { process, lifeline }),
            Ok(None) => {
                drop((server, wards, lifeline));
                if let Some(limit) = open_files {
                    limit_open_files(limit);
                }
                let result = keep(&line);
                drop(end);
                return result;
            }
            // The server notices that its socket was closed.
            Err(error) => eprintln!("error: cannot fork: {error}"),
        }
    }
    Ok(())
}

/// What a new keeper is to have.
fn next_keeper(server: &UnixStream) -> io::Result<Option<Line>> {
    let (_, files) = receive_with_files(server, &mut [0])?;
    let files = <[OwnedFd; 3]>::try_from(files).ok();
    Ok(files.map(|[orders, reports, leash]| Line {
        orders: orders.into(),
        reports: reports.into(),
        leash: leash.into(),
    }))
}

/// The server may have raised its own limit; commands get what it was started with.
fn limit_open_files(current: u64) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = Some(current);
    let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
}
