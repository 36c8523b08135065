//! The server's side of its keepers: has them made, keeps those that are idle, and talks to them.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::CommandExt;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::nursery;
use super::wire::{REPORT, Report, send_with_files};
use crate::lock::lock;
use crate::platform;

/// Settings of the server itself, which are none of the command's business.
const OWN_VARIABLES: &str = "CLIMAX_";

/// How many keepers wait for the next call, however long that takes.
const ALWAYS_IDLE: usize = 16;

/// How long others wait: where many calls came at once, they may come again.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// A call needs a line, up to three pipes and a directory, and the server a few files for itself.
const FILES_OF_A_CALL: u64 = 3 + 3 * 2 + 1;
const FILES_OF_THE_SERVER: u64 = 64;

/// A keeper that was told to end its command has done it within this time.
const SLOW: Duration = Duration::from_millis(600);

/// How long one is waited for that has not.
const PATIENCE: Duration = Duration::from_secs(6);

/// How long keepers are waited for when the server ends.
const LAST_MOMENT: Duration = Duration::from_millis(600);

/// All keepers of a server.
pub(crate) struct Keepers {
    /// How many calls may run at the same time.
    most: usize,
    /// Whether commands get a variable, by its name.
    passes: Box<dyn Fn(&str) -> bool + Send + Sync>,
    nursery: Mutex<Option<Nursery>>,
    idle: Arc<Idle>,
    /// Made while a command runs, for the one after it.
    spare_outputs: Mutex<Option<Outputs>>,
}

/// Pipes for what a command writes, and for what it complains about.
type Outputs = [(PipeReader, PipeWriter); 2];

fn new_outputs() -> io::Result<Outputs> {
    Ok([io::pipe()?, io::pipe()?])
}

/// Keepers that wait for the next call, those that waited longest first.
#[derive(Default)]
struct Idle {
    lines: Mutex<Vec<Line>>,
    /// Whether it is already foreseen to let some of them go.
    is_limited: AtomicBool,
}

impl Idle {
    fn take(&self) -> Option<Line> {
        lock(&self.lines).pop()
    }

    fn put(self: &Arc<Self>, line: Line) {
        let mut lines = lock(&self.lines);
        lines.push(line);
        if lines.len() > ALWAYS_IDLE && !self.is_limited.swap(true, Ordering::Relaxed) {
            let idle = self.clone();
            tokio::spawn(async move {
                sleep(IDLE_TIME).await;
                idle.is_limited.store(false, Ordering::Relaxed);
                let mut lines = lock(&idle.lines);
                let surplus = lines.len().saturating_sub(ALWAYS_IDLE);
                lines.drain(..surplus);
            });
        }
    }
}

/// A line to a keeper.
struct Line {
    /// Orders go over it.
    orders: BlockingStream,
    /// Reports come over it. It is a pipe of its own, because of a socket the event loop also hears
    /// when there is room for another order, and that is when the keeper has better things to do.
    reports: pipe::Receiver,
    /// Letting go of it ends the keeper and what it runs. When the server dies, the system does.
    leash: PipeWriter,
}

struct Nursery {
    process: Child,
    socket: Arc<UnixStream>,
}

