//! What the server, the nursery and the keepers say to each other over their sockets.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::platform;

/// Standard input, output and error, and a directory.
const MOST_FILES: usize = 4;

/// A command that a keeper is to run. The files that come with it are its output, its complaints,
/// its input if it has one, and its directory if that was opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order<W> {
    /// The program and its arguments.
    pub(super) words: Vec<W>,
    /// `NAME=VALUE` for variables that are set beside the inherited ones.
    pub(super) env: Vec<W>,
    /// Where it runs; empty means here.
    pub(super) directory: W,
    /// Whether this directory comes as a file.
    pub(super) is_opened: bool,
    /// What to run if it does not end by itself.
    pub(super) undo: Vec<W>,
}

/// Stands in an order whose directory comes as a file.
const OPENED: &str = "opened";

/// What comes before an order: its length.
const HEADER: usize = 4;

/// How long an order usually is at most.
const USUAL_LENGTH: usize = 4096;

impl<W: AsRef<str>> Order<W> {
    /// As bytes. Nothing in it may hold a NUL.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; HEADER];
        let mut push = |text: &str| {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        };
        push(self.directory.as_ref());
        push(if self.is_opened { OPENED } else { "" });
        self.env.iter().for_each(|pair| push(pair.as_ref()));
        // No variable is the empty text, so this is where they end.
        push("");
        self.undo.iter().for_each(|word| push(word.as_ref()));
        // Nor is one of these words.
        push("");
        self.words.iter().for_each(|word| push(word.as_ref()));
        let length = u32::try_from(bytes.len() - HEADER).map_err(io::Error::other)?;
        bytes[..HEADER].copy_from_slice(&length.to_le_bytes());
        Ok(bytes)
    }
}

impl Order<String> {
    /// Waits for an order. There is none when the server has gone.
    pub(super) fn receive(mut socket: &UnixStream) -> io::Result<Option<(Self, Vec<OwnedFd>)>> {
        // Most are short, and come as a whole.
        let mut body = vec![0; USUAL_LENGTH];
        let (mut length, files) = receive_with_files(socket, &mut body)?;
        if length == 0 {
            return Ok(None);
        }
        if length < HEADER {
            socket.read_exact(&mut body[length..HEADER])?;
            length = HEADER;
        }
        let mut header = [0; HEADER];
        header.copy_from_slice(&body[..HEADER]);
        body.drain(..HEADER);
        body.resize(u32::from_le_bytes(header) as usize, 0);
        socket.read_exact(&mut body[length - HEADER..])?;
        let text = String::from_utf8(body).map_err(io::Error::other)?;
        let mut parts = text.split_terminator('\0').map(str::to_owned);
        let directory = parts.next().unwrap_or_default();
        let is_opened = parts.next().is_some_and(|mark| mark == OPENED);
        let mut list = || parts.by_ref().take_while(|text| !text.is_empty()).collect();
        let (env, undo) = (list(), list());
        let order = Self {
            words: parts.collect(),
            env,
            directory,
            is_opened,
            undo,
        };
        Ok(Some((order, files)))
    }
}

/// What a keeper says when its command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It did not begin, by this error of the system.
    Failed(i32),
    /// It ended with this status.
    Ended {
        /// As `wait` tells it.
        status: i32,
        /// Whether nothing of it is left, so that the keeper takes another order.
        is_clean: bool,
    },
}

/// The length of a report.
pub(super) const REPORT: usize = 6;

impl Report {
    pub(super) fn encode(self) -> [u8; REPORT] {
        let (kind, is_clean, value) = match self {
            Self::Failed(error) => (0, 0, error),
            Self::Ended { status, is_clean } => (1, u8::from(is_clean), status),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [kind, is_clean, a, b, c, d]
    }

    pub(super) fn decode([kind, is_clean, a, b, c, d]: [u8; REPORT]) -> Self {
        let value = i32::from_le_bytes([a, b, c, d]);
        match kind {
            0 => Self::Failed(value),
            _ => Self::Ended {
                status: value,
                is_clean: is_clean == 1,
            },
        }
    }
}

/// Sends bytes and open files. The files go with the first byte.
pub(super) fn send_with_files(
    socket: impl AsFd,
    bytes: &[u8],
    files: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(
        ancillary.push(SendAncillaryMessage::ScmRights(files)),
        "there is space for all files"
    );
    let bytes = [IoSlice::new(bytes)];
    Ok(sendmsg(
        socket,
        &bytes,
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?)
}

/// Receives bytes and open files.
pub(super) fn receive_with_files(
    socket: impl AsFd,
    buffer: &mut [u8],
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut buffer = [IoSliceMut::new(buffer)];
    let received = recvmsg(socket, &mut buffer, &mut ancillary, platform::RECEIVE_FLAGS)?;
    // Some are lost where too many are open, and the rest is of no use.
    let is_whole = !received.flags.contains(ReturnFlags::CTRUNC);
    let files = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) if is_whole => Some(files),
            _ => None,
        })
        .flatten()
        .collect::<Vec<_>>();
    platform::close_on_exec(&files)?;
    Ok((received.bytes, files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::thread;

    #[test]
    fn an_order_arrives_as_it_was_sent_with_its_files() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let order = Order {
            words: vec!["program", "", "ä\nb", ""],
            env: vec!["A=1", "B="],
            directory: "/tmp",
            is_opened: true,
            undo: vec!["docker", "rm"],
        };
        let bytes = order.encode().expect("short enough");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        send_with_files(&ours, &bytes, &[writer.as_fd()]).expect("sent");
        drop((ours, writer));
        let (received, files) = Order::receive(&theirs).expect("received").expect("one");
        assert_eq!(received.words, order.words);
        assert_eq!(received.env, order.env);
        assert_eq!(received.directory, order.directory);
        assert_eq!(received.is_opened, order.is_opened);
        assert_eq!(received.undo, order.undo);
        let [file] = <[OwnedFd; 1]>::try_from(files).expect("one file");
        io::PipeWriter::from(file).write_all(b"x").expect("written");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("read");
        assert_eq!(text, "x");
        assert!(Order::receive(&theirs).expect("the end").is_none());
    }

    #[test]
    fn an_order_may_be_longer_than_the_sockets_buffer() {
        let (mut ours, theirs) = UnixStream::pair().expect("sockets");
        let word = "x".repeat(5_000_000);
        let order = Order {
            words: vec![word.as_str()],
            env: vec![],
            directory: "",
            is_opened: false,
            undo: vec![],
        };
        let bytes = order.encode().expect("short enough");
        let keeper = thread::spawn(move || Order::receive(&theirs).expect("received"));
        let sent = send_with_files(&ours, &bytes, &[]).expect("sent");
        ours.write_all(&bytes[sent..]).expect("sent");
        let (received, files) = keeper.join().expect("no panic").expect("one");
        assert!(received.words == [word]);
        assert!(files.is_empty());
    }

    #[test]
    fn a_report_arrives_as_it_was_sent() {
        for report in [
            Report::Failed(2),
            Report::Ended {
                status: 256,
                is_clean: true,
            },
            Report::Ended {
                status: -9,
                is_clean: false,
            },
        ] {
            assert_eq!(Report::decode(report.encode()), report);
        }
    }
}
