//! Moves MCP messages over standard input and output, one a line.
//!
//! It stands below rmcp's service, in place of rmcp's own transport, for three reasons: the answer
//! to `tools/list` is written from baked bytes, input that is no message gets an answer, and a
//! client that sends too much has to wait.

mod flow;
mod lines;
mod message;
mod message_id;
mod stdio;
mod writer;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::server::Offer;
use flow::{Flow, Verdict};
use lines::{Line, Lines};
use message::{INVALID_REQUEST, Parsed, kind, opens, parse};
use writer::Writer;

/// How long answers are still written after the end of input.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// Standard input and output as a transport.
pub(crate) struct Stdio {
    offer: Arc<Offer>,
    /// Ends everything that still runs when there is no client any more.
    stop: CancellationToken,
    lines: Lines,
    max_request: usize,
    /// Whether the session has begun. What is no request before that has nothing to be about, and
    /// rmcp would take it for a reason to leave.
    is_open: bool,
    /// Whether there is no more input.
    is_at_end: bool,
    flow: Arc<Flow>,
    /// What is to be said about a line that was no message. It is kept here, because rmcp may drop
    /// the future that says it and ask again.
    complaint: Option<Vec<u8>>,
    /// Taken when the session ends.
    writer: Option<Writer>,
}

/// How much a client may ask for.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The most bytes of one message.
    pub(crate) max_request: usize,
    /// How many commands run at the same time.
    pub(crate) max_concurrent: usize,
}

impl Stdio {
    /// Takes over the process's standard input and output.
    pub(crate) fn new(offer: Arc<Offer>, stop: CancellationToken, limits: Limits) -> Self {
        let flow = Arc::new(Flow::new(limits.max_concurrent));
        let writer = Writer::new(stdio::output(), flow.clone(), stop.clone());
        Self {
            offer,
            stop,
            lines: Lines::new(stdio::input(), limits.max_request),
            max_request: limits.max_request,
            is_open: false,
            is_at_end: false,
            flow,
            complaint: None,
            writer: Some(writer),
        }
    }

    /// The next message that rmcp may have, or nothing when there is no more.
    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            self.say_complaint().await;
            if let Some(line) = self.flow.next_parked() {
                if let Parsed::Message(message) = parse(line.trim_ascii()) {
                    return Ok(Some(*message));
                }
                continue;
            }
            if self.is_at_end && !self.flow.has_parked() {
                return Ok(None);
            }
            let may_read = !self.is_at_end && self.flow.has_room();
            tokio::select! {
                () = self.flow.freed() => {}
                line = self.lines.next(), if may_read => match line? {
                    Line::Whole(mut line) => {
                        let message = self.take(&mut line);
                        self.lines.recycle(line);
                        if message.is_some() {
                            return Ok(message);
                        }
                    }
                    Line::TooLong(id) => {
                        let limit = self.max_request;
                        let message = format!("Invalid request: the message is over {limit} bytes");
                        self.complain(&id, INVALID_REQUEST, &message);
                    }
                    Line::End => self.end(),
                }
            }
        }
    }

    /// The message in a line, if it is one that rmcp may have now.
    fn take(&mut self, line: &mut Vec<u8>) -> Option<ClientJsonRpcMessage> {
        let message = match parse(line.trim_ascii()) {
            Parsed::Message(message) => *message,
            Parsed::Nothing => return None,
            Parsed::Malformed(id, code, message) => {
                self.complain(&id, code, message);
                return None;
            }
        };
        self.is_open |= opens(&message);
        let may_go = match &message {
            JsonRpcMessage::Request(request) => {
                match self.flow.admit(&request.id, kind(&request.request), line) {
                    Verdict::Go => true,
                    Verdict::Parked => false,
                    Verdict::Duplicate => {
                        let message =
                            "Invalid request: another request with this id is not answered yet";
                        self.complain(&request.id, INVALID_REQUEST, message);
                        false
                    }
                }
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    let id = cancelled.params.request_id.as_ref();
                    self.is_open && !id.is_some_and(|id| self.flow.cancel(id))
                }
                _ => self.is_open,
            },
            _ => self.is_open,
        };
        may_go.then_some(message)
    }

    /// Says that a line was no message.
    fn complain(&mut self, id: &impl Serialize, code: i32, message: &str) {
        let error = serde_json::json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": code, "message": message},
        });
        self.complaint = Some(error.to_string().into_bytes());
    }

    /// One is said before another can come up.
    async fn say_complaint(&mut self) {
        if self.complaint.is_some()
            && let Some(writer) = &self.writer
            && let Ok(permit) = writer.queue.reserve().await
            && let Some(bytes) = self.complaint.take()
        {
            permit.send(writer::Line {
                bytes,
                answers: None,
            });
        }
    }

    /// What is nearly done is still answered; the rest has nobody to wait for it.
    fn end(&mut self) {
        self.is_at_end = true;
        let stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LAST_ANSWERS).await;
            stop.cancel();
        });
    }
}

/// The bytes of a message.
fn encode(offer: &Offer, message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    const NO_TOOLS: &[u8] = br#""tools":[]"#;
    let bytes = serde_json::to_vec(message)?;
    let is_list = matches!(
        message,
        JsonRpcMessage::Response(response)
            if matches!(response.result, ServerResult::ListToolsResult(_))
    );
    if !is_list {
        return Ok(bytes);
    }
    // Quotes inside of a string are escaped, so this cannot be found in an id.
    let Some(at) = memchr::memmem::find(&bytes, NO_TOOLS) else {
        return Ok(bytes);
    };
    let (before, after) = (&bytes[..at], &bytes[at + NO_TOOLS.len()..]);
    let tools = offer.tools_json().as_bytes();
    Ok([before, br#""tools":"#, tools, after].concat())
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queue = self.writer.as_ref().map(|writer| writer.queue.clone());
        let bytes = encode(&self.offer, &message);
        let answers = match message {
            JsonRpcMessage::Response(response) => Some(response.id),
            JsonRpcMessage::Error(error) => error.id,
            _ => None,
        };
        async move {
            let bytes = bytes?;
            let line = writer::Line { bytes, answers };
            match queue {
                Some(queue) if queue.send(line).await.is_ok() => Ok(()),
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        match self.next_message().await {
            Ok(message) => message,
            Err(error) => {
                tracing::error!("standard input or output failed: {error}");
                self.end();
                None
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.close().await;
        }
        Ok(())
    }
}
