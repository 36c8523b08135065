//! The server's side of its workers: requests new ones, keeps idle ones, and communicates with them.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::CommandExt;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard, OwnedSemaphorePermit};
use tokio::time::{sleep, timeout};

use crate::adoption::{closed, end_orphans_of};
use crate::limits::{OriginalFileLimit, ReachedLimit};
use crate::platform;
use crate::protocol::{REPORT_BYTES, RunReport, errno, send_with_descriptors};
use crate::run::RunnerOptions;
use crate::supervisor;

/// How many idle workers are kept without a time limit.
const MAX_IDLE_WORKERS: usize = 16;

/// How long further idle workers are kept. They make a second burst of 200 calls a tenth faster.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often to try again if a limit keeps a command from being started and no other command ends.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// How often to resume a worker or the supervisor while a report of it is due. A command may have stopped it.
const RESUME_INTERVAL: Duration = Duration::from_millis(200);

/// How long the supervisor may take to fork a worker before it is replaced.
const FORK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a worker may take to end its command. It gives up on a process that hangs in the kernel before that.
const STOP_TIMEOUT: Duration = Duration::from_millis(6600);

/// How long to wait for all workers when the server exits.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(600);

/// All workers of a server.
pub(crate) struct WorkerPool {
    options: RunnerOptions,
    file_limit: OriginalFileLimit,
    state: Arc<SharedState>,
}

#[derive(Default)]
pub(crate) struct SharedState {
    pool: Mutex<PoolState>,
    /// Held by a call that starts a command after a limit was reached.
    turn: Arc<AsyncMutex<()>>,
    /// Notified when a command has ended, which may have freed what the holder of the turn waits for.
    command_ended: Notify,
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
}

/// The server's end of the connection to a worker.
struct WorkerConnection {
    /// Sends run requests.
    requests: BlockingStream,
    /// Receives reports. It is a separate pipe, because a socket would also wake up the event loop when it
    /// becomes writable.
    reports: pipe::Receiver,
    /// Closing it makes the worker end its command and exit. If the server dies, the system closes it.
    cancel: PipeWriter,
    worker: WorkerHandle,
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

