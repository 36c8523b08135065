//! The transport below rmcp: MCP messages over standard input and output, one per line.
//!
//! It replaces rmcp's own transport, which has no back-pressure, drops malformed input silently, and drains
//! for seconds at the end of input. This one limits the size of lines, responds to malformed messages, and
//! holds requests back when there are too many. It leaves everything else to rmcp.

mod disconnect;
mod flow;
mod lines;
mod message;
mod message_id;
mod streams;
mod writer;

use std::io;
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, JsonRpcRequest,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::mcp::Deliveries;
use disconnect::DisconnectWatcher;
use flow::{Admission, Flow, RequestKind};
use lines::{Line, Lines};
use message::{ErrorResponse, Parsed, invalid_request, opens_session, parse};
use writer::{Outgoing, Writer};

/// Standard input and output as a transport.
pub(crate) struct Stdio {
    lines: Lines,
    max_request_bytes: usize,
    /// Whether a request runs a command.
    runs_command: Box<RunsCommand>,
    /// Whether the session is open. Before that, any message other than a request would make rmcp exit.
    is_session_open: bool,
    /// Whether the input has ended.
    is_input_closed: bool,
    disconnect_watcher: DisconnectWatcher,
    flow: Arc<Flow>,
    /// The response to the last line, if the line was not passed to rmcp. It is kept here because rmcp may
    /// drop the future that sends it, and then calls `receive` again.
    pending_reply: Option<ErrorResponse>,
    /// Taken when the session ends.
    writer: Option<Writer>,
}

/// Tells whether a request runs a command.
type RunsCommand = dyn Fn(&ClientRequest) -> bool + Send;

/// Limits on what a client may send.
#[derive(Clone, Copy)]
pub(crate) struct StdioLimits {
    /// The maximum length of a message.
    pub(crate) max_request_bytes: usize,
    /// How many commands may run at the same time.
    pub(crate) max_concurrent: usize,
}

impl Stdio {
    /// Takes over the process's standard input and output. Cancels `stop` when the client disconnects.
    pub(crate) fn new(
        limits: StdioLimits,
        stop: CancellationToken,
        runs_command: impl Fn(&ClientRequest) -> bool + Send + 'static,
    ) -> Self {
        let flow = Arc::new(Flow::new(limits.max_concurrent));
        let writer = Writer::new(streams::output(), flow.clone(), stop.clone());
        Self {
            lines: Lines::new(streams::input(), limits.max_request_bytes),
            max_request_bytes: limits.max_request_bytes,
            runs_command: Box::new(runs_command),
            is_session_open: false,
            is_input_closed: false,
            disconnect_watcher: DisconnectWatcher::new(stop),
            flow,
            pending_reply: None,
            writer: Some(writer),
        }
    }

    /// Holds permits until responses are written.
    pub(crate) fn deliveries(&self) -> Arc<dyn Deliveries> {
        self.flow.clone()
    }

