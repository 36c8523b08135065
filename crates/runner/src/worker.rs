//! A worker: a small process that runs one command at a time and owns every process that the command starts.
//! It is the parent of the command and of every orphan among the command's descendants. If the server dies,
//! it ends them.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, getsid};
use signal_hook::SigId;

use crate::command::WorkingDirectory;
use crate::limits::{OriginalFileLimit, ReachedLimit};
use crate::platform;
use crate::process_tree::{KillScope, ProcessTree};
use crate::protocol::{RunReport, RunRequest, errno};
use crate::spawn::{SpawnOptions, SpawnedProcess, program_command, spawn};

/// The signals that ask a worker to exit.
const EXIT_SIGNALS: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

/// Most commands exit within this time. Until then a worker waits only for the command's own process, which
/// needs no handler for SIGCHLD.
const FAST_COMMAND_TIME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long the cleanup command may take.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(20);

/// How often to check whether the cleanup command has ended.
const CLEANUP_INTERVAL: Duration = Duration::from_millis(5);

/// A worker's end of the connection to the server.
pub(crate) struct ServerConnection {
    /// Receives run requests.
    pub(crate) requests: UnixStream,
    /// Sends reports.
    pub(crate) reports: PipeWriter,
    /// Becomes readable when the server cancels the command or dies.
    pub(crate) cancel: PipeReader,
}

impl ServerConnection {
    /// Waits for a request. Returns `None` when the server has closed the connection.
    fn next_request(&self) -> io::Result<Option<(RunRequest<String>, Vec<OwnedFd>)>> {
        let [is_cancelled, _] = poll_readable([self.cancel.as_fd(), self.requests.as_fd()], None)?;
        if is_cancelled {
            return Ok(None);
        }
        match RunRequest::receive(&self.requests) {
            // The call was cancelled before the whole request was sent.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            other => other,
        }
    }

    /// Sends a report. Errors are ignored, because the server may have died.
    pub(crate) fn report(&self, report: RunReport) {
        let _ = (&self.reports).write_all(&report.encode());
    }

    /// Waits until the server acknowledges that its command exited normally. Returns false if the call was
    /// cancelled meanwhile, or if the server has died.
    fn is_exit_acknowledged(&self) -> bool {
        poll_readable([self.cancel.as_fd(), self.requests.as_fd()], None)
            .is_ok_and(|[_, is_readable]| is_readable)
            && (&self.requests)
                .read(&mut [0])
                .is_ok_and(|length| length == 1)
    }
}

/// Runs commands until the server closes the connection, or until a command leaves processes behind.
pub(crate) fn serve(
    connection: &ServerConnection,
    file_limit: OriginalFileLimit,
) -> io::Result<()> {
    platform::adopt_orphans()?;
    platform::resume_when_parent_exits()?;
    let signals = Signals::new()?;
    connection.report(RunReport::WorkerReady(getpid().as_raw_pid()));
    while let Some((request, descriptors)) = connection.next_request()? {
        signals.discard_pending();
        let temporary_directory = request.temporary_directory.clone();
        match start(&request, &descriptors, file_limit) {
            Ok(process) => {
                if request.reports_start {
                    connection.report(RunReport::Started);
                }
                let command = SupervisedCommand {
                    process,
                    request,
                    descriptors,
                    file_limit,
                };
                let is_clean = supervise(connection, &signals, command);
                if !temporary_directory.is_empty() {
                    // The server removes it too, unless it was killed.
                    let _ = fs::remove_dir_all(temporary_directory);
                }
                if !is_clean {
                    break;
                }
            }
            Err(error) => {
                connection.report(RunReport::SpawnFailed(errno(&error)));
            }
        }
    }
    Ok(())
}

fn start(
    request: &RunRequest<String>,
    descriptors: &[OwnedFd],
    file_limit: OriginalFileLimit,
) -> io::Result<SpawnedProcess> {
    let mut descriptors = descriptors.iter().map(AsFd::as_fd);
    // Descriptors are missing if too many files are open.
    let mut next = || descriptors.next().ok_or(Errno::MFILE);
    let (stdout, stderr) = (next()?, next()?);
    let path = &*request.directory;
    let working_dir = if request.is_directory_open {
        let directory = descriptors.next_back().ok_or(Errno::MFILE)?;
        WorkingDirectory::Opened { directory, path }
    } else if path.is_empty() {
        WorkingDirectory::Inherited
    } else {
        WorkingDirectory::Path(path)
    };
    spawn(&SpawnOptions {
        argv: &request.argv,
        env: &request.env,
        // Without a descriptor the command inherits the worker's standard input, which is empty.
        streams: [descriptors.next(), Some(stdout), Some(stderr)],
        working_dir,
        file_limit,
    })
}

/// A command that was started.
struct SupervisedCommand {
    process: SpawnedProcess,
    request: RunRequest<String>,
    /// The descriptors of the request.
    descriptors: Vec<OwnedFd>,
    file_limit: OriginalFileLimit,
}

