//! Runs a command from the server's side: sends it to a worker, reads its output, and waits for its exit.

use std::fmt;
use std::io::{self, PipeWriter};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::captured::{CaptureOptions, CapturedOutput, CommandOutput};
use crate::command::{CommandSpec, WorkingDirectory};
use crate::connection::Worker;
use crate::limits::{self, ReachedLimit};
use crate::output::{OutputStream, drain};
use crate::pool::{StartPermit, WorkerPool};
use crate::private_files::PrivateFiles;
use crate::protocol::{RunReport, RunRequest};
use crate::store::OutputStore;

/// Most commands exit within this time and write less than a pipe holds. Their output is read once, after
/// their exit, and their pipes are never registered with the event loop.
const FAST_COMMAND_TIME: Duration = Duration::from_millis(2);

/// How long to go on reading output that a command's descendants hold open after the command has exited.
const OUTPUT_GRACE_PERIOD: Duration = Duration::from_millis(100);

/// How long to wait for a command's exit and last output after it has timed out.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// How a [`Runner`] runs commands.
pub struct RunnerOptions {
    /// How many commands may run at the same time, if the limits of open files and processes allow it.
    pub max_concurrent: usize,
    /// Whether commands inherit the environment variable with this name. Called once per variable, before the
    /// first command runs.
    pub inherits_variable: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

/// Runs commands and owns every process that they start.
pub struct Runner {
    pool: WorkerPool,
    max_concurrent: usize,
    private_files: PrivateFiles,
}

/// The result of running a command.
#[derive(Debug)]
pub struct Outcome {
    /// Standard output.
    pub stdout: CommandOutput,
    /// Standard error.
    pub stderr: CommandOutput,
    /// How the command ended.
    pub completion: Completion,
}

impl Outcome {
    /// The outcome of a command that was not started.
    #[must_use]
    pub fn not_started(reason: String) -> Self {
        Self {
            stdout: CapturedOutput::default().finish(),
            stderr: CapturedOutput::default().finish(),
            completion: Completion::NotStarted(reason),
        }
    }
}

/// How a command ended.
#[derive(Debug)]
pub enum Completion {
    /// It exited, or was killed by a signal.
    Exited(ExitStatus),
    /// It was ended because it ran longer than this timeout.
    TimedOut(Duration),
    /// It was not started, for this reason.
    NotStarted(String),
}

impl fmt::Display for Completion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => match status.code() {
                Some(code) => write!(formatter, "exit code {code}"),
                None => status.fmt(formatter),
            },
            Self::TimedOut(timeout) => write!(formatter, "timed out after {timeout:?}"),
            Self::NotStarted(reason) => reason.fmt(formatter),
        }
    }
}

impl Runner {
    /// Creates a runner, and raises this process's limit of open files as far as possible. The runner starts
    /// no process before the first command.
    #[must_use]
    pub fn new(options: RunnerOptions) -> Self {
        let max_concurrent = options.max_concurrent;
        Self {
            pool: WorkerPool::new(options),
            max_concurrent: max_concurrent.min(limits::max_commands()),
            private_files: PrivateFiles::default(),
        }
    }

    /// Files that exist only during a call.
    #[must_use]
    pub fn private_files(&self) -> &PrivateFiles {
        &self.private_files
    }

    /// How many commands may run at the same time. The caller enforces it by its permits.
    #[must_use]
    pub fn max_concurrent(&self) -> usize {
        self.max_concurrent
    }