    /// Returns the next message for rmcp, or `None` at the end.
    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            // Yields to running requests, also when there is always more to read.
            consume_budget().await;
            self.send_reply().await;
            if let Some((number, line)) = self.flow.next_parked() {
                let Parsed::Message(message) = parse(line.trim_ascii()) else {
                    unreachable!("a parked line is a message");
                };
                let JsonRpcMessage::Request(request) = *message else {
                    unreachable!("only requests are parked");
                };
                return Ok(Some(with_number(request, number)));
            }
            if self.is_input_closed && self.flow.is_idle() {
                return Ok(None);
            }
            let may_read = !self.is_input_closed && self.flow.can_accept();
            tokio::select! {
                () = self.flow.request_finished() => {}
                line = self.lines.next(), if may_read => match line? {
                    Line::Whole(mut line) => {
                        let message = self.handle_line(&mut line);
                        self.lines.recycle(line);
                        if message.is_some() {
                            return Ok(message);
                        }
                    }
                    Line::TooLong(id) => {
                        let reason =
                            format!("the message is longer than {} bytes", self.max_request_bytes);
                        self.reply_with_error(id, invalid_request(&reason));
                    }
                    Line::End => self.end_input(),
                },
                () = self.disconnect_watcher.watch(), if !may_read => {}
            }
        }
    }

    /// Returns the message in a line if it is for rmcp and not held back.
    fn handle_line(&mut self, line: &mut Vec<u8>) -> Option<ClientJsonRpcMessage> {
        let message = match parse(line.trim_ascii()) {
            Parsed::Message(message) => *message,
            Parsed::Ignored => return None,
            Parsed::Malformed(id, error) => {
                self.reply_with_error(id, error);
                return None;
            }
        };
        match message {
            JsonRpcMessage::Request(request) => self.admit(request, line),
            JsonRpcMessage::Notification(mut notification) => {
                let mut is_for_rmcp = self.is_session_open;
                if let ClientNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                {
                    let id = &mut cancelled.params.request_id;
                    let number = id.take().and_then(|id| self.flow.cancel(&id));
                    *id = number.map(RequestId::Number);
                    is_for_rmcp = number.is_some();
                }
                is_for_rmcp.then_some(JsonRpcMessage::Notification(notification))
            }
            other => self.is_session_open.then_some(other),
        }
    }

    /// Returns the request under its new number, unless it is parked or refused.
    fn admit(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        line: &mut Vec<u8>,
    ) -> Option<ClientJsonRpcMessage> {
        if !self.is_session_open {
            match opens_session(&request.request) {
                Ok(is_opening) => self.is_session_open = is_opening,
                Err(error) => {
                    self.reply_with_error(request.id.into_json_value(), error);
                    return None;
                }
            }
        }
        let kind = if (self.runs_command)(&request.request) {
            RequestKind::Call
        } else {
            RequestKind::Other
        };
        match self.flow.admit(&request.id, kind, line) {
            Admission::Active(number) => Some(with_number(request, number)),
            Admission::Parked => None,
            Admission::Duplicate => {
                let error = invalid_request("another request with this id has no response yet");
                self.reply_with_error(request.id.into_json_value(), error);
                None
            }
        }
    }

    /// Responds to a line that is not passed to rmcp.
    fn reply_with_error(&mut self, id: Value, error: ErrorData) {
        self.pending_reply = Some(ErrorResponse::new(id, error));
    }

    /// Queues the pending reply. This happens before the next line is read.
    async fn send_reply(&mut self) {
        if self.pending_reply.is_some()
            && let Some(writer) = &self.writer
        {
            tokio::select! {
                Ok(slot) = writer.queue.reserve() => if let Some(reply) = self.pending_reply.take() {
                    slot.send(Outgoing::Error(reply));
                },
                () = self.disconnect_watcher.watch() => {}
            }
        }
    }

    fn end_input(&mut self) {
        self.is_input_closed = true;
        self.disconnect_watcher.disconnect();
    }
}

/// Replaces the client's id by the server's own number. rmcp never sees the client's ids, so a client may
/// reuse an id as soon as it has the response or has cancelled the request.
fn with_number(
    mut request: JsonRpcRequest<ClientRequest>,
    number: flow::RequestNumber,
) -> ClientJsonRpcMessage {
    request.id = RequestId::Number(number);
    JsonRpcMessage::Request(request)
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queue = self.writer.as_ref().map(|writer| writer.queue.clone());
        let flow = self.flow.clone();
        async move {
            let Some(queue) = queue else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let Ok(slot) = queue.reserve().await else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let id = match &mut message {
                JsonRpcMessage::Response(response) => Some(&mut response.id),
                JsonRpcMessage::Error(error) => error.id.as_mut(),
                _ => None,
            };
            let mut responds_to = None;
            if let Some(id) = id
                && let RequestId::Number(number) = *id
            {
                match flow.answer(number) {
                    Some(client_id) => *id = client_id,
                    // The client has cancelled the request.
                    None => return Ok(()),
                }
                responds_to = Some(number);
            }
            slot.send(Outgoing::Message {
                message: Box::new(message),
                responds_to,
            });
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await.unwrap_or_else(|error| {
            tracing::error!("standard input or output failed: {error}");
            self.end_input();
            None
        });
        if message.is_none() && !self.is_session_open {
            // rmcp drops the transport if the session never opened, but responses may still be queued.
            let _ = self.close().await;
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.close().await;
        }
        Ok(())
    }
}
