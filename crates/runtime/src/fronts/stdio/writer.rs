//! Serialises messages and writes them in the order in which they come, several at once when they come faster
//! than the client reads.

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

/// Messages that wait to be written.
const QUEUE_LENGTH: usize = 64;

/// Bytes after which a batch is written. A pipe takes as many at once.
const BATCH_BYTES: usize = 64 * 1024;

/// How long a client has to take the last messages when the server stops.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(400);

/// A message to be written. It is serialised last, because JSON may be several times as large as its text.
pub(super) enum Outgoing {
    /// From rmcp.
    Message {
        message: Box<ServerJsonRpcMessage>,
        /// The request that it answers.
        answers: Option<RequestNumber>,
    },
    /// The response to a line that rmcp does not get.
    Refusal(ErrorResponse),
}

/// The way to the client.
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

    /// Waits until everything is written, or cannot be.
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
    /// The requests that they answer.
    answers: Vec<RequestNumber>,
}

impl Batch {
    fn push(&mut self, message: &Outgoing) {
        let result = match message {
            Outgoing::Message { message, answers } => {
                self.answers.extend(answers);
                serde_json::to_writer(&mut self.bytes, message)
            }
            Outgoing::Refusal(refusal) => serde_json::to_writer(&mut self.bytes, refusal),
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
        for number in self.answers.drain(..) {
            flow.finish(number);
        }
        Ok(())
    }
}
