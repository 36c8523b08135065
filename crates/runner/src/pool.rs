//! The workers of a server: requests new ones from the supervisor, and keeps idle ones.

use std::env;
use std::io::{self, PipeReader, PipeWriter};
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard, OwnedSemaphorePermit};
use tokio::time::{sleep, timeout};

use crate::adoption::{closed, end_orphans_of};
use crate::connection::{Worker, WorkerConnection, WorkerHandle};
use crate::limits::{OriginalFileLimit, ReachedLimit};
use crate::platform;
use crate::program::path_without_relative_entries;
use crate::protocol::{errno, send_with_descriptors};
use crate::run::RunnerOptions;
use crate::supervisor;

/// How many idle workers are kept without a time limit.
const MAX_IDLE_WORKERS: usize = 16;

/// How long further idle workers are kept. They make a second burst of 200 calls a tenth faster.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often to try again if a limit keeps a command from being started and no other command ends.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for all workers when the server exits.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(600);

/// All workers of a server.
pub(crate) struct WorkerPool {
    options: RunnerOptions,
    file_limit: OriginalFileLimit,
    pub(crate) state: Arc<SharedState>,
}

#[derive(Default)]
pub(crate) struct SharedState {
    pool: Mutex<PoolState>,
    /// Held by a call that starts a command after a limit was reached.
    turn: Arc<AsyncMutex<()>>,
    /// Notified when a command has ended, which may have freed what the holder of the turn waits for.
    pub(crate) command_ended: Notify,
}

#[derive(Default)]
pub(crate) struct PoolState {
    supervisor: Option<Supervisor>,
    /// The workers that are ready and have a connection.
    workers: Vec<Weak<Pid>>,
    /// Whether the server exits, so that the supervisor exits normally.
    is_closing: bool,
    /// Idle workers, longest idle first.
    idle: Vec<WorkerConnection>,
    /// Whether a task is scheduled to end surplus idle workers.
    is_trim_scheduled: bool,
    /// Created for the next command while one runs.
    spare_pipes: Option<OutputPipes>,
    /// Whether SIGCHLD has a handler.
    handles_child_signal: bool,
    /// The `errno` of the limit that was reached last.
    last_limit: i32,
}

impl PoolState {
    /// Whether the server exits.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Whether a process is the supervisor.
    pub(crate) fn is_supervisor(&self, pid: Pid) -> bool {
        let supervisor = self.supervisor.as_ref();
        supervisor.is_some_and(|supervisor| supervisor.pid() == pid)
    }

    /// Whether a process is the supervisor and has not exited.
    pub(crate) fn is_running_supervisor(&mut self, pid: Pid) -> bool {
        let supervisor = self.supervisor.as_mut().filter(|it| it.pid() == pid);
        supervisor.is_some_and(|supervisor| matches!(supervisor.process.try_wait(), Ok(None)))
    }

    /// Adds a worker that is ready. The supervisor has proven that it can fork.
    pub(crate) fn add_worker(&mut self, pid: &Arc<Pid>) {
        self.workers.retain(|worker| worker.strong_count() > 0);
        self.workers.push(Arc::downgrade(pid));
        if let Some(supervisor) = &mut self.supervisor {
            supervisor.is_proven = true;
        }
    }

    /// Sends a signal to the supervisor, if there is one.
    pub(crate) fn signal_supervisor(&mut self, signal: Signal) {
        if let Some(supervisor) = &mut self.supervisor {
            supervisor.signal(signal);
        }
    }

    /// Whether a process is a worker that is ready and has a connection.
    pub(crate) fn is_worker(&self, pid: Pid) -> bool {
        let mut workers = self.workers.iter().filter_map(Weak::upgrade);
        workers.any(|worker| *worker == pid)
    }
}

struct Supervisor {
    process: Child,
    socket: Arc<UnixStream>,
    /// Whether it has forked a worker.
    is_proven: bool,
}

impl Supervisor {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Sends it a signal, if it has not exited.
    fn signal(&mut self, signal: Signal) {
        // It was not reaped, so its process id is not reused.
        if let Ok(None) = self.process.try_wait() {
            let _ = kill_process(self.pid(), signal);
        }
    }
}

/// What a call needs to start its command.
pub(crate) struct StartPermit {
    /// The caller's permit, which is held as long as a process of the command is left.
    permit: OwnedSemaphorePermit,
    /// Set if a limit was reached. One call at a time then starts a command, and the others wait in order.
    /// Otherwise they could take what each of them needs from each other, such as processes for workers
    /// without any left for commands.
    turn: Option<OwnedMutexGuard<()>>,
}

