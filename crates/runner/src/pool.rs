//! The server's side of its workers: requests new ones, keeps idle ones, and communicates with them.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::CommandExt;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use crate::platform;
use crate::protocol::{REPORT_BYTES, RunReport, send_with_descriptors};
use crate::run::RunnerOptions;
use crate::supervisor;

/// How many idle workers are kept without a time limit.
const MAX_IDLE_WORKERS: usize = 16;

/// How long further idle workers are kept. They make a second burst of 200 calls a tenth faster.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// A command needs a connection to its worker, up to three pipes, and a directory.
const DESCRIPTORS_PER_COMMAND: u64 = 3 + 3 * 2 + 1;

/// Descriptors for the rest of the server.
const SERVER_DESCRIPTORS: u64 = 64;

/// A worker usually ends its command within this time.
const STOP_TIMEOUT: Duration = Duration::from_millis(600);

/// How long to wait for a worker that took longer and was resumed.
const RESUMED_STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// How long to wait for all workers when the server exits.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(600);

/// All workers of a server.
pub(crate) struct WorkerPool {
    options: RunnerOptions,
    state: Arc<SharedState>,
}

#[derive(Default)]
struct SharedState(Mutex<PoolState>);

#[derive(Default)]
struct PoolState {
    supervisor: Option<Supervisor>,
    /// Idle workers, longest idle first.
    idle: Vec<WorkerConnection>,
    /// Whether a task is scheduled to end surplus idle workers.
    is_trim_scheduled: bool,
    /// Created for the next command while one runs.
    spare_pipes: Option<OutputPipes>,
}

struct Supervisor {
    process: Child,
    socket: Arc<UnixStream>,
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
}

/// Pipes for standard output and standard error.
type OutputPipes = [(PipeReader, PipeWriter); 2];

fn new_output_pipes() -> io::Result<OutputPipes> {
    Ok([io::pipe()?, io::pipe()?])
}

impl SharedState {
    /// The state is consistent between any two statements, so a poisoned lock is safe to use.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns an idle worker, or a new one. It holds the permit as long as a process of its command is left.
    pub(crate) async fn worker(&self, permit: OwnedSemaphorePermit) -> io::Result<Worker<'_>> {
        let worker = |connection| Worker {
            pool: self,
            connection,
            permit,
        };
        loop {
            // A separate statement, so that the state is unlocked again.
            let idle = self.state.lock().idle.pop();
            let Some(connection) = idle else {
                return Ok(worker(self.connect_new_worker().await?));
            };
            if connection.is_alive() {
                return Ok(worker(connection));
            }
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
        })
    }

    /// Starts the supervisor if there is none, or if it has died.
    fn supervisor_socket(&self) -> io::Result<Arc<UnixStream>> {
        let mut state = self.state.lock();
        if let Some(supervisor) = state.supervisor.as_mut()
            && supervisor.process.try_wait()?.is_none()
        {
            return Ok(supervisor.socket.clone());
        }
        handle_child_signal()?;
        let (socket, supervisor_socket) = BlockingStream::pair()?;
        socket.set_nonblocking(true)?;
        let mut command = Command::new(platform::own_program()?);
        if let Some(name) = env::args_os().next() {
            command.arg0(name);
        }
        command
            .arg(supervisor::HELPER_ARGUMENT)
            .args(self.raise_open_file_limit());
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
        state.supervisor = Some(Supervisor {
            process,
            socket: socket.clone(),
        });
        Ok(socket)
    }

    /// Raises this process's limit of open files to what `max_concurrent` commands need. Returns the previous
    /// limit if it was raised.
    fn raise_open_file_limit(&self) -> Option<String> {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let commands = self.options.max_concurrent as u64;
        let required = commands * DESCRIPTORS_PER_COMMAND + SERVER_DESCRIPTORS;
        let required = maximum.map_or(required, |maximum| required.min(maximum));
        let previous = current.filter(|&current| current < required)?;
        let raised = Rlimit {
            current: Some(required),
            maximum,
        };
        setrlimit(Resource::Nofile, raised).ok()?;
        Some(previous.to_string())
    }

    /// Waits until all workers have ended their commands and exited.
    pub(crate) async fn close(&self) {
        let supervisor = {
            let mut state = self.state.lock();
            state.idle.clear();
            state.supervisor.take()
        };
        let Some(mut supervisor) = supervisor else {
            return;
        };
        // After the end of requests, the supervisor waits for its workers and exits.
        let socket = supervisor.socket;
        let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Write);
        let closed = async {
            while socket.readable().await.is_ok() {
                if socket.try_read(&mut [0]).is_ok() {
                    return;
                }
            }
        };
        // A worker that takes longer goes on without the server.
        if timeout(CLOSE_TIMEOUT, closed).await.is_ok() {
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
    permit: OwnedSemaphorePermit,
}

impl Worker<'_> {
    /// Sends a run request together with its descriptors.
    pub(crate) async fn send(
        &self,
        bytes: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let requests = &self.connection.requests;
        // An idle worker has read everything, so the first bytes fit into the socket's buffer.
        let length = send_with_descriptors(requests, bytes, descriptors)?;
        if length < bytes.len() {
            let mut requests = UnixStream::from_std(requests.try_clone()?)?;
            requests.write_all(&bytes[length..]).await?;
        }
        Ok(())
    }

    /// Waits for the report. The future may be dropped and created again.
    pub(crate) async fn report(&self) -> io::Result<RunReport> {
        let report = next_report(&self.connection.reports).await;
        report.ok_or_else(|| io::Error::other("its worker process exited unexpectedly"))
    }

    /// Makes the worker end its command and exit. Releases the permit when that is done, or after a timeout.
    pub(crate) fn stop(self) -> impl Future<Output = ()> + Send + 'static {
        let Self {
            pool,
            connection,
            permit,
        } = self;
        let supervisor = pool
            .state
            .lock()
            .supervisor
            .as_ref()
            .map(|supervisor| supervisor.socket.clone());
        async move {
            // The worker may still be reading its request, so that socket is closed too.
            drop((connection.cancel, connection.requests));
            let mut exited =
                pin!(async { while next_report(&connection.reports).await.is_some() {} });
            if timeout(STOP_TIMEOUT, &mut exited).await.is_err() {
                // It may have been stopped by a signal. A byte without descriptors resumes workers.
                let _ = supervisor.map(|socket| socket.try_write(&[0]));
                let _ = timeout(RESUMED_STOP_TIMEOUT, exited).await;
            }
            drop(permit);
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
    }
}

impl WorkerConnection {
    /// Whether the worker of an idle connection is alive: there is nothing to read, not even the end of file.
    fn is_alive(&self) -> bool {
        let read = self.reports.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// The next report, or `None` if the worker has exited.
async fn next_report(reports: &pipe::Receiver) -> Option<RunReport> {
    loop {
        reports.readable().await.ok()?;
        let mut bytes = [0; REPORT_BYTES];
        match reports.try_read(&mut bytes) {
            // Writes as short as this are atomic.
            Ok(REPORT_BYTES) => return Some(RunReport::decode(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return None,
        }
    }
}
