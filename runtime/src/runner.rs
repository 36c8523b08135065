//! Runs one command: no shell, nothing of ours inherited, and nothing left when it is over.

use std::env;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use crate::captured::Captured;

/// After a command's end, how long to wait for output that something it started still holds open.
const LINGER: Duration = Duration::from_millis(100);

/// Complaints get this part of what output may have.
const STDERR_SHARE: usize = 16;

/// Settings of the server itself, which are none of the command's business.
const OWN_VARIABLES: &str = "CLIMAX_";

/// What is to be run.
pub(crate) struct Invocation<'a, W> {
    /// The program and its arguments.
    pub(crate) words: &'a [W],
    /// Variables beside our own.
    pub(crate) env: Vec<(&'a str, &'a str)>,
    /// Where, if not here.
    pub(crate) directory: Option<&'a str>,
    /// What it reads.
    pub(crate) stdin: Option<&'a str>,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// How many bytes of its output are kept.
    pub(crate) max_output: usize,
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
}

impl Outcome {
    /// Nothing ran, for a reason.
    pub(crate) fn not_started(reason: String) -> Self {
        Self {
            stdout: Captured::new(0),
            stderr: Captured::new(0),
            end: End::NotStarted(reason),
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

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => status.fmt(formatter),
            Self::TimedOut(timeout) => write!(formatter, "timed out after {timeout:?}"),
            Self::NotStarted(reason) => reason.fmt(formatter),
        }
    }
}

/// Runs a command to its end. Dropping the future kills it and all that it started.
pub(crate) async fn run<W: AsRef<str>>(invocation: Invocation<'_, W>) -> Outcome {
    let mut outcome = Outcome {
        stdout: Captured::new(invocation.max_output),
        stderr: Captured::new(invocation.max_output / STDERR_SHARE),
        end: End::TimedOut(invocation.timeout),
    };
    let mut child = match spawn(&invocation) {
        Ok(child) => child,
        Err(reason) => return Outcome::not_started(reason),
    };
    let mut group = ProcessGroup::of(&child);
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let exchange = async {
        tokio::join!(
            write(stdin, invocation.stdin),
            read(stdout, &mut outcome.stdout),
            read(stderr, &mut outcome.stderr),
        )
    };
    let finish = async {
        tokio::pin!(exchange);
        tokio::select! {
            _ = &mut exchange => child.wait().await,
            status = child.wait() => {
                let _ = timeout(LINGER, &mut exchange).await;
                status
            }
        }
    };
    match timeout(invocation.timeout, finish).await {
        Ok(Ok(status)) => {
            group.release();
            outcome.end = End::Exited(status);
        }
        Ok(Err(error)) => outcome.end = End::NotStarted(error.to_string()),
        Err(_) => {
            drop(group);
            // It may have left its group.
            let _ = child.start_kill();
            // Killed, so this does not take long; it leaves no zombie.
            let _ = child.wait().await;
        }
    }
    outcome
}

fn spawn<W: AsRef<str>>(invocation: &Invocation<'_, W>) -> Result<Child, String> {
    let mut words = invocation.words.iter().map(AsRef::as_ref);
    let program = words.next().unwrap_or_default();
    let piped_if = |piped: bool| if piped { Stdio::piped() } else { Stdio::null() };
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        if name
            .as_encoded_bytes()
            .starts_with(OWN_VARIABLES.as_bytes())
        {
            command.env_remove(name);
        }
    }
    command
        .args(words)
        .envs(invocation.env.iter().copied())
        .stdin(piped_if(invocation.stdin.is_some()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(directory) = invocation.directory {
        command.current_dir(directory);
    }
    command
        .spawn()
        .map_err(|error| not_started(&error, program, invocation.directory))
}

/// The system says only "not found"; the caller wants to know what.
fn not_started(error: &io::Error, program: &str, directory: Option<&str>) -> String {
    if let Some(directory) = directory
        && !Path::new(directory).is_dir()
    {
        return format!("Working directory not found: {directory}");
    }
    match error.kind() {
        io::ErrorKind::NotFound => format!("Command not found: {program}"),
        io::ErrorKind::PermissionDenied => format!("Permission denied: {program}"),
        _ => format!("Cannot run {program}: {error}"),
    }
}

/// A command need not read what it is given.
async fn write(stdin: Option<ChildStdin>, text: Option<&str>) {
    if let (Some(mut stdin), Some(text)) = (stdin, text) {
        let _ = stdin.write_all(text.as_bytes()).await;
    }
}

/// Reads to the end, so that the command never waits for us. What came before an error counts.
async fn read(stream: Option<impl AsyncRead + Unpin>, captured: &mut Captured) {
    let Some(mut stream) = stream else {
        return;
    };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        captured.push(&buffer[..length]);
    }
}

/// Kills a process group when it goes, unless it was released.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn release(&mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
