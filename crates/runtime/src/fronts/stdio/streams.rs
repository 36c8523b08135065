//! Opens standard input and output as non-blocking streams, whatever kind of file they are.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream as BlockingStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Poll flags for a stream whose other end is closed, or shut down for writing.
#[cfg(target_os = "linux")]
const CLOSED_FLAGS: PollFlags = PollFlags::HUP.union(PollFlags::RDHUP);
#[cfg(not(target_os = "linux"))]
const CLOSED_FLAGS: PollFlags = PollFlags::HUP;

/// The stream that requests are read from.
pub(super) type Input = Box<dyn AsyncRead + Send + Sync + Unpin>;

/// The stream that responses are written to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// Opens standard input. The event loop reads pipes and socket pairs, which are what clients use; a thread
/// reads anything else, such as a file or a terminal.
pub(super) fn input() -> Input {
    let pipe = |file| Ok(Box::new(pipe::Receiver::from_owned_fd(file)?) as Input);
    let opened = open(&io::stdin(), pipe, |socket| Box::new(socket));
    opened.unwrap_or_else(|_| Box::new(tokio::io::stdin()))
}

/// Opens standard output, in the same way.
pub(super) fn output() -> Output {
    let pipe = |file| Ok(Box::new(pipe::Sender::from_owned_fd(file)?) as Output);
    let opened = open(&io::stdout(), pipe, |socket| Box::new(socket));
    opened.unwrap_or_else(|_| Box::new(tokio::io::stdout()))
}

/// Whether the client has closed its end of standard input. There may still be unread input.
pub(super) fn is_input_closed() -> bool {
    let stdin = io::stdin();
    let mut files = [PollFd::new(&stdin, CLOSED_FLAGS)];
    poll(&mut files, Some(&Timespec::default())).is_ok()
        && files[0].revents().intersects(CLOSED_FLAGS)
}

/// Opens a stream without blocking. Fails if it is neither a pipe nor a Unix socket.
fn open<S>(
    stream: &(impl AsFd + AsRawFd),
    from_pipe: impl FnOnce(OwnedFd) -> io::Result<S>,
    from_socket: impl FnOnce(UnixStream) -> S,
) -> io::Result<S> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    let file_type = file.metadata()?.file_type();
    if file_type.is_fifo() {
        return from_pipe(reopen(stream).unwrap_or(file).into());
    }
    if file_type.is_socket() {
        let socket = BlockingStream::from(OwnedFd::from(file));
        // Fails for a socket of another family.
        socket.local_addr()?;
        socket.set_nonblocking(true)?;
        return Ok(from_socket(UnixStream::from_std(socket)?));
    }
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens the same pipe a second time, because other processes may share the first file description and must
/// not find it non-blocking. Fails on systems without `/proc`.
fn reopen(stream: &impl AsRawFd) -> io::Result<File> {
    let number = stream.as_raw_fd();
    let is_input = number == io::stdin().as_raw_fd();
    OpenOptions::new()
        .read(is_input)
        .write(!is_input)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(format!("/proc/self/fd/{number}"))
}
