//! Reads a command's standard output or standard error into a captured output.

use std::io::{self, PipeReader};
use std::mem;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

use crate::captured::{CapturedOutput, CommandOutput};
use crate::last_line::LastLine;

/// The size of the read buffer.
const CHUNK_BYTES: usize = 16 * 1024;

/// The read end of a command's standard output or standard error.
#[derive(Default)]
pub(crate) struct OutputStream {
    pipe: Pipe,
    captured: CapturedOutput,
}

#[derive(Default)]
enum Pipe {
    /// The write end was closed.
    #[default]
    Closed,
    /// Not registered with the event loop, which fast commands do not need.
    Unregistered(PipeReader),
    /// Registered with the event loop.
    Registered(pipe::Receiver),
}

impl OutputStream {
    pub(crate) fn new(reader: PipeReader, captured: CapturedOutput) -> Self {
        Self {
            pipe: Pipe::Unregistered(reader),
            captured,
        }
    }

    /// Returns the output so far.
    pub(crate) fn take_output(&mut self) -> CommandOutput {
        mem::take(&mut self.captured).finish()
    }

    /// Forgets the output so far, and keeps nothing of what follows.
    pub(crate) fn discard_output(&mut self) {
        self.captured = CapturedOutput::default();
    }

    /// Reads until the write end is closed, even beyond the limit, so that the command never blocks. Dropping
    /// the future loses no output.
    pub(crate) async fn read_to_end(&mut self, on_line: Option<&(dyn Fn(&str) + Sync)>) {
        let mut last_line = LastLine::default();
        while let Some(pipe) = self.register() {
            let is_readable = pipe.readable().await.is_ok();
            let mut buffer = [0; CHUNK_BYTES];
            match pipe.try_read(&mut buffer) {
                Ok(length @ 1..) => {
                    let chunk = &buffer[..length];
                    self.captured.push(chunk);
                    if let Some(on_line) = on_line
                        && let Some(line) = last_line.push(chunk)
                    {
                        on_line(&line);
                    }
                }
                Err(error) if is_readable && error.kind() == io::ErrorKind::WouldBlock => {}
                // End of file, or an error. The output so far is kept.
                _ => self.pipe = Pipe::Closed,
            }
        }
    }

    /// Reads what is in the pipe without waiting for more.
    pub(crate) fn read_available(&mut self) {
        let mut buffer = [0; CHUNK_BYTES];
        match mem::take(&mut self.pipe) {
            Pipe::Closed => {}
            Pipe::Registered(pipe) => {
                while let Ok(length @ 1..) = rustix::io::read(&pipe, &mut buffer) {
                    self.captured.push(&buffer[..length]);
                }
            }
            // Reading from an empty pipe would block, so this checks for bytes first.
            Pipe::Unregistered(pipe) => {
                while let Ok(1..) = rustix::io::ioctl_fionread(&pipe)
                    && let Ok(length @ 1..) = rustix::io::read(&pipe, &mut buffer)
                {
                    self.captured.push(&buffer[..length]);
                }
            }
        }
    }

    /// Registers the pipe with the event loop. Returns it unless it is closed.
    fn register(&mut self) -> Option<&pipe::Receiver> {
        self.pipe = match mem::take(&mut self.pipe) {
            Pipe::Unregistered(reader) => pipe::Receiver::from_owned_fd(OwnedFd::from(reader))
                .map_or(Pipe::Closed, Pipe::Registered),
            other => other,
        };
        match &self.pipe {
            Pipe::Registered(receiver) => Some(receiver),
            Pipe::Closed | Pipe::Unregistered(_) => None,
        }
    }
}

/// Reads both streams of a command until they are closed.
pub(crate) async fn drain(stdout: &mut OutputStream, stderr: &mut OutputStream) {
    tokio::join!(stdout.read_to_end(None), stderr.read_to_end(None));
}
