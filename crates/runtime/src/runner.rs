//! Runs one command: no shell, nothing of ours inherited, and nothing left when it is over.
//!
//! The server starts no command itself. It has [`keeper`]s do it, which are made by a [`nursery`]
//! and handed out by the [`pool`].

mod fork;
mod keeper;
mod nursery;
mod pool;
mod wire;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::captured::Captured;
use crate::service::progress::{CallState, LastLine};

pub(crate) use nursery::{is_asked_for as is_nursery, main as nursery};
use pool::Keeper;
pub(crate) use pool::Keepers;
use wire::{Order, Report};

/// Most commands are done within this time, and few write more before than a pipe holds. For these
/// there is no need to watch what they write.
const AT_ONCE: Duration = Duration::from_millis(2);

/// After a command's end, how long to wait for output that something it started still holds open.
const LINGER: Duration = Duration::from_millis(100);

/// After a timeout, how long to wait for the command's end and its last words.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Complaints get this part of what output may have.
const STDERR_SHARE: usize = 16;

/// What is to be run.
pub(crate) struct Invocation<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [Cow<'a, str>],
    /// `NAME=VALUE` for variables beside our own.
    pub(crate) env: Vec<&'a str>,
    /// Where, if not here.
    pub(crate) directory: Option<&'a str>,
    /// This place, if it was opened already.
    pub(crate) opened: Option<BorrowedFd<'a>>,
    /// What it reads.
    pub(crate) stdin: Option<&'a str>,
    /// What is to be run if the command does not end by itself: its program and arguments, or nothing.
    pub(crate) undo: Vec<&'a str>,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// How many bytes of its output are kept.
    pub(crate) max_output: usize,
    /// Who wants to know how it goes on.
    pub(crate) progress: Option<&'a CallState>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What it wrote.
    pub(crate) stdout: Captured,
    /// What it complained about.
    pub(crate) stderr: Captured,
    /// How it ended.
    pub(crate) end: End,
    /// Its place among those that run, if it had one.
    pub(crate) place: Option<Place>,
}

/// The place of a command that has ended. It is free when this is dropped and nothing of the command is left.
#[derive(Debug)]
pub(crate) enum Place {
    /// Nothing is left.
    Clean { _place: OwnedSemaphorePermit },
    /// Something is ended meanwhile.
    Unclean {
        _place: JoinHandle<OwnedSemaphorePermit>,
    },
}

impl Outcome {
    /// Nothing ran, for a reason.
    pub(crate) fn not_started(reason: String) -> Self {
        Self {
            stdout: Captured::new(0),
            stderr: Captured::new(0),
            end: End::NotStarted(reason),
            place: None,
        }
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut(Duration),
    /// It never began, for this reason.
    NotStarted(String),
}

impl End {
    /// Whether it did what it was to do.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self, Self::Exited(status) if status.success())
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => status.fmt(formatter),
            Self::TimedOut(timeout) => write!(formatter, "timed out after {timeout:?}"),
            Self::NotStarted(reason) => reason.fmt(formatter),
        }
    }
}

/// Runs a command to its end. Dropping the future ends it and all that it started.
pub(crate) async fn run(
    invocation: Invocation<'_>,
    keepers: &Keepers,
    place: OwnedSemaphorePermit,
) -> Outcome {
    match attempt(&invocation, keepers, place).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::not_started(not_started(&error, &invocation)),
    }
}

/// Fails if the command did not begin.
async fn attempt(
    invocation: &Invocation<'_>,
    keepers: &Keepers,
    place: OwnedSemaphorePermit,
) -> io::Result<Outcome> {
    let order = Order {
        words: invocation.words.iter().map(AsRef::as_ref).collect(),
        env: invocation.env.clone(),
        directory: invocation.directory.unwrap_or_default(),
        is_opened: invocation.opened.is_some(),
        undo: invocation.undo.clone(),
    };
    if let Some(problem) = nul_problem(&order) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let keeper = keepers.keeper(place).await?;
    let [(stdout, stdout_end), (stderr, stderr_end)] = keepers.outputs()?;
    let (stdin_end, stdin) = match invocation.stdin {
        Some(_) => io::pipe().map(|(reader, writer)| (Some(reader), Some(writer)))?,
        None => (None, None),
    };
    let mut files = vec![stdout_end.as_fd(), stderr_end.as_fd()];
    files.extend(stdin_end.as_ref().map(AsFd::as_fd));
    files.extend(invocation.opened);
    let order = order.encode()?;
    let start = Instant::now();
    let mut running = Running {
        keeper: Some(keeper),
        stdout: Stream::new(stdout, invocation.max_output),
        stderr: Stream::new(stderr, invocation.max_output / STDERR_SHARE),
    };
    // A long order takes time, and a keeper may not take it at all.
    let ordered = timeout(invocation.timeout, running.order(&order, &files)).await;
    // The other ends are the command's alone.
    drop(files);
    drop((stdout_end, stderr_end, stdin_end));
    keepers.make_spare_outputs();

    let mut report = None;
    let mut left = invocation.timeout.saturating_sub(start.elapsed());
    // If it took too long, there is no time left.
    ordered.unwrap_or(Ok(()))?;
    // What a command is to read has to be written meanwhile.
    if stdin.is_none() {
        let at_once = AT_ONCE.min(left);
        report = timeout(at_once, running.report()).await.ok();
        left -= at_once;
    }
    if report.is_none() {
        let feed = write(stdin, invocation.stdin);
        let finish = running.finish(feed, invocation.progress);
        report = timeout(left, finish).await.ok();
    }
    let place;
    let end = if let Some(report) = report {
        match report? {
            Report::Failed(error) => return Err(io::Error::from_raw_os_error(error)),
            Report::Ended { status, is_clean } => {
                running.read_rest(is_clean).await;
                place = running.release(is_clean);
                End::Exited(ExitStatus::from_raw(status))
            }
        }
    } else {
        place = running.stop().await;
        End::TimedOut(invocation.timeout)
    };
    Ok(Outcome {
        stdout: mem::take(&mut running.stdout.captured),
        stderr: mem::take(&mut running.stderr.captured),
        end,
        place,
    })
}

