//! Messages between the server, the supervisor and the workers.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::platform;

/// Standard input, output and error, and a directory.
const MAX_DESCRIPTORS: usize = 4;

/// A command for a worker to run. Its descriptors are, in this order, standard output, standard error,
/// standard input if the command has one, and the working directory if it is open.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunRequest<S> {
    /// The program and its arguments.
    pub(crate) argv: Vec<S>,
    /// `NAME=VALUE` for each variable that is set in addition to the inherited ones.
    pub(crate) env: Vec<S>,
    /// The path of the working directory; empty if it is inherited.
    pub(crate) directory: S,
    /// Whether the directory is sent as a descriptor.
    pub(crate) is_directory_open: bool,
    /// The command to run if this one is ended early; empty if there is none.
    pub(crate) cleanup: Vec<S>,
    /// The directory to remove when the command has ended; empty if there is none.
    pub(crate) temporary_directory: S,
    /// Whether to report that the command was started, not only that it ended.
    pub(crate) reports_start: bool,
}

/// Marks a request whose directory is sent as a descriptor.
const OPEN_DIRECTORY_MARK: &str = "opened";

/// Marks a request for a report of the start.
const START_REPORT_MARK: &str = "report start";

/// The length of a request's header, which holds the length of the rest.
const HEADER_BYTES: usize = 4;

/// The buffer for a request. Most requests fit into it.
const INITIAL_BUFFER_BYTES: usize = 4096;

impl<S: AsRef<str>> RunRequest<S> {
    /// Serialises the request. None of its strings may contain a NUL byte.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; HEADER_BYTES];
        let mut push = |text: &str| {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        };
        push(self.directory.as_ref());
        push(self.temporary_directory.as_ref());
        for (is_set, mark) in [
            (self.is_directory_open, OPEN_DIRECTORY_MARK),
            (self.reports_start, START_REPORT_MARK),
        ] {
            push(if is_set { mark } else { "" });
        }
        // An empty string ends each of these lists, since none of their items is empty.
        self.env.iter().for_each(|pair| push(pair.as_ref()));
        push("");
        self.cleanup.iter().for_each(|word| push(word.as_ref()));
        push("");
        self.argv.iter().for_each(|word| push(word.as_ref()));
        let length = u32::try_from(bytes.len() - HEADER_BYTES).map_err(io::Error::other)?;
        bytes[..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
        Ok(bytes)
    }
}

impl RunRequest<String> {
    /// Waits for a request. Returns `None` when the server has closed the socket.
    pub(crate) fn receive(mut socket: &UnixStream) -> io::Result<Option<(Self, Vec<OwnedFd>)>> {
        // Most requests arrive with the first read.
        let mut body = vec![0; INITIAL_BUFFER_BYTES];
        let (mut length, descriptors) = receive_with_descriptors(socket, &mut body)?;
        if length == 0 {
            return Ok(None);
        }
        if length < HEADER_BYTES {
            socket.read_exact(&mut body[length..HEADER_BYTES])?;
            length = HEADER_BYTES;
        }
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&body[..HEADER_BYTES]);
        body.drain(..HEADER_BYTES);
        body.resize(u32::from_le_bytes(header) as usize, 0);
        socket.read_exact(&mut body[length - HEADER_BYTES..])?;
        let text = String::from_utf8(body).map_err(io::Error::other)?;
        let mut strings = text.split_terminator('\0').map(str::to_owned);
        let directory = strings.next().unwrap_or_default();
        let temporary_directory = strings.next().unwrap_or_default();
        let mut has_mark = |mark| strings.next().is_some_and(|text| text == mark);
        let is_directory_open = has_mark(OPEN_DIRECTORY_MARK);
        let reports_start = has_mark(START_REPORT_MARK);
        let mut list = || {
            let items = strings.by_ref();
            items.take_while(|text| !text.is_empty()).collect()
        };
        let (env, cleanup) = (list(), list());
        let request = Self {
            argv: strings.collect(),
            env,
            directory,
            is_directory_open,
            cleanup,
            temporary_directory,
            reports_start,
        };
        Ok(Some((request, descriptors)))
    }
}

/// A report on a worker or its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunReport {
    /// The worker with this process id waits for its first request. If its connection is closed before this, it
    /// has run nothing.
    WorkerReady(i32),
    /// The supervisor could not fork the worker; this is the `errno`.
    ForkFailed(i32),
    /// The command was started.
    Started,
    /// The command was not started; this is the `errno`. The worker accepts another request.
    SpawnFailed(i32),
    /// The command exited.
    Exited {
        /// Its wait status.
        status: i32,
        /// Whether no process of the command is left, so that the worker accepts another request.
        is_clean: bool,
    },
}

/// The length of a report.
pub(crate) const REPORT_BYTES: usize = 6;

