//! Serialises messages and writes them in order, in batches when they arrive faster than the client reads.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::flow::{Flow, RequestNumber};
use super::message::ErrorResponse;
use super::streams::Output;

/// How many messages may wait to be written.
const QUEUE_LENGTH: usize = 64;

/// A batch is written when it has this many bytes, which is what a pipe holds.
const BATCH_BYTES: usize = 64 * 1024;

/// How long the client has to read the last messages when the server stops.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(400);

/// A message to write. It is serialised as late as possible, because its JSON may be several times as large.
pub(super) enum Outgoing {
    /// A message from rmcp.
    Message {
        message: Box<ServerJsonRpcMessage>,
        /// The request that it responds to.
        responds_to: Option<RequestNumber>,
    },
    /// The response to a line that is not passed to rmcp.
    Error(ErrorResponse),
}

/// A queue of messages, and the task that writes them.
pub(super) struct Writer {
    pub(super) queue: Sender<Outgoing>,
    task: JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(output: Output, flow: Arc<Flow>, stop: CancellationToken) -> Self {
        let (queue, messages) = channel(QUEUE_LENGTH);
        let task = tokio::spawn(async move {
            let stopped = async {
                stop.cancelled().await;
                sleep(CLOSE_TIMEOUT).await;
            };
            tokio::select! {
                result = write(output, messages, &flow) => if let Err(error) = result {
                    tracing::error!("cannot write to standard output: {error}");
                    // The client has gone.
                    stop.cancel();
                },
                () = stopped => tracing::warn!("the client does not read its responses"),
            }
        });
        Self { queue, task }
    }

    /// Waits until everything is written, or writing has failed.
    pub(super) async fn close(self) {
        drop(self.queue);
        let _ = self.task.await;
    }
}

async fn write(
    mut output: Output,
    mut messages: Receiver<Outgoing>,
    flow: &Flow,
) -> io::Result<()> {
    let mut received = Vec::with_capacity(QUEUE_LENGTH);
    let mut batch = Batch::default();
    while messages.recv_many(&mut received, QUEUE_LENGTH).await > 0 {
        for message in received.drain(..) {
            batch.push(&message);
            if batch.bytes.len() >= BATCH_BYTES {
                batch.write(&mut output, flow).await?;
            }
        }
        batch.write(&mut output, flow).await?;
    }
    output.shutdown().await
}

/// Lines that are written together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// The requests that the lines respond to.
    answered: Vec<RequestNumber>,
}

impl Batch {
    fn push(&mut self, message: &Outgoing) {
        let result = match message {
            Outgoing::Message {
                message,
                responds_to,
            } => {
                self.answered.extend(responds_to);
                serde_json::to_writer(&mut self.bytes, message)
            }
            Outgoing::Error(response) => serde_json::to_writer(&mut self.bytes, response),
        };
        result.expect("keys are strings, and no number is infinite");
        self.bytes.push(b'\n');
    }

    async fn write(&mut self, output: &mut Output, flow: &Flow) -> io::Result<()> {
        output.write_all(&self.bytes).await?;
        output.flush().await?;
        self.bytes.clear();
        // A long response leaves no large buffer behind.
        self.bytes.shrink_to(2 * BATCH_BYTES);
        for number in self.answered.drain(..) {
            flow.finish(number);
        }
        Ok(())
    }
}
