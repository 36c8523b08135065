//! Writes lines in the order in which they come, several at once when they come faster than the
//! client reads.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::flow::{Flow, Number};
use super::streams::Output;
use crate::service::Offer;

/// How many lines wait to be written.
const QUEUE: usize = 64;

/// How long a client has to take the last lines when the server stops.
const PATIENCE: Duration = Duration::from_millis(400);

/// A line to be written.
pub(super) struct Line {
    /// Without its end.
    pub(super) bytes: Vec<u8>,
    /// Where in it the list of tools is to be, which is too long to be copied.
    pub(super) tools: Option<Range<usize>>,
    /// The request that it answers.
    pub(super) answers: Option<Number>,
}

impl From<Vec<u8>> for Line {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            tools: None,
            answers: None,
        }
    }
}

/// The way to the client.
pub(super) struct Writer {
    /// Lines go in here.
    pub(super) queue: Sender<Line>,
    task: JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(
        output: Output,
        offer: Arc<Offer>,
        flow: Arc<Flow>,
        stop: CancellationToken,
    ) -> Self {
        let (queue, lines) = channel(QUEUE);
        let task = tokio::spawn(async move {
            let stopped = async {
                stop.cancelled().await;
                sleep(PATIENCE).await;
            };
            tokio::select! {
                result = write(output, lines, &offer, &flow) => if let Err(error) = result {
                    tracing::error!("cannot answer: {error}");
                    // A client that cannot hear has gone.
                    stop.cancel();
                },
                () = stopped => tracing::warn!("the client does not take its answers"),
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
    output: Output,
    mut lines: Receiver<Line>,
    offer: &Offer,
    flow: &Flow,
) -> io::Result<()> {
    let mut output = BufWriter::new(output);
    let mut batch = Vec::with_capacity(QUEUE);
    while lines.recv_many(&mut batch, QUEUE).await > 0 {
        for mut line in batch.drain(..) {
            line.bytes.push(b'\n');
            let mut rest = &line.bytes[..];
            if let Some(tools) = line.tools {
                output.write_all(&rest[..tools.start]).await?;
                output.write_all(offer.tools_json().as_bytes()).await?;
                rest = &rest[tools.end..];
            }
            output.write_all(rest).await?;
            if let Some(number) = line.answers {
                flow.finish(number);
            }
        }
        output.flush().await?;
    }
    output.shutdown().await
}