    /// Runs a command to its end. Dropping the future ends the command and everything that it started.
    ///
    /// If a limit of the system keeps the command from being started, this waits and tries again, for as long
    /// as the command's timeout. The command itself then has its full timeout.
    ///
    /// The permit is released when no process of the command is left, which can be after this returns.
    pub async fn run(&self, command: CommandSpec<'_>, permit: OwnedSemaphorePermit) -> Outcome {
        match self.run_when_possible(&command, permit).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::not_started(command.start_error(&error)),
        }
    }

    /// Repeats an operation that a command needs while a limit of the system is reached, for at most
    /// `max_wait`.
    ///
    /// # Errors
    /// The operation fails for another reason, or the limit is still reached at the end.
    pub async fn retry_at_limit<T>(
        &self,
        max_wait: Duration,
        mut operation: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        let start = Instant::now();
        loop {
            let error = match operation() {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            match ReachedLimit::of(&error) {
                None => return Err(error),
                Some(limit) if start.elapsed() >= max_wait => {
                    return Err(io::Error::other(limit.to_string()));
                }
                Some(_) => self.pool.wait_at_limit(&error).await,
            }
        }
    }

    /// Waits until all workers have ended their commands. Call it when no command runs any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Runs a command. Fails if it was not started.
    async fn run_when_possible(
        &self,
        command: &CommandSpec<'_>,
        permit: OwnedSemaphorePermit,
    ) -> io::Result<Outcome> {
        command.check_nul_bytes()?;
        self.private_files.remove_leftovers();
        let first_attempt = Instant::now();
        let mut start = Some(self.pool.start_permit(permit, command.timeout).await?);
        loop {
            let error = match self.try_run(command, &mut start).await {
                Ok(outcome) => return Ok(outcome),
                Err(error) => error,
            };
            let Some(permit) = start.take() else {
                return Err(error);
            };
            let remaining = command.timeout.saturating_sub(first_attempt.elapsed());
            start = Some(self.pool.retry_permit(permit, error, remaining).await?);
        }
    }

    /// Fails if the command was not started. The permit is left if it can be tried again.
    async fn try_run(
        &self,
        command: &CommandSpec<'_>,
        start: &mut Option<StartPermit>,
    ) -> io::Result<Outcome> {
        let reports_start = start.as_ref().is_some_and(StartPermit::needs_start_report);
        let request = encode(command, reports_start)?;
        let worker = self.pool.worker(start).await?;
        // After the wait for a worker, so that waiting calls do not use up open files.
        let pipes = self.pool.output_pipes().and_then(|output_pipes| {
            let stdin_pipe = command.stdin.map(|_| io::pipe()).transpose()?;
            Ok((output_pipes, stdin_pipe))
        });
        let (output_pipes, stdin_pipe) = match pipes {
            Ok(pipes) => pipes,
            Err(error) => {
                *start = worker.withdraw();
                return Err(error);
            }
        };
        let [(stdout, stdout_writer), (stderr, stderr_writer)] = output_pipes;
        let (stdin_reader, stdin) = stdin_pipe.unzip();
        let mut descriptors = vec![stdout_writer.as_fd(), stderr_writer.as_fd()];
        descriptors.extend(stdin_reader.as_ref().map(AsFd::as_fd));
        descriptors.extend(command.working_dir.opened());
        let start_time = Instant::now();
        let CaptureOptions {
            max_stdout_bytes,
            max_stderr_bytes,
            store,
        } = command.capture;
        let store = store.as_ref();
        let stdout_store = store.map(OutputStore::for_stdout);
        let stderr_store = store.map(OutputStore::for_stderr);
        let captured_stdout = CapturedOutput::new(*max_stdout_bytes, stdout_store);
        let captured_stderr = CapturedOutput::new(*max_stderr_bytes, stderr_store);
        let mut running = RunningCommand {
            worker: Some(worker),
            stdout: OutputStream::new(stdout, captured_stdout),
            stderr: OutputStream::new(stderr, captured_stderr),
        };
        // A long request takes several writes, and a worker that was stopped by a signal does not read it.
        let sent = timeout(command.timeout, running.send(&request, &descriptors)).await;
        drop(descriptors);
        drop((stdout_writer, stderr_writer, stdin_reader));
        self.pool.prepare_output_pipes();

        let mut report = None;
        let mut remaining = command.timeout.saturating_sub(start_time.elapsed());
        // If sending timed out, no time remains, and the command times out below.
        if let Err(error) = sent.unwrap_or(Ok(())) {
            if ReachedLimit::of(&error).is_some() {
                *start = running.withdraw();
            }
            return Err(error);
        }
        // The fast path does not write standard input, so it is only for commands without it.
        if stdin.is_none() {
            let fast = FAST_COMMAND_TIME.min(remaining);
            report = timeout(fast, running.report()).await.ok();
            remaining -= fast;
        }
        if report.is_none() {
            let stdin = write_stdin(stdin, command.stdin);
            let finish = running.finish(stdin, command.on_output_line);
            report = timeout(remaining, finish).await.ok();
        }
        let completion = if let Some(report) = report {
            match report? {
                RunReport::ForkFailed(errno) | RunReport::SpawnFailed(errno) => {
                    *start = running.withdraw();
                    return Err(io::Error::from_raw_os_error(errno));
                }
                // Handled by the worker's connection.
                RunReport::WorkerReady(_) | RunReport::Started => {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                RunReport::Exited { status, is_clean } => {
                    if is_clean {
                        running.read_available();
                        running.release();
                    } else {
                        running.acknowledge_exit().await;
                        running.stop_in_background();
                    }
                    Completion::Exited(ExitStatus::from_raw(status))
                }
            }
        } else {
            running.stop().await;
            Completion::TimedOut(command.timeout)
        };
        Ok(Outcome {
            stdout: running.stdout.take_output(),
            stderr: running.stderr.take_output(),
            completion,
        })
    }
}

fn encode(command: &CommandSpec<'_>, reports_start: bool) -> io::Result<Vec<u8>> {
    RunRequest {
        argv: command.argv.iter().map(AsRef::as_ref).collect(),
        env: command.env.clone(),
        directory: command.working_dir.path().unwrap_or_default(),
        is_directory_open: matches!(command.working_dir, WorkingDirectory::Opened { .. }),
        cleanup: command.cleanup.clone(),
        temporary_directory: command.temporary_directory,
        reports_start,
    }
    .encode()
}

/// A running command. Dropping it ends the command and everything that it started.
struct RunningCommand<'a> {
    /// `None` once the command has ended.
    worker: Option<Worker<'a>>,
    stdout: OutputStream,
    stderr: OutputStream,
}

