//! MCP messages over standard input and output, one a line: the transport below rmcp.
//!
//! It takes the place of rmcp's own, because that one has no back-pressure, drops malformed input silently,
//! and drains for seconds at the end of input. This one limits the size of lines, answers what is not a
//! message, holds requests back that are too many, and writes. All else is left to rmcp.

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
use message::{ErrorResponse, Parsed, invalid_request, parse, session_error};
use writer::{Outgoing, Writer};

/// Standard input and output as a transport.
pub(crate) struct Stdio {
    lines: Lines,
    max_request: usize,
    /// Tells which requests run a command.
    runs_command: Box<RunsCommand>,
    /// Whether the session has begun. Before that, rmcp takes any message but a request for a reason to end.
    is_open: bool,
    /// Whether the input has ended.
    is_input_closed: bool,
    disconnect: DisconnectWatcher,
    flow: Arc<Flow>,
    /// The response to the last line, if the line was not for rmcp. It is kept here, because rmcp may drop
    /// the future that sends it and ask for the next message again.
    reply: Option<ErrorResponse>,
    /// Taken when the session ends.
    writer: Option<Writer>,
}

/// Whether a request runs a command.
type RunsCommand = dyn Fn(&ClientRequest) -> bool + Send;

/// How much a client may ask for.
#[derive(Clone, Copy)]
pub(crate) struct StdioLimits {
    /// The most bytes of one message.
    pub(crate) max_request: usize,
    /// How many commands run at the same time.
    pub(crate) max_concurrent: usize,
}

impl Stdio {
    /// Takes over the process's standard input and output. Cancels `stop` when the client leaves.
    pub(crate) fn new(
        limits: StdioLimits,
        stop: CancellationToken,
        runs_command: impl Fn(&ClientRequest) -> bool + Send + 'static,
    ) -> Self {
        let flow = Arc::new(Flow::new(limits.max_concurrent));
        let writer = Writer::new(streams::output(), flow.clone(), stop.clone());
        Self {
            lines: Lines::new(streams::input(), limits.max_request),
            max_request: limits.max_request,
            runs_command: Box::new(runs_command),
            is_open: false,
            is_input_closed: false,
            disconnect: DisconnectWatcher::new(stop),
            flow,
            reply: None,
            writer: Some(writer),
        }
    }

    /// What keeps permits until responses are written.
    pub(crate) fn deliveries(&self) -> Arc<dyn Deliveries> {
        self.flow.clone()
    }

    /// The next message for rmcp, or nothing when there is no more.
    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            // Requests under way have their turn too, also when there is always more to read.
            consume_budget().await;
            self.send_reply().await;
            if let Some((number, line)) = self.flow.next_parked() {
                let Parsed::Message(message) = parse(line.trim_ascii()) else {
                    unreachable!("the line was a message when it was parked");
                };
                let JsonRpcMessage::Request(request) = *message else {
                    unreachable!("only requests are parked");
                };
                return Ok(Some(renumbered(request, number)));
            }
            if self.is_input_closed && self.flow.is_idle() {
                return Ok(None);
            }
            let may_read = !self.is_input_closed && self.flow.has_room();
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
                        let reason = format!("the message is over {} bytes", self.max_request);
                        self.refuse(id, invalid_request(&reason));
                    }
                    Line::End => self.end(),
                },
                () = self.disconnect.watch(), if !may_read => {}
            }
        }
    }

    /// The message in a line, if rmcp may have it now.
    fn take(&mut self, line: &mut Vec<u8>) -> Option<ClientJsonRpcMessage> {
        let message = match parse(line.trim_ascii()) {
            Parsed::Message(message) => *message,
            Parsed::Nothing => return None,
            Parsed::Malformed(id, error) => {
                self.refuse(id, error);
                return None;
            }
        };
        match message {
            JsonRpcMessage::Request(request) => self.admit(request, line),
            JsonRpcMessage::Notification(mut notification) => {
                let mut may_go = self.is_open;
                if let ClientNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                {
                    let id = &mut cancelled.params.request_id;
                    let number = id.take().and_then(|id| self.flow.cancel(&id));
                    *id = number.map(RequestId::Number);
                    may_go = number.is_some();
                }
                may_go.then_some(JsonRpcMessage::Notification(notification))
            }
            other => self.is_open.then_some(other),
        }
    }

    /// The request, if it may be worked on now.
    fn admit(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        line: &mut Vec<u8>,
    ) -> Option<ClientJsonRpcMessage> {
        if !self.is_open {
            match session_error(&request.request) {
                Ok(opens_session) => self.is_open = opens_session,
                Err(error) => {
                    self.refuse(request.id.into_json_value(), error);
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
            Admission::Go(number) => Some(renumbered(request, number)),
            Admission::Parked => None,
            Admission::Duplicate => {
                let error = invalid_request("another request with this id is not answered yet");
                self.refuse(request.id.into_json_value(), error);
                None
            }
        }
    }

    /// Answers a line that rmcp does not get.
    fn refuse(&mut self, id: Value, error: ErrorData) {
        self.reply = Some(ErrorResponse::new(id, error));
    }

    /// One reply is sent before the next line is read.
    async fn send_reply(&mut self) {
        if self.reply.is_some()
            && let Some(writer) = &self.writer
        {
            tokio::select! {
                Ok(slot) = writer.queue.reserve() => if let Some(reply) = self.reply.take() {
                    slot.send(Outgoing::Refusal(reply));
                },
                () = self.disconnect.watch() => {}
            }
        }
    }

    /// There is no more input.
    fn end(&mut self) {
        self.is_input_closed = true;
        self.disconnect.begin();
    }
}

/// A request under the server's own number. rmcp never sees the client's ids, so that a client may use an id
/// again as soon as it has the response, or has cancelled the request.
fn renumbered(
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
            let mut answers = None;
            if let Some(id) = id
                && let RequestId::Number(number) = *id
            {
                match flow.answer(number) {
                    Some(client_id) => *id = client_id,
                    // The client has cancelled it.
                    None => return Ok(()),
                }
                answers = Some(number);
            }
            slot.send(Outgoing::Message {
                message: Box::new(message),
                answers,
            });
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await.unwrap_or_else(|error| {
            tracing::error!("standard input or output failed: {error}");
            self.end();
            None
        });
        if message.is_none() && !self.is_open {
            // rmcp drops a transport whose client leaves so soon, but responses may be under way.
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