impl StartPermit {
    /// Whether to ask for a report of the start, after which the next call gets its turn.
    pub(crate) fn needs_start_report(&self) -> bool {
        self.turn.is_some()
    }

    /// Lets the next call start its command.
    pub(crate) fn pass_turn(&mut self) {
        self.turn = None;
    }

    /// The caller's permit.
    pub(crate) fn into_permit(self) -> OwnedSemaphorePermit {
        self.permit
    }
}

/// Pipes for standard output and standard error.
type OutputPipes = [(PipeReader, PipeWriter); 2];

fn new_output_pipes() -> io::Result<OutputPipes> {
    Ok([io::pipe()?, io::pipe()?])
}

impl SharedState {
    /// The state is consistent between any two statements, so a poisoned lock is safe to use.
    pub(crate) fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a worker for the next command.
    pub(crate) fn add_idle(self: &Arc<Self>, connection: WorkerConnection) {
        let mut state = self.lock();
        state.idle.push(connection);
        if state.idle.len() > MAX_IDLE_WORKERS && !mem::replace(&mut state.is_trim_scheduled, true)
        {
            let shared = self.clone();
            tokio::spawn(async move {
                sleep(IDLE_TIMEOUT).await;
                let mut state = shared.lock();
                state.is_trim_scheduled = false;
                let surplus = state.idle.len().saturating_sub(MAX_IDLE_WORKERS);
                state.idle.drain(..surplus);
            });
        }
    }
}

impl WorkerPool {
    /// Creates a pool without workers.
    pub(crate) fn new(options: RunnerOptions) -> Self {
        Self {
            options,
            file_limit: OriginalFileLimit::raise(),
            state: Arc::default(),
        }
    }

    /// Pipes for a command's output.
    pub(crate) fn output_pipes(&self) -> io::Result<OutputPipes> {
        let spare = self.state.lock().spare_pipes.take();
        spare.map_or_else(new_output_pipes, Ok)
    }

    /// Creates the pipes for the next command. Call it while a command runs, when the server has time.
    pub(crate) fn prepare_output_pipes(&self) {
        let mut state = self.state.lock();
        if state.spare_pipes.is_none() {
            state.spare_pipes = new_output_pipes().ok();
        }
    }

    /// Waits for permission to start a command. It is granted at once, unless other calls wait because a
    /// limit was reached.
    pub(crate) async fn start_permit(
        &self,
        permit: OwnedSemaphorePermit,
        max_wait: Duration,
    ) -> io::Result<StartPermit> {
        let is_turn_taken = self.state.turn.try_lock().is_err();
        let mut start = StartPermit { permit, turn: None };
        if is_turn_taken {
            let turn = timeout(max_wait, self.state.turn.clone().lock_owned()).await;
            let error = |_| io::Error::from_raw_os_error(self.state.lock().last_limit);
            start.turn = Some(turn.map_err(error)?);
        }
        Ok(start)
    }

    /// Waits until a command that could not be started can be tried again. Returns the error if it was not
    /// due to a limit, or if that takes longer than `max_wait`.
    pub(crate) async fn retry_permit(
        &self,
        start: StartPermit,
        error: io::Error,
        max_wait: Duration,
    ) -> io::Result<StartPermit> {
        if ReachedLimit::of(&error).is_none() {
            return Err(error);
        }
        self.free_resources(&error);
        let StartPermit { permit, turn } = start;
        let next_turn = async {
            match turn {
                None => self.state.turn.clone().lock_owned().await,
                Some(turn) => {
                    let _ = timeout(RETRY_INTERVAL, self.state.command_ended.notified()).await;
                    turn
                }
            }
        };
        let turn = timeout(max_wait, next_turn).await.map_err(|_| error)?;
        Ok(StartPermit {
            permit,
            turn: Some(turn),
        })
    }

    /// Frees what can be freed after an error that is due to a limit, and waits for a moment.
    pub(crate) async fn wait_at_limit(&self, error: &io::Error) {
        self.free_resources(error);
        sleep(RETRY_INTERVAL).await;
    }

    /// Frees open files and processes that no command uses, except for one idle worker.
    fn free_resources(&self, error: &io::Error) {
        let mut state = self.state.lock();
        state.last_limit = errno(error);
        state.spare_pipes = None;
        let surplus = state.idle.len().saturating_sub(1);
        state.idle.drain(..surplus);
    }

