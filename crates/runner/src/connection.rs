//! The server's side of a worker: sends it a command, receives its reports, and makes it end the command.

use std::io::{self, PipeWriter, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream as BlockingStream;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use crate::limits::ReachedLimit;
use crate::pool::{PoolState, RETRY_INTERVAL, SharedState, StartPermit, WorkerPool};
use crate::protocol::{REPORT_BYTES, RunReport, send_with_descriptors};

/// How often to resume a worker or the supervisor while a report of it is due. A command may have stopped it.
const RESUME_INTERVAL: Duration = Duration::from_millis(200);

/// How long the supervisor may take to fork a worker before it is replaced.
const FORK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a worker may take to end its command. It gives up on a process that hangs in the kernel before that.
const STOP_TIMEOUT: Duration = Duration::from_millis(6600);

/// A worker that was assigned to a command. Dropping it ends the command.
pub(crate) struct Worker<'a> {
    pub(crate) pool: &'a WorkerPool,
    pub(crate) connection: WorkerConnection,
    /// Held as long as a process of the command is left.
    pub(crate) start: Option<StartPermit>,
}

/// The server's end of the connection to a worker.
pub(crate) struct WorkerConnection {
    /// Sends run requests.
    pub(crate) requests: BlockingStream,
    /// Receives reports. It is a separate pipe, because a socket would also wake up the event loop when it
    /// becomes writable.
    pub(crate) reports: pipe::Receiver,
    /// Closing it makes the worker end its command and exit. If the server dies, the system closes it.
    pub(crate) cancel: PipeWriter,
    pub(crate) worker: WorkerHandle,
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
                }
                Some(RunReport::Started) => {
                    if let Some(start) = &mut self.start {
                        start.pass_turn();
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
        let permit = start.map(StartPermit::into_permit);
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
    pub(crate) fn is_alive(&self) -> bool {
        // Not through the event loop, which may not know yet that the worker has exited.
        rustix::io::read(&self.reports, &mut [0; 1]) == Err(Errno::AGAIN)
    }
}

/// The process of a worker, from the server's side.
pub(crate) struct WorkerHandle {
    /// Set when the worker has reported that it runs.
    pid: Option<Arc<Pid>>,
    requested: Instant,
}

impl WorkerHandle {
    /// A worker that the supervisor is asked to fork.
    pub(crate) fn new() -> Self {
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
        if let Some(pid) = &self.pid {
            state.add_worker(pid);
        }
    }

    /// Resumes the worker in case a command has stopped it, or the supervisor if that has not forked it yet.
    /// A supervisor that takes too long is killed, and the next attempt starts a new one.
    pub(crate) fn resume(&self, state: &SharedState) {
        if let Some(pid) = &self.pid {
            let _ = kill_process(**pid, Signal::CONT);
        } else {
            let is_late = self.requested.elapsed() >= FORK_TIMEOUT;
            let signal = if is_late { Signal::KILL } else { Signal::CONT };
            state.lock().signal_supervisor(signal);
        }
    }

    /// Kills the worker and the supervisor.
    fn kill(&self, state: &SharedState) {
        if let Some(pid) = &self.pid {
            let _ = kill_process(**pid, Signal::KILL);
        }
        state.lock().signal_supervisor(Signal::KILL);
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