impl RunReport {
    /// Serialises the report.
    pub(crate) fn encode(self) -> [u8; REPORT_BYTES] {
        let (kind, is_clean, value) = match self {
            Self::WorkerReady(pid) => (0, 0, pid),
            Self::ForkFailed(errno) => (1, 0, errno),
            Self::Started => (2, 0, 0),
            Self::SpawnFailed(errno) => (3, 0, errno),
            Self::Exited { status, is_clean } => (4, u8::from(is_clean), status),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [kind, is_clean, a, b, c, d]
    }

    /// The inverse of [`encode`](Self::encode).
    pub(crate) fn decode([kind, is_clean, a, b, c, d]: [u8; REPORT_BYTES]) -> Self {
        let value = i32::from_le_bytes([a, b, c, d]);
        match kind {
            0 => Self::WorkerReady(value),
            1 => Self::ForkFailed(value),
            2 => Self::Started,
            3 => Self::SpawnFailed(value),
            _ => Self::Exited {
                status: value,
                is_clean: is_clean == 1,
            },
        }
    }
}

/// The `errno` of an error. Errors from std itself have none.
pub(crate) fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error())
}

/// Sends bytes and descriptors. The descriptors are attached to the first byte.
pub(crate) fn send_with_descriptors(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors)),
        "there is space for all descriptors"
    );
    let bytes = [IoSlice::new(bytes)];
    Ok(sendmsg(
        socket,
        &bytes,
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?)
}

/// Receives bytes and descriptors, which are close-on-exec.
pub(crate) fn receive_with_descriptors(
    socket: impl AsFd,
    buffer: &mut [u8],
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut buffer = [IoSliceMut::new(buffer)];
    let received = recvmsg(socket, &mut buffer, &mut ancillary, platform::RECEIVE_FLAGS)?;
    // If too many files are open, some descriptors are missing, and the others are useless without them.
    let is_complete = !received.flags.contains(ReturnFlags::CTRUNC);
    let descriptors = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) if is_complete => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect::<Vec<_>>();
    platform::set_close_on_exec(&descriptors)?;
    Ok((received.bytes, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::thread;

    #[test]
    fn a_request_and_its_descriptors_are_received_as_sent() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let request = RunRequest {
            argv: vec!["program", "", "ä\nb", ""],
            env: vec!["A=1", "B="],
            directory: "/tmp",
            is_directory_open: true,
            cleanup: vec!["docker", "rm"],
            temporary_directory: "/tmp/x",
            reports_start: true,
        };
        let bytes = request.encode().expect("short enough");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        send_with_descriptors(&ours, &bytes, &[writer.as_fd()]).expect("sent");
        drop((ours, writer));
        let (received, descriptors) = RunRequest::receive(&theirs)
            .expect("received")
            .expect("one");
        assert_eq!(received.argv, request.argv);
        assert_eq!(received.env, request.env);
        assert_eq!(received.directory, request.directory);
        assert_eq!(received.is_directory_open, request.is_directory_open);
        assert_eq!(received.cleanup, request.cleanup);
        assert_eq!(received.temporary_directory, request.temporary_directory);
        assert_eq!(received.reports_start, request.reports_start);
        let [descriptor] = <[OwnedFd; 1]>::try_from(descriptors).expect("one descriptor");
        io::PipeWriter::from(descriptor)
            .write_all(b"x")
            .expect("written");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("read");
        assert_eq!(text, "x");
        assert!(RunRequest::receive(&theirs).expect("the end").is_none());
    }

    #[test]
    fn a_request_can_be_longer_than_the_socket_buffer() {
        let (mut ours, theirs) = UnixStream::pair().expect("sockets");
        let word = "x".repeat(5_000_000);
        let request = RunRequest {
            argv: vec![word.as_str()],
            env: vec![],
            directory: "",
            is_directory_open: false,
            cleanup: vec![],
            temporary_directory: "",
            reports_start: false,
        };
        let bytes = request.encode().expect("short enough");
        let worker = thread::spawn(move || RunRequest::receive(&theirs).expect("received"));
        let sent = send_with_descriptors(&ours, &bytes, &[]).expect("sent");
        ours.write_all(&bytes[sent..]).expect("sent");
        let (received, descriptors) = worker.join().expect("no panic").expect("one");
        assert!(received.argv == [word]);
        assert!(descriptors.is_empty());
    }

    #[test]
    fn a_report_is_received_as_sent() {
        for report in [
            RunReport::WorkerReady(4711),
            RunReport::ForkFailed(11),
            RunReport::Started,
            RunReport::SpawnFailed(2),
            RunReport::Exited {
                status: 256,
                is_clean: true,
            },
            RunReport::Exited {
                status: -9,
                is_clean: false,
            },
        ] {
            assert_eq!(RunReport::decode(report.encode()), report);
        }
    }
}