/// Waits until a command exits or is cancelled, ends its remaining processes, and reports. Returns whether
/// none were left, so that the worker can run another command.
fn supervise(connection: &ServerConnection, signals: &Signals, command: SupervisedCommand) -> bool {
    let SupervisedCommand {
        process,
        request,
        descriptors,
        file_limit,
    } = command;
    let mut tree = ProcessTree::new(process.pid);
    // If waiting fails, the command is ended.
    let (exited, has_other_children) =
        wait_for_exit(&mut tree, connection, signals, process.pidfd.as_ref())
            .unwrap_or((None, true));
    let was_killed = exited.is_none_or(|status| ExitStatus::from_raw(status).code().is_none());
    if let Some(status) = exited
        && (!was_killed || request.cleanup.is_empty())
        && !has_other_children
        && !tree.has_group()
    {
        // Only this process still holds the command's pipes open. So the server is woken up once, by the
        // report, and then reads the pipes.
        let is_clean = true;
        connection.report(RunReport::Exited { status, is_clean });
        return is_clean;
    }
    drop(descriptors);
    let is_clean = false;
    let status = exited.unwrap_or_else(|| tree.terminate(KillScope::All));
    if was_killed {
        clean_up(&request, file_limit);
    }
    connection.report(RunReport::Exited { status, is_clean });
    if exited.is_some() {
        // After the report, so that the server need not wait for this.
        tree.terminate(if connection.is_exit_acknowledged() {
            getsid(None).map_or(KillScope::All, KillScope::Session)
        } else {
            KillScope::All
        });
    }
    is_clean
}

/// Waits for the command's own process. Returns its status, or `None` if it must be ended, and whether this
/// process has other children. Reaps orphans that exit meanwhile.
fn wait_for_exit(
    tree: &mut ProcessTree,
    connection: &ServerConnection,
    signals: &Signals,
    pidfd: Option<&OwnedFd>,
) -> io::Result<(Option<i32>, bool)> {
    let (cancel, signal) = (connection.cancel.as_fd(), signals.received.as_fd());
    let mut is_cancelled = false;
    if let Some(pidfd) = pidfd {
        [is_cancelled, ..] =
            poll_readable([cancel, signal, pidfd.as_fd()], Some(&FAST_COMMAND_TIME))?;
    }
    let mut child_signals = None;
    loop {
        let has_children = tree.reap_children();
        let is_stopping = is_cancelled || signals.is_exit_requested.load(Ordering::Relaxed);
        if is_stopping || tree.status().is_some() || !has_children {
            return Ok((tree.status(), has_children));
        }
        if child_signals.is_none() {
            // A child may have exited before the handler was set, so check once more.
            child_signals = Some(signals.handle_child_exits()?);
            continue;
        }
        [is_cancelled, _] = poll_readable([cancel, signal], None)?;
        signals.discard();
    }
}

/// Runs the cleanup command of a command that was ended, for example to remove a container.
fn clean_up(request: &RunRequest<String>, file_limit: OriginalFileLimit) {
    let mut arguments = request.cleanup.iter();
    let Some(program) = arguments.next() else {
        return;
    };
    let Ok(mut command) = program_command(program, &request.env) else {
        return;
    };
    command
        .args(arguments)
        .envs(request.env.iter().filter_map(|pair| pair.split_once('=')))
        // The streams of this process are `/dev/null`, except for standard error.
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(
            io::stdout()
                .as_fd()
                .try_clone_to_owned()
                .map_or_else(|_| Stdio::inherit(), Stdio::from),
        );
    let start = Instant::now();
    // What the command has started may still use up the limit of processes.
    let mut child = loop {
        match file_limit.spawn(|| command.spawn()) {
            Ok(child) => break child,
            Err(error)
                if ReachedLimit::of(&error).is_some() && start.elapsed() < CLEANUP_TIMEOUT =>
            {
                thread::sleep(CLEANUP_INTERVAL);
            }
            Err(_) => return,
        }
    };
    while let Ok(None) = child.try_wait() {
        if start.elapsed() >= CLEANUP_TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        thread::sleep(CLEANUP_INTERVAL);
    }
}

/// Waits until one of the descriptors is readable, or until the timeout. Returns which are.
fn poll_readable<const N: usize>(
    descriptors: [BorrowedFd<'_>; N],
    timeout: Option<&Timespec>,
) -> io::Result<[bool; N]> {
    let mut descriptors =
        descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    while let Err(error) = poll(&mut descriptors, timeout) {
        if error != Errno::INTR {
            return Err(error.into());
        }
    }
    Ok(descriptors.map(|descriptor| !descriptor.revents().is_empty()))
}

/// The signals that a worker handles.
struct Signals {
    /// Becomes readable after each signal.
    received: UnixStream,
    /// The write end of `received`.
    writer: UnixStream,
    /// Whether a signal asked the worker to exit. It ends its command first.
    is_exit_requested: Arc<AtomicBool>,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let (received, writer) = UnixStream::pair()?;
        received.set_nonblocking(true)?;
        let is_exit_requested = Arc::new(AtomicBool::new(false));
        for signal in EXIT_SIGNALS {
            signal_hook::flag::register(signal.as_raw(), is_exit_requested.clone())?;
            signal_hook::low_level::pipe::register(signal.as_raw(), writer.try_clone()?)?;
        }
        Ok(Self {
            received,
            writer,
            is_exit_requested,
        })
    }

    /// Handles SIGCHLD until the result is dropped.
    fn handle_child_exits(&self) -> io::Result<ChildSignals<'_>> {
        let writer = self.writer.try_clone()?;
        let id = signal_hook::low_level::pipe::register(Signal::CHILD.as_raw(), writer)?;
        Ok(ChildSignals { signals: self, id })
    }

    /// Discards signals that arrived while no command ran, so that they do not end the next one.
    fn discard_pending(&self) {
        if self.is_exit_requested.swap(false, Ordering::Relaxed) {
            self.discard();
        }
    }

    fn discard(&self) {
        let mut buffer = [0; 64];
        while let Ok(64..) = (&self.received).read(&mut buffer) {}
    }
}

/// The handler for SIGCHLD. Dropping it removes the handler.
struct ChildSignals<'a> {
    signals: &'a Signals,
    id: SigId,
}

impl Drop for ChildSignals<'_> {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.id);
        self.signals.discard();
    }
}