impl Keepers {
    /// None yet: they come with the first call.
    pub(crate) fn new(most: usize, passes: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            most,
            passes: Box::new(passes),
            nursery: Mutex::default(),
            idle: Arc::default(),
            spare_outputs: Mutex::default(),
        }
    }

    /// Pipes for a command's output.
    pub(super) fn outputs(&self) -> io::Result<Outputs> {
        let spare = lock(&self.spare_outputs).take();
        spare.map_or_else(new_outputs, Ok)
    }

    /// Makes pipes ahead, where there is time for it.
    pub(super) fn make_spare_outputs(&self) {
        let mut spare = lock(&self.spare_outputs);
        if spare.is_none() {
            *spare = new_outputs().ok();
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
            let Some(line) = self.idle.take() else {
                return Ok(keeper(self.new_line().await?));
            };
            if is_alive(&line) {
                return Ok(keeper(line));
            }
        }
    }

    async fn new_line(&self) -> io::Result<Line> {
        let (orders, orders_end) = BlockingStream::pair()?;
        let (reports, reports_end) = io::pipe()?;
        let (leash_end, leash) = io::pipe()?;
        let files = [orders_end.as_fd(), reports_end.as_fd(), leash_end.as_fd()];
        let nursery = self.nursery_socket()?;
        let send = || send_with_files(&nursery, &[0], &files);
        nursery.async_io(Interest::WRITABLE, send).await?;
        orders.set_nonblocking(true)?;
        Ok(Line {
            orders,
            reports: pipe::Receiver::from_owned_fd(OwnedFd::from(reports))?,
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
        // Whoever ignores it, which is handed on to those that are started, does not hear how they end.
        platform::default_signal(Signal::CHILD);
        let (ours, theirs) = BlockingStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(platform::own_program()?);
        if let Some(name) = env::args_os().next() {
            command.arg0(name);
        }
        command.arg(nursery::ARGUMENT).args(self.raise_open_files());
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with(OWN_VARIABLES) || !(self.passes)(&text) {
                command.env_remove(name);
            }
        }
        let process = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
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
        lock(&self.idle.lines).clear();
        let Some(mut nursery) = lock(&self.nursery).take() else {
            return;
        };
        // It ends when it hears nothing more, and after its keepers.
        let socket = nursery.socket;
        let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Write);
        let closed = async {
            while socket.readable().await.is_ok() {
                if socket.try_read(&mut [0]).is_ok() {
                    return;
                }
            }
        };
        // A keeper that is stuck is not waited for; it goes on without us.
        if timeout(LAST_MOMENT, closed).await.is_ok() {
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
    pub(super) async fn order(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let orders = &self.line.orders;
        // An idle keeper has nothing to read, so there is room for the first bytes.
        let length = send_with_files(orders, bytes, files)?;
        if length < bytes.len() {
            let mut orders = UnixStream::from_std(orders.try_clone()?)?;
            orders.write_all(&bytes[length..]).await?;
        }
        Ok(())
    }

    /// Waits for the report. It may be asked again when it was interrupted.
    pub(super) async fn report(&self) -> io::Result<Report> {
        let report = next_report(&self.line.reports).await;
        report.ok_or_else(|| io::Error::other("the process that runs it has ended"))
    }

    /// Has it end all that it runs. Returns the call's place when that is done, or hopeless.
    pub(super) fn stop(self) -> impl Future<Output = OwnedSemaphorePermit> + Send + 'static {
        let Self { pool, line, place } = self;
        let nursery = lock(&pool.nursery);
        let nursery = nursery.as_ref().map(|nursery| nursery.socket.clone());
        async move {
            // It may be in the middle of an order.
            drop((line.leash, line.orders));
            let mut end = pin!(async { while next_report(&line.reports).await.is_some() {} });
            if timeout(SLOW, &mut end).await.is_err() {
                // It may have been stopped.
                let _ = nursery.map(|socket| socket.try_write(&[0]));
                let _ = timeout(PATIENCE, end).await;
            }
            place
        }
    }

    /// Tells it that its command has ended as it should, so that a daemon may stay.
    pub(super) fn accept(&self) {
        // A word to a keeper that has died is lost, and needless.
        let _ = (&self.line.orders).write(&[0]);
    }

    /// Its command has ended and left nothing behind: it can have another one. Returns the call's place.
    pub(super) fn release(self) -> OwnedSemaphorePermit {
        self.pool.idle.put(self.line);
        self.place
    }
}

/// Nothing when the keeper has ended.
async fn next_report(reports: &pipe::Receiver) -> Option<Report> {
    loop {
        reports.readable().await.ok()?;
        let mut bytes = [0; REPORT];
        match reports.try_read(&mut bytes) {
            // Short ones are written in one piece.
            Ok(REPORT) => return Some(Report::decode(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return None,
        }
    }
}

/// Whether a keeper is there: it has nothing to say, unless it has ended.
fn is_alive(line: &Line) -> bool {
    let nothing = line.reports.try_read(&mut [0]);
    nothing.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}
