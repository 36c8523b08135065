//! Standard input and output as streams that do not block, whatever a client gives us for them.

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

/// The other end of a stream was closed, or the half of it that writes.
#[cfg(target_os = "linux")]
const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::RDHUP);
#[cfg(not(target_os = "linux"))]
const CLOSED: PollFlags = PollFlags::HUP;

/// Where requests come from.
pub(super) type Input = Box<dyn AsyncRead + Send + Sync + Unpin>;

/// Where answers go.
pub(super) type Output = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// Standard input. Pipes and socket pairs, one of which clients use, are read by the event loop;
/// anything else, such as a file or a terminal, by a thread.
pub(super) fn input() -> Input {
    let pipe = |file| Ok(Box::new(pipe::Receiver::from_owned_fd(file)?) as Input);
    let opened = open(&io::stdin(), pipe, |socket| Box::new(socket));
    opened.unwrap_or_else(|_| Box::new(tokio::io::stdin()))
}

/// Standard output, likewise.
pub(super) fn output() -> Output {
    let pipe = |file| Ok(Box::new(pipe::Sender::from_owned_fd(file)?) as Output);
    let opened = open(&io::stdout(), pipe, |socket| Box::new(socket));
    opened.unwrap_or_else(|_| Box::new(tokio::io::stdout()))
}

/// Whether the client has closed its end of standard input. What it has sent before may still be
/// there to be read.
pub(super) fn is_input_closed() -> bool {
    let stdin = io::stdin();
    let mut files = [PollFd::new(&stdin, CLOSED)];
    poll(&mut files, Some(&Timespec::default())).is_ok() && files[0].revents().intersects(CLOSED)
}

/// Fails if it is neither a pipe nor a socket.
fn open<S>(
    stream: &(impl AsFd + AsRawFd),
    of_pipe: impl FnOnce(OwnedFd) -> io::Result<S>,
    of_socket: impl FnOnce(UnixStream) -> S,
) -> io::Result<S> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    let file_type = file.metadata()?.file_type();
    if file_type.is_fifo() {
        return of_pipe(reopened(stream).unwrap_or(file).into());
    }
    if file_type.is_socket() {
        let socket = BlockingStream::from(OwnedFd::from(file));
        // It may be a socket of another family.
        socket.local_addr()?;
        socket.set_nonblocking(true)?;
        return Ok(of_socket(UnixStream::from_std(socket)?));
    }
    Err(io::ErrorKind::Unsupported.into())
}

/// The same pipe, opened a second time. Whoever shares the first opening with us does not notice
/// that ours does not block. Only where the system can do it.
fn reopened(stream: &impl AsRawFd) -> io::Result<File> {
    let number = stream.as_raw_fd();
    let is_input = number == io::stdin().as_raw_fd();
    OpenOptions::new()
        .read(is_input)
        .write(!is_input)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(format!("/proc/self/fd/{number}"))
}
