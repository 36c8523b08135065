//! The server's side of its keepers: has them made, keeps those that are idle, and talks to them.

use std::env;
use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::wire::{REPORT, Report, send_with_files};
use super::{nursery, platform};

/// Settings of the server itself, which are none of the command's business.
const OWN_VARIABLES: &str = "CLIMAX_";

/// How many keepers wait for the next call.
const MOST_IDLE: usize = 16;

/// A call needs a line and up to three pipes, and the server a few files for itself.
const FILES_OF_A_CALL: u64 = 2 + 3 * 2;
const FILES_OF_THE_SERVER: u64 = 64;

/// How long a keeper that was told to end its command is waited for.
const PATIENCE: Duration = Duration::from_secs(6);

/// All keepers of a server.
pub(crate) struct Keepers {
    /// How many calls may run at the same time.
    most: usize,
    nursery: Mutex<Option<Nursery>>,
    idle: Mutex<Vec<Line>>,
}

/// A line to a keeper.
struct Line {
    /// Orders go over it, and reports come back.
    socket: UnixStream,
    /// Letting go of it ends the keeper and what it runs. When the server dies, the system does.
    leash: PipeWriter,
}

struct Nursery {
    process: Child,
    socket: Arc<UnixStream>,
}

impl Keepers {
    /// None yet: they come with the first call.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            nursery: Mutex::default(),
            idle: Mutex::default(),
        }
    }

    /// An idle keeper, or a new one. It takes the call's place with it until it is done.
    pub(super) async fn keeper(&self, place: OwnedSemaphorePermit) -> io::Result<Keeper<'_>> {
        let keeper = |line| Keeper {
            pool: self,
            line,
            place,
        };
        loop {
            let idle = lock(&self.idle).pop();
            let Some(line) = idle else {
                return Ok(keeper(self.new_line().await?));
            };
            // It has nothing to say, unless it has ended.
            if is_silent(&line.socket) {
                return Ok(keeper(line));
            }
        }
    }

    async fn new_line(&self) -> io::Result<Line> {
        let (ours, theirs) = BlockingStream::pair()?;
        let (leash_end, leash) = io::pipe()?;
        let nursery = self.nursery_socket()?;
        let send = || send_with_files(&nursery, &[0], &[theirs.as_fd(), leash_end.as_fd()]);
        nursery.async_io(Interest::WRITABLE, send).await?;
        ours.set_nonblocking(true)?;
        Ok(Line {
            socket: UnixStream::from_std(ours)?,
            leash,
        })
    }

    /// Starts the nursery if there is none, or none any more.
    fn nursery_socket(&self) -> io::Result<Arc<UnixStream>> {
        let mut nursery = lock(&self.nursery);
        if let Some(nursery) = nursery.as_mut()
            && nursery.process.try_wait()?.is_none()
        {
            return Ok(nursery.socket.clone());
        }
        let (ours, theirs) = BlockingStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(platform::own_program()?);
        if let Some(name) = env::args_os().next() {
            command.arg0(name);
        }
        command.arg(nursery::ARGUMENT).args(self.raise_open_files());
        for (name, _) in env::vars_os() {
            if name
                .as_encoded_bytes()
                .starts_with(OWN_VARIABLES.as_bytes())
            {
                command.env_remove(name);
            }
        }
        let process = command
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        let socket = Arc::new(UnixStream::from_std(ours)?);
        *nursery = Some(Nursery {
            process,
            socket: socket.clone(),
        });
        Ok(socket)
    }

    /// Allows this process to open as many files as so many calls need. Returns what the limit was
    /// before, if it had to be raised.
    fn raise_open_files(&self) -> Option<String> {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let wanted = self.most as u64 * FILES_OF_A_CALL + FILES_OF_THE_SERVER;
        let wanted = maximum.map_or(wanted, |maximum| wanted.min(maximum));
        let before = current.filter(|&current| current < wanted)?;
        let raised = Rlimit {
            current: Some(wanted),
            maximum,
        };
        setrlimit(Resource::Nofile, raised).ok()?;
        Some(before.to_string())
    }

    /// Waits until all keepers have ended what they keep. To be called when no call runs any more.
    pub(crate) async fn close(&self) {
        lock(&self.idle).clear();
        let Some(mut nursery) = lock(&self.nursery).take() else {
            return;
        };
        // It ends when it hears nothing more, and after its keepers.
        let socket = nursery.socket;
        let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Write);
        if timeout(PATIENCE, until_closed(&socket)).await.is_ok() {
            let _ = nursery.process.wait();
        }
    }
}

/// One keeper. Letting go of it ends what it runs.
pub(super) struct Keeper<'a> {
    pool: &'a Keepers,
    line: Line,
    place: OwnedSemaphorePermit,
}

impl Keeper<'_> {
    /// Sends an order, with the files for it.
    pub(super) async fn order(&mut self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let socket = &mut self.line.socket;
        let send = || send_with_files(&*socket, bytes, files);
        let length = socket.async_io(Interest::WRITABLE, send).await?;
        socket.write_all(&bytes[length..]).await
    }

    /// Waits for the report. It may be asked again when it was interrupted.
    pub(super) async fn report(&self) -> io::Result<Report> {
        let socket = &self.line.socket;
        loop {
            socket.readable().await?;
            let mut bytes = [0; REPORT];
            match socket.try_read(&mut bytes) {
                // Short ones are sent in one piece.
                Ok(REPORT) => return Ok(Report::decode(bytes)),
                Ok(_) => return Err(io::Error::other("the process that runs it has ended")),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Has it end all that it runs. Returns when that is done, or hopeless. The call's place is
    /// free then.
    pub(super) fn stop(self) -> impl Future<Output = ()> + Send + 'static {
        let Self { line, place, .. } = self;
        async move {
            drop(line.leash);
            let _ = timeout(PATIENCE, until_closed(&line.socket)).await;
            drop(place);
        }
    }

    /// Tells it that its command has ended as it should, so that a daemon may stay.
    pub(super) fn accept(&self) {
        // A word to a keeper that has died is lost, and needless.
        let _ = self.line.socket.try_write(&[0]);
    }

    /// Its command has ended and left nothing behind: it can have another one.
    pub(super) fn release(self) {
        let mut idle = lock(&self.pool.idle);
        if idle.len() < MOST_IDLE {
            idle.push(self.line);
        }
    }
}

/// Whether nothing was said and nothing closed.
fn is_silent(socket: &UnixStream) -> bool {
    socket
        .try_read(&mut [0])
        .is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

async fn until_closed(socket: &UnixStream) {
    while socket.readable().await.is_ok() {
        match socket.try_read(&mut [0; REPORT]) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return,
        }
    }
}

/// What is guarded is whole between any two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