/// A command that runs. Dropping it ends the command and all that it started.
struct Running<'a> {
    /// Nothing when the command has ended.
    keeper: Option<Keeper<'a>>,
    stdout: Stream,
    stderr: Stream,
}

impl Running<'_> {
    /// Has the command started.
    async fn order(&self, order: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
        match &self.keeper {
            Some(keeper) => keeper.order(order, files).await,
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Waits for the command's end.
    async fn report(&self) -> io::Result<Report> {
        match &self.keeper {
            Some(keeper) => keeper.report().await,
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Waits for the command's end, and takes its output meanwhile.
    async fn finish(
        &mut self,
        feed: impl Future<Output = ()>,
        progress: Option<&CallState>,
    ) -> io::Result<Report> {
        let Some(keeper) = &self.keeper else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        let output = async {
            tokio::join!(
                feed,
                stdout.read_to_end(progress),
                stderr.read_to_end(progress)
            );
        };
        tokio::select! {
            () = output => keeper.report().await,
            report = keeper.report() => report,
        }
    }

    /// Takes what was written before the command's end, and what comes soon after from processes
    /// that it left behind.
    async fn read_rest(&mut self, is_clean: bool) {
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        if is_clean {
            // All that was written is in the pipes.
            stdout.read_rest();
            stderr.read_rest();
        } else {
            if let Some(keeper) = &self.keeper {
                keeper.accept();
            }
            let output = async { tokio::join!(stdout.read_to_end(None), stderr.read_to_end(None)) };
            let _ = timeout(LINGER, output).await;
        }
    }

    /// The command has ended by itself.
    fn release(&mut self, is_clean: bool) -> Option<Place> {
        let keeper = self.keeper.take()?;
        Some(if is_clean {
            Place::Clean {
                _place: keeper.release(),
            }
        } else {
            Place::Unclean {
                _place: tokio::spawn(keeper.stop()),
            }
        })
    }

    /// Ends the command and waits for its last words.
    async fn stop(&mut self) -> Option<Place> {
        let keeper = self.keeper.take()?;
        // A task of its own, because it is to go on when nobody waits for it any more.
        let mut stop = tokio::spawn(keeper.stop());
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        let last_words = async {
            let words = async { tokio::join!(stdout.read_to_end(None), stderr.read_to_end(None)) };
            tokio::join!(&mut stop, words).0
        };
        let ended = timeout(LAST_WORDS, last_words).await;
        Some(match ended {
            Ok(Ok(place)) => Place::Clean { _place: place },
            _ => Place::Unclean { _place: stop },
        })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Without a runtime the server is about to end; letting go of the keeper is enough.
        if let Some(keeper) = self.keeper.take()
            && let Ok(runtime) = Handle::try_current()
        {
            let (mut stdout, mut stderr) =
                (mem::take(&mut self.stdout), mem::take(&mut self.stderr));
            let stop = keeper.stop();
            // It is read meanwhile, so that it does not die of a closed pipe as it cleans up.
            runtime.spawn(async move {
                let output =
                    async { tokio::join!(stdout.read_to_end(None), stderr.read_to_end(None)) };
                tokio::pin!(stop);
                tokio::select! {
                    _ = &mut stop => {}
                    _ = output => drop(stop.await),
                }
            });
        }
    }
}

/// The system ends a text at its first NUL byte.
fn nul_problem(order: &Order<&str>) -> Option<&'static str> {
    if order.directory.contains('\0') {
        return Some("the working directory has a NUL byte");
    }
    let has_nul = order.words.iter().any(|word| word.contains('\0'));
    has_nul.then_some("an argument has a NUL byte, which no argument can hold")
}

/// The system says only "not found"; the caller wants to know what.
fn not_started(error: &io::Error, invocation: &Invocation<'_>) -> String {
    let program = invocation.words.first().map_or("", AsRef::as_ref);
    if error.kind() != io::ErrorKind::InvalidInput
        && let Some(directory) = invocation.directory
        && let Some(problem) = directory_problem(directory)
    {
        return problem;
    }
    match error.kind() {
        io::ErrorKind::NotFound => format!("Command not found: {program}"),
        io::ErrorKind::PermissionDenied => format!("Permission denied: {program}"),
        io::ErrorKind::ArgumentListTooLong => {
            let bytes: usize = invocation.words.iter().map(|word| word.len()).sum();
            format!(
                "Cannot run {program}: its arguments are too long for the system ({bytes} bytes)"
            )
        }
        _ => format!("Cannot run {program}: {error}"),
    }
}

/// Why a directory cannot be worked in, if it cannot.
fn directory_problem(directory: &str) -> Option<String> {
    match Path::new(directory).join(".").metadata() {
        Ok(_) => None,
        Err(error) => Some(match error.kind() {
            io::ErrorKind::NotFound => format!("Working directory not found: {directory}"),
            io::ErrorKind::NotADirectory => {
                format!("Working directory is no directory: {directory}")
            }
            io::ErrorKind::PermissionDenied => {
                format!("Permission denied: working directory {directory}")
            }
            _ => format!("Cannot use the working directory {directory}: {error}"),
        }),
    }
}

/// A command need not read what it is given.
async fn write(stdin: Option<PipeWriter>, text: Option<&str>) {
    if let (Some(stdin), Some(text)) = (stdin, text)
        && let Ok(mut stdin) = pipe::Sender::from_owned_fd(OwnedFd::from(stdin))
    {
        let _ = stdin.write_all(text.as_bytes()).await;
    }
}

/// One of the streams that a command writes.
#[derive(Default)]
struct Stream {
    pipe: Pipe,
    captured: Captured,
}

/// The end of a pipe that is read.
#[derive(Default)]
enum Pipe {
    /// The other end was closed.
    #[default]
    Closed,
    /// Nobody looks at it yet.
    Unwatched(PipeReader),
    /// The event loop tells when there is something to read.
    Watched(pipe::Receiver),
}

impl Stream {
    fn new(reader: PipeReader, limit: usize) -> Self {
        Self {
            pipe: Pipe::Unwatched(reader),
            captured: Captured::new(limit),
        }
    }

    /// What tells that there is something to read, if the other end is open.
    fn watched(&mut self) -> Option<&pipe::Receiver> {
        self.pipe = match mem::take(&mut self.pipe) {
            Pipe::Unwatched(reader) => pipe::Receiver::from_owned_fd(OwnedFd::from(reader))
                .map_or(Pipe::Closed, Pipe::Watched),
            other => other,
        };
        match &self.pipe {
            Pipe::Watched(receiver) => Some(receiver),
            _ => None,
        }
    }

    /// Reads on when the limit is reached, so that the command never waits for us. What was read is
    /// kept when this is interrupted.
    async fn read_to_end(&mut self, progress: Option<&CallState>) {
        let mut last_line = LastLine::default();
        while let Some(pipe) = self.watched() {
            let is_readable = pipe.readable().await.is_ok();
            let mut buffer = [0; 16 * 1024];
            match pipe.try_read(&mut buffer) {
                Ok(length @ 1..) => {
                    let piece = &buffer[..length];
                    self.captured.push(piece);
                    if let Some(progress) = progress
                        && let Some(line) = last_line.push(piece)
                    {
                        progress.wrote(line);
                    }
                }
                Err(error) if is_readable && error.kind() == io::ErrorKind::WouldBlock => {}
                // What came before an error counts.
                _ => self.pipe = Pipe::Closed,
            }
        }
    }

    /// Takes what is there, without waiting for more.
    fn read_rest(&mut self) {
        let mut buffer = [0; 16 * 1024];
        match mem::take(&mut self.pipe) {
            Pipe::Closed => {}
            Pipe::Watched(pipe) => {
                while let Ok(length @ 1..) = rustix::io::read(&pipe, &mut buffer) {
                    self.captured.push(&buffer[..length]);
                }
            }
            // It would wait for more, so it is asked only for what it has.
            Pipe::Unwatched(pipe) => {
                while let Ok(1..) = rustix::io::ioctl_fionread(&pipe)
                    && let Ok(length @ 1..) = rustix::io::read(&pipe, &mut buffer)
                {
                    self.captured.push(&buffer[..length]);
                }
            }
        }
    }
}
