//! The supervisor: a helper process that forks workers and adopts the processes that they leave behind. It is
//! the server's own program, started a second time when the first command runs.

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
use rustix::process::{Pid, Signal, WaitOptions, getsid, kill_process, setsid, waitpid};

use crate::fork::fork;
use crate::limits::OriginalFileLimit;
use crate::platform;
use crate::protocol::{RunReport, errno, receive_with_descriptors};
use crate::worker::{self, ServerConnection};

/// The first argument of the supervisor. The second is the limit of open files for commands, if
/// the server has raised its own.
pub(crate) const HELPER_ARGUMENT: &str = "__supervisor";

/// How often to check whether daemons have exited.
const REAP_INTERVAL: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// How often to resume workers while the supervisor waits for them to exit.
const RESUME_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// How long to wait for killed processes before checking them again.
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// How long to wait for processes that cannot be killed before other work goes on.
const KILL_TIMEOUT: Duration = Duration::from_millis(100);

/// Whether this process was started as a helper, so that `main` must call [`helper_main`] and nothing
/// else.
#[must_use]
pub fn is_helper_process() -> bool {
    let argument = env::args_os().nth(1);
    argument.is_some_and(|argument| argument == HELPER_ARGUMENT)
}

/// The `main` of a helper process. It returns when the server and all workers have exited.
#[must_use]
pub fn helper_main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the supervisor of commands failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A worker, from the supervisor's side.
struct WorkerProcess {
    pid: Pid,
    /// The worker holds the write end, so this is readable when the worker has exited.
    exit_pipe: PipeReader,
}

/// Forks workers until the server closes its socket, then waits for them to exit.
fn supervise() -> io::Result<()> {
    // In a separate session, commands get no signals from the server's terminal and cannot ask for a password
    // on it.
    let _ = setsid();
    platform::adopt_orphans()?;
    platform::resume_when_parent_exits()?;
    let file_limit = OriginalFileLimit::from_argument(env::args().nth(2).as_deref());
    // Stays open until this process exits, so that the server notices the exit.
    let server = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let mut is_open = true;
    let mut workers: Vec<WorkerProcess> = Vec::new();
    let mut daemon_sessions: Vec<Pid> = Vec::new();
    while is_open || !workers.is_empty() {
        let descriptors = is_open.then(|| server.as_fd()).into_iter();
        let descriptors = descriptors.chain(workers.iter().map(|worker| worker.exit_pipe.as_fd()));
        let mut descriptors: Vec<_> = descriptors
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        let timeout = match is_open {
            true if daemon_sessions.is_empty() => None,
            true => Some(REAP_INTERVAL),
            false => Some(RESUME_INTERVAL),
        };
        match poll(&mut descriptors, timeout.as_ref()) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let mut is_ready = descriptors
            .iter()
            .map(|descriptor| !descriptor.revents().is_empty());
        let has_request = is_open && is_ready.next() == Some(true);
        let has_exited: Vec<bool> = is_ready.collect();
        drop(descriptors);
        daemon_sessions = reap(&mut workers, &has_exited, &daemon_sessions);
        if !is_open {
            resume(&workers);
        }
        if !has_request {
            continue;
        }
        let connection = match next_request(&server)? {
            SupervisorRequest::SpawnWorker(connection) => connection,
            SupervisorRequest::Incomplete => continue,
            SupervisorRequest::Exit => {
                is_open = false;
                continue;
            }
        };
        match io::pipe().and_then(|exit_pipe| Ok((exit_pipe, fork()?))) {
            Ok(((exit_pipe, _), Some(pid))) => workers.push(WorkerProcess { pid, exit_pipe }),
            Ok(((exit_pipe, exit_pipe_writer), None)) => {
                drop((server, workers, exit_pipe));
                let result = worker::serve(&connection, file_limit);
                drop(exit_pipe_writer);
                return result;
            }
            // The server tries again if this is due to a limit.
            Err(error) => connection.report(RunReport::ForkFailed(errno(&error))),
        }
    }
    Ok(())
}

/// Removes the workers that have exited, and handles the orphans that this process has adopted from them. A
/// worker that exits normally leaves only daemons, which have their own session; these stay. A worker that
/// was killed leaves everything that its command started. All of that is killed, except for the known sessions of
/// daemons. Returns the sessions of the daemons that are left.
fn reap(
    workers: &mut Vec<WorkerProcess>,
    has_exited: &[bool],
    daemon_sessions: &[Pid],
) -> Vec<Pid> {
    let mut has_exited = has_exited.iter();
    let mut was_worker_killed = false;
    workers.retain(|worker| {
        let is_running = has_exited.next() != Some(&true);
        if !is_running {
            let exited = waitpid(Some(worker.pid), WaitOptions::empty());
            was_worker_killed |= matches!(exited, Ok(Some((_, status))) if status.signaled());
        }
        is_running
    });
    let own_session = getsid(None);
    let is_daemon = |session: Pid| {
        Ok(session) != own_session && (!was_worker_killed || daemon_sessions.contains(&session))
    };
    let start = Instant::now();
    loop {
        let mut sessions = Vec::new();
        let mut is_killing = false;
        for pid in adopted_orphans(workers) {
            match getsid(Some(pid)) {
                Ok(session) if is_daemon(session) => sessions.push(session),
                _ => {
                    let _ = kill_process(pid, Signal::KILL);
                    is_killing = true;
                }
            }
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        if !is_killing || start.elapsed() >= KILL_TIMEOUT {
            return sessions;
        }
        thread::sleep(KILL_INTERVAL);
    }
}

/// The children of this process that are not workers.
fn adopted_orphans(workers: &[WorkerProcess]) -> Vec<Pid> {
    let mut children = platform::children().unwrap_or_default();
    children.retain(|&child| workers.iter().all(|worker| worker.pid != child));
    children
}

/// Resumes workers that were stopped by a signal, so that they can end their commands. Has no effect on the
/// others.
fn resume(workers: &[WorkerProcess]) {
    for worker in workers {
        let _ = kill_process(worker.pid, Signal::CONT);
    }
}

/// A request from the server.
enum SupervisorRequest {
    /// Fork a worker that serves this connection.
    SpawnWorker(ServerConnection),
    /// The descriptors were lost because too many files are open. The server notices that its connection was
    /// closed before the worker was ready, and tries again.
    Incomplete,
    /// Exit after the workers have exited.
    Exit,
}

fn next_request(server: &UnixStream) -> io::Result<SupervisorRequest> {
    let (length, descriptors) = receive_with_descriptors(server, &mut [0])?;
    if length == 0 {
        return Ok(SupervisorRequest::Exit);
    }
    let descriptors = <[OwnedFd; 3]>::try_from(descriptors);
    let connection = descriptors.map(|[requests, reports, cancel]| ServerConnection {
        requests: requests.into(),
        reports: reports.into(),
        cancel: cancel.into(),
    });
    Ok(connection.map_or(
        SupervisorRequest::Incomplete,
        SupervisorRequest::SpawnWorker,
    ))
}