impl RunningCommand<'_> {
    fn worker(&self) -> io::Result<&Worker<'_>> {
        self.worker
            .as_ref()
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Sends the command to the worker.
    async fn send(&self, request: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.worker()?.send(request, descriptors).await
    }

    /// Waits for the command's exit.
    async fn report(&mut self) -> io::Result<RunReport> {
        match &mut self.worker {
            Some(worker) => worker.report().await,
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Waits for the command's exit while writing its input and reading its output.
    async fn finish(
        &mut self,
        write_stdin: impl Future<Output = ()>,
        on_line: Option<&(dyn Fn(&str) + Sync)>,
    ) -> io::Result<RunReport> {
        let Some(worker) = &mut self.worker else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        let output = async {
            tokio::join!(
                write_stdin,
                stdout.read_to_end(on_line),
                stderr.read_to_end(on_line)
            );
        };
        tokio::select! {
            () = output => worker.report().await,
            report = worker.report() => report,
        }
    }

    /// Reads the rest of the output of a command that left no process behind. All of it is in the pipes.
    fn read_available(&mut self) {
        self.stdout.read_available();
        self.stderr.read_available();
    }

    /// Tells the worker that its command exited normally although some of its processes are left, and reads
    /// their output for a short time.
    async fn acknowledge_exit(&mut self) {
        if let Some(worker) = &self.worker {
            worker.acknowledge_exit();
        }
        let output = drain(&mut self.stdout, &mut self.stderr);
        let _ = timeout(OUTPUT_GRACE_PERIOD, output).await;
    }

    /// Returns the worker to the pool and releases the permit.
    fn release(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.release();
        }
    }

    /// Takes the permit back if the command was not started.
    fn withdraw(&mut self) -> Option<StartPermit> {
        self.worker.take().and_then(Worker::withdraw)
    }

    /// Makes the worker end the remaining processes. The permit is released when that is done.
    fn stop_in_background(&mut self) {
        if let Some(worker) = self.worker.take() {
            tokio::spawn(worker.stop());
        }
    }

    /// Ends the command, and reads its output until then.
    async fn stop(&mut self) {
        let Some(worker) = self.worker.take() else {
            return;
        };
        // A separate task, because it must go on when this future is dropped.
        let stopped = tokio::spawn(worker.stop());
        let output = drain(&mut self.stdout, &mut self.stderr);
        let _ = timeout(STOP_TIMEOUT, async { tokio::join!(stopped, output) }).await;
    }
}

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        // Without a runtime the server is about to exit. Then dropping the worker's connection is enough.
        if let Some(worker) = self.worker.take()
            && let Ok(runtime) = Handle::try_current()
        {
            let mut stdout = mem::take(&mut self.stdout);
            let mut stderr = mem::take(&mut self.stderr);
            // Nobody will read it.
            stdout.discard_output();
            stderr.discard_output();
            let stopped = worker.stop();
            // Goes on reading output, so that SIGPIPE does not kill the command while it cleans up.
            runtime.spawn(async move {
                tokio::pin!(stopped);
                tokio::select! {
                    () = &mut stopped => {}
                    () = drain(&mut stdout, &mut stderr) => stopped.await,
                }
            });
        }
    }
}

/// Writes standard input. Errors are ignored, because a command need not read it.
async fn write_stdin(stdin: Option<PipeWriter>, text: Option<&str>) {
    if let (Some(stdin), Some(text)) = (stdin, text)
        && let Ok(mut stdin) = pipe::Sender::from_owned_fd(OwnedFd::from(stdin))
    {
        let _ = stdin.write_all(text.as_bytes()).await;
    }
}