    /// Assigns an idle worker, or a new one, to a command, and gives it the permit.
    pub(crate) async fn worker(&self, start: &mut Option<StartPermit>) -> io::Result<Worker<'_>> {
        loop {
            // A separate statement, so that the state is unlocked again.
            let idle = self.state.lock().idle.pop();
            let connection = match idle {
                None => self.connect_new_worker().await?,
                Some(connection) if connection.is_alive() => {
                    connection.worker.resume(&self.state);
                    connection
                }
                Some(_) => continue,
            };
            return Ok(Worker {
                pool: self,
                connection,
                start: start.take(),
            });
        }
    }

    async fn connect_new_worker(&self) -> io::Result<WorkerConnection> {
        let (requests, worker_requests) = BlockingStream::pair()?;
        let (reports, worker_reports) = io::pipe()?;
        let (worker_cancel, cancel) = io::pipe()?;
        let descriptors = [
            worker_requests.as_fd(),
            worker_reports.as_fd(),
            worker_cancel.as_fd(),
        ];
        let supervisor = self.supervisor_socket()?;
        let send = || send_with_descriptors(&supervisor, &[0], &descriptors);
        supervisor.async_io(Interest::WRITABLE, send).await?;
        requests.set_nonblocking(true)?;
        Ok(WorkerConnection {
            requests,
            reports: pipe::Receiver::from_owned_fd(OwnedFd::from(reports))?,
            cancel,
            worker: WorkerHandle::new(),
        })
    }

    /// Starts the supervisor if there is none, or if it has died.
    fn supervisor_socket(&self) -> io::Result<Arc<UnixStream>> {
        let mut state = self.state.lock();
        if let Some(supervisor) = state.supervisor.as_mut() {
            let Some(status) = supervisor.process.try_wait()? else {
                return Ok(supervisor.socket.clone());
            };
            let is_unusable = !supervisor.is_proven && status.code().is_some();
            state.supervisor = None;
            if is_unusable {
                let message = format!("its supervisor process failed ({status})");
                return Err(io::Error::other(message));
            }
        }
        if !state.handles_child_signal {
            handle_child_signal()?;
            platform::adopt_orphans()?;
            state.handles_child_signal = true;
        }
        let (socket, supervisor_socket) = BlockingStream::pair()?;
        socket.set_nonblocking(true)?;
        let mut command = Command::new(platform::own_program()?);
        if let Some(name) = env::args_os().next() {
            command.arg0(name);
        }
        command
            .arg(supervisor::HELPER_ARGUMENT)
            .args(self.file_limit.to_argument());
        for (name, value) in env::vars_os() {
            if !(self.options.inherits_variable)(&name.to_string_lossy()) {
                command.env_remove(name);
            } else if name == "PATH"
                && let Some(path) = path_without_relative_entries(&value)
            {
                command.env("PATH", path);
            }
        }
        let process = command
            .stdin(Stdio::from(OwnedFd::from(supervisor_socket)))
            .stdout(Stdio::null())
            .spawn()?;
        let socket = Arc::new(UnixStream::from_std(socket)?);
        let pid = Pid::from_child(&process);
        tokio::spawn(end_orphans_of(pid, socket.clone(), self.state.clone()));
        state.supervisor = Some(Supervisor {
            process,
            socket: socket.clone(),
            is_proven: false,
        });
        Ok(socket)
    }

    /// Waits until all workers have ended their commands and exited.
    pub(crate) async fn close(&self) {
        let supervisor = {
            let mut state = self.state.lock();
            state.is_closing = true;
            state.idle.clear();
            state.supervisor.take()
        };
        let Some(mut supervisor) = supervisor else {
            return;
        };
        // A command may have stopped it.
        supervisor.signal(Signal::CONT);
        // After the end of requests, the supervisor waits for its workers and exits.
        let socket = supervisor.socket;
        let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Write);
        // A worker that takes longer goes on without the server.
        if timeout(CLOSE_TIMEOUT, closed(&socket)).await.is_ok() {
            let _ = supervisor.process.wait();
        }
    }
}

/// If the server ignores SIGCHLD, the programs that it starts inherit that and cannot get the exit status of
/// their children. Handlers are not inherited, so this sets one that has no other effect.
fn handle_child_signal() -> io::Result<()> {
    signal_hook::flag::register(Signal::CHILD.as_raw(), Arc::default()).map(drop)
}
