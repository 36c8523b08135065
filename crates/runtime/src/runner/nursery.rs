//! The nursery: a helper process from which keepers are forked. It is this program, started a second
//! time when the first command runs; a keeper forked from it costs a tenth of a program's start.

use std::env;
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, getsid, kill_process, setrlimit, setsid,
    waitpid,
};

use super::fork::fork;
use super::keeper::{Line, keep};
use super::wire::receive_with_files;
use crate::platform;

/// The first argument of a nursery; its second is the number of files that commands may open.
pub(super) const ARGUMENT: &str = "__nursery";

/// How often to look whether daemons have ended, of which nobody tells.
const NOW_AND_THEN: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// How often to look after keepers that are to end.
const SOON: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// How long processes take to die.
const A_MOMENT: Duration = Duration::from_millis(2);

/// When to leave those that cannot for the next look.
const GIVE_UP: Duration = Duration::from_millis(100);

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
    platform::adopt_orphans()?;
    let open_files = env::args().nth(2).and_then(|number| number.parse().ok());
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // It stays open to the end, which the server thereby notices.
    let server = socket;
    let mut is_open = true;
    let mut wards: Vec<Ward> = Vec::new();
    let mut daemons: Vec<Pid> = Vec::new();
    while is_open || !wards.is_empty() {
        let files = is_open.then(|| server.as_fd()).into_iter();
        let files = files.chain(wards.iter().map(|ward| ward.lifeline.as_fd()));
        let mut files: Vec<_> = files
            .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN))
            .collect();
        let time = match is_open {
            true if daemons.is_empty() => None,
            true => Some(NOW_AND_THEN),
            false => Some(SOON),
        };
        match poll(&mut files, time.as_ref()) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let mut is_ready = files.iter().map(|file| !file.revents().is_empty());
        let is_asked = is_open && is_ready.next() == Some(true);
        let has_ended: Vec<bool> = is_ready.collect();
        drop(files);
        daemons = watch(&mut wards, &has_ended);
        if !is_open {
            go_on(&wards);
        }
        if !is_asked {
            continue;
        }
        let line = match next_request(&server)? {
            Request::Keeper(line) => line,
            Request::Look => {
                go_on(&wards);
                continue;
            }
            Request::End => {
                is_open = false;
                continue;
            }
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

/// Forgets the keepers that have ended. What they leave comes here, and is returned if it may stay: a keeper
/// that goes in order leaves only what made a session of its own. Of one that was killed there may be more,
/// which is killed too.
fn watch(wards: &mut Vec<Ward>, has_ended: &[bool]) -> Vec<Pid> {
    let mut has_ended = has_ended.iter();
    wards.retain(|ward| {
        let keep = has_ended.next() != Some(&true);
        if !keep {
            let _ = waitpid(Some(ward.process), WaitOptions::empty());
        }
        keep
    });
    let session = getsid(None);
    let start = Instant::now();
    loop {
        let mut adopted = adopted(wards);
        let is_left = |&process: &Pid| getsid(Some(process)) == session;
        let left: Vec<Pid> = adopted.iter().copied().filter(is_left).collect();
        for &process in &left {
            let _ = kill_process(process, Signal::KILL);
        }
        if !left.is_empty() {
            thread::sleep(A_MOMENT);
        }
        // Those that have ended are waited for.
        adopted.retain(|&process| matches!(waitpid(Some(process), WaitOptions::NOHANG), Ok(None)));
        if left.is_empty() || start.elapsed() >= GIVE_UP {
            return adopted;
        }
    }
}

/// The processes that have become this one's children by losing their parent.
fn adopted(wards: &[Ward]) -> Vec<Pid> {
    let mut children = platform::children().unwrap_or_default();
    children.retain(|&child| wards.iter().all(|ward| ward.process != child));
    children
}

/// A keeper that was stopped cannot end what it keeps unless it goes on. The others do not mind.
fn go_on(wards: &[Ward]) {
    for ward in wards {
        let _ = kill_process(ward.process, Signal::CONT);
    }
}

/// What the server wants.
enum Request {
    /// A new keeper, with this line.
    Keeper(Line),
    /// A look after the keepers: one does not do what it is told.
    Look,
    /// Nothing more.
    End,
}

fn next_request(server: &UnixStream) -> io::Result<Request> {
    let (length, files) = receive_with_files(server, &mut [0])?;
    if length == 0 {
        return Ok(Request::End);
    }
    // Files are lost on the way where too many are open.
    let line = <[OwnedFd; 3]>::try_from(files).map(|[orders, reports, leash]| Line {
        orders: orders.into(),
        reports: reports.into(),
        leash: leash.into(),
    });
    Ok(line.map_or(Request::Look, Request::Keeper))
}

/// The server may have raised its own limit; commands get what it was started with.
fn limit_open_files(current: u64) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = Some(current);
    let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
}