    fn add_idle(self: &Arc<Self>, connection: WorkerConnection) {
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
        for (name, _) in env::vars_os() {
            if !(self.options.inherits_variable)(&name.to_string_lossy()) {
                command.env_remove(name);
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

/// A worker that was assigned to a command. Dropping it ends the command.
pub(crate) struct Worker<'a> {
    pool: &'a WorkerPool,
    connection: WorkerConnection,
    /// Held as long as a process of the command is left.
    start: Option<StartPermit>,
}

impl Worker<'_> {
    /// Sends a run request together with its descriptors. If a limit is reached, nothing was sent.
    pub(crate) async fn send(
        &self,
        bytes: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let requests = &self.connection.requests;
        // An idle worker has read everything, so the first bytes fit into the socket's buffer.
        let length = match send_with_descriptors(requests, bytes, descriptors) {
            // The worker was not forked, or has died. Its report, or the lack of one, says more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        };
        write_rest(requests, &bytes[length..])
            .await
            .map_err(io::Error::other)
    }

    /// Waits until the command has ended, or was not started. The future may be dropped and created again.
    pub(crate) async fn report(&mut self) -> io::Result<RunReport> {
        loop {
            let WorkerConnection {
                reports, worker, ..
            } = &mut self.connection;
            match next_report(reports, worker, &self.pool.state).await {
                Some(RunReport::WorkerReady(pid)) => {
                    let mut state = self.pool.state.lock();
                    worker.set_ready(pid, &mut state);
                    if let Some(supervisor) = &mut state.supervisor {
                        supervisor.is_proven = true;
                    }
                }
                Some(RunReport::Started) => {
                    if let Some(start) = &mut self.start {
                        start.turn = None;
                    }
                }
                Some(report) => return Ok(report),
                // The supervisor or the worker could not open the files that it needs.
                None if !self.connection.worker.is_ready() => {
                    return Ok(RunReport::ForkFailed(Errno::MFILE.raw_os_error()));
                }
                None => return Err(io::Error::other("its worker process exited unexpectedly")),
            }
        }
    }

    /// Makes the worker end its command and exit. Releases the permit when that is done, or after a timeout.
    pub(crate) fn stop(self) -> impl Future<Output = ()> + Send + 'static {
        let Self {
            pool,
            connection,
            start,
        } = self;
        let permit = start.map(|start| start.permit);
        let state = pool.state.clone();
        async move {
            let WorkerConnection {
                requests,
                reports,
                cancel,
                worker,
            } = connection;
            // The worker may still be reading its request, so that socket is closed too.
            drop((cancel, requests));
            let exited = async { while next_report(&reports, &worker, &state).await.is_some() {} };
            let mut exited = pin!(exited);
            if timeout(STOP_TIMEOUT, &mut exited).await.is_err() {
                // A command that stops helper processes again and again keeps them from ending it. The server
                // ends what they leave.
                worker.kill(&state);
                let _ = timeout(STOP_TIMEOUT, exited).await;
            }
            drop(permit);
            state.command_ended.notify_one();
        }
    }

    /// Tells the worker that its command exited normally, so that daemons stay alive.
    pub(crate) fn acknowledge_exit(&self) {
        // If the worker has died, this is not needed.
        let _ = (&self.connection.requests).write(&[0]);
    }

    /// Makes the worker idle and releases the permit. No process of its command may be left.
    pub(crate) fn release(self) {
        self.pool.state.add_idle(self.connection);
        drop(self.start);
        self.pool.state.command_ended.notify_one();
    }

    /// Takes the permit back from a worker that has not started its command.
    pub(crate) fn withdraw(self) -> Option<StartPermit> {
        if self.connection.worker.is_ready() {
            self.pool.state.add_idle(self.connection);
        }
        self.start
    }
}

/// Sends the rest of a long request. Waits if a limit leaves no room for the copy of the descriptor that this
/// needs.
async fn write_rest(requests: &BlockingStream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let copy = loop {
        match requests.try_clone() {
            Err(error) if ReachedLimit::of(&error).is_some() => sleep(RETRY_INTERVAL).await,
            other => break other?,
        }
    };
    UnixStream::from_std(copy)?.write_all(bytes).await
}

impl WorkerConnection {
    /// Whether the worker of an idle connection is alive: there is nothing to read, not even the end of file.
    fn is_alive(&self) -> bool {
        // Not through the event loop, which may not know yet that the worker has exited.
        rustix::io::read(&self.reports, &mut [0; 1]) == Err(Errno::AGAIN)
    }
}

/// The process of a worker, from the server's side.
struct WorkerHandle {
    /// Set when the worker has reported that it runs.
    pid: Option<Arc<Pid>>,
    requested: Instant,
}

impl WorkerHandle {
    /// A worker that the supervisor is asked to fork.
    fn new() -> Self {
        Self {
            pid: None,
            requested: Instant::now(),
        }
    }

    fn is_ready(&self) -> bool {
        self.pid.is_some()
    }

    fn set_ready(&mut self, pid: i32, state: &mut PoolState) {
        self.pid = Pid::from_raw(pid).map(Arc::new);
        state.workers.retain(|worker| worker.strong_count() > 0);
        state.workers.extend(self.pid.as_ref().map(Arc::downgrade));
    }

    /// Resumes the worker in case a command has stopped it, or the supervisor if that has not forked it yet.
    /// A supervisor that takes too long is killed, and the next attempt starts a new one.
    fn resume(&self, state: &SharedState) {
        if let Some(pid) = &self.pid {
            let _ = kill_process(**pid, Signal::CONT);
        } else if let Some(supervisor) = &mut state.lock().supervisor {
            let is_late = self.requested.elapsed() >= FORK_TIMEOUT;
            supervisor.signal(if is_late { Signal::KILL } else { Signal::CONT });
        }
    }

    /// Kills the worker and the supervisor.
    fn kill(&self, state: &SharedState) {
        if let Some(pid) = &self.pid {
            let _ = kill_process(**pid, Signal::KILL);
        }
        if let Some(supervisor) = &mut state.lock().supervisor {
            supervisor.signal(Signal::KILL);
        }
    }
}

/// The next report, or `None` if the worker has exited. Resumes the worker meanwhile.
async fn next_report(
    reports: &pipe::Receiver,
    worker: &WorkerHandle,
    state: &SharedState,
) -> Option<RunReport> {
    loop {
        match timeout(RESUME_INTERVAL, reports.readable()).await {
            Ok(readable) => readable.ok()?,
            Err(_) => worker.resume(state),
        }
        let mut bytes = [0; REPORT_BYTES];
        match reports.try_read(&mut bytes) {
            // Writes as short as this are atomic.
            Ok(REPORT_BYTES) => return Some(RunReport::decode(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return None,
        }
    }
}
