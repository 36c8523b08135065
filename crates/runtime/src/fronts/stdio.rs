//! Moves MCP messages over standard input and output, one a line.
//!
//! It stands below rmcp's service, in place of rmcp's own transport: it answers by itself what takes
//! nothing but baked bytes, input that is no message gets an answer, and a client that sends too
//! much has to wait.

mod calls;
mod departure;
mod flow;
mod lines;
mod message;
mod message_id;
mod streams;
mod writer;
mod written;

use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage,
    JsonRpcRequest, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde_json::Value;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use crate::service::Offer;
use calls::Calls;
use departure::Departure;
use flow::{Flow, Number, Verdict};
use lines::{Line, Lines};
use message::{Parsed, invalid_request, is_usual, kind, needs_no_session, opens, parse};
use writer::Writer;
use written::{refusal, written};

/// Standard input and output as a transport.
pub(crate) struct Stdio {
    lines: Lines,
    max_request: usize,
    /// Whether the session has begun. What is no request before that has nothing to be about, and
    /// rmcp would take it for a reason to leave.
    is_open: bool,
    /// Whether the handshake was answered. Nothing may overtake that.
    has_greeted: bool,
    /// Whether there is no more input.
    is_at_end: bool,
    departure: Departure,
    flow: Arc<Flow>,
    offer: Arc<Offer>,
    calls: Calls,
    /// What is to be said about the last line. It is kept here, because rmcp may drop the future
    /// that says it and ask again.
    reply: Option<Vec<u8>>,
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
        let writer = Writer::new(streams::output(), offer.clone(), flow.clone(), stop.clone());
        Self {
            lines: Lines::new(streams::input(), limits.max_request),
            max_request: limits.max_request,
            is_open: false,
            has_greeted: false,
            is_at_end: false,
            departure: Departure::new(stop),
            flow,
            offer,
            calls: Calls::default(),
            reply: None,
            writer: Some(writer),
        }
    }

    /// The next message that rmcp may have, or nothing when there is no more.
    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            // What was asked for before has its turn too, also when there is always more to read.
            consume_budget().await;
            self.say_reply().await;
            if let Some((number, line)) = self.flow.next_parked() {
                if let Parsed::Message(message) = parse(line.trim_ascii())
                    && let JsonRpcMessage::Request(request) = *message
                    && let Some(request) = self.begin(number, request)
                {
                    return Ok(Some(JsonRpcMessage::Request(request)));
                }
                continue;
            }
            if self.is_at_end && self.flow.is_idle() {
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
                        let reason = format!("the message is over {} bytes", self.max_request);
                        self.complain(&id, &invalid_request(&reason));
                    }
                    Line::End => self.end(),
                },
                () = self.departure.watch(), if !may_read => {}
            }
        }
    }

    /// The message in a line, if it is one that rmcp may have now.
    fn take(&mut self, line: &mut Vec<u8>) -> Option<ClientJsonRpcMessage> {
        let message = match parse(line.trim_ascii()) {
            Parsed::Message(message) => *message,
            Parsed::Nothing => return None,
            Parsed::Malformed(id, error) => {
                self.complain(&id, &error);
                return None;
            }
        };
        match message {
            JsonRpcMessage::Request(mut request) => {
                self.is_open |= opens(&request.request);
                if !self.is_open && !needs_no_session(&request.request) {
                    let reason = "there is no session yet; send `initialize` first";
                    self.complain(&request.id, &invalid_request(reason));
                    return None;
                }
                if self.is_answered_at_once(&mut request) {
                    return None;
                }
                match self.flow.admit(&request.id, kind(&request.request), line) {
                    Verdict::Go(number) => self.begin(number, request).map(JsonRpcMessage::Request),
                    Verdict::Parked => None,
                    Verdict::Duplicate => {
                        let error =
                            invalid_request("another request with this id is not answered yet");
                        self.complain(&request.id, &error);
                        None
                    }
                }
            }
            JsonRpcMessage::Notification(mut notification) => {
                let mut may_go = self.is_open;
                if let ClientNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                {
                    let id = &mut cancelled.params.request_id;
                    let number = id.take().and_then(|id| self.flow.cancel(&id));
                    *id = number.map(RequestId::Number);
                    may_go = number.is_some_and(|number| !self.calls.cancel(number));
                }
                may_go.then_some(JsonRpcMessage::Notification(notification))
            }
            other => self.is_open.then_some(other),
        }
    }

    /// Begins to work on a request. Returns it if it is rmcp that does.
    fn begin(
        &mut self,
        number: Number,
        mut request: JsonRpcRequest<ClientRequest>,
    ) -> Option<JsonRpcRequest<ClientRequest>> {
        let is_usual = self.has_greeted && is_usual(&request.request);
        let token = request.request.get_meta().get_progress_token();
        match (request.request, &self.writer) {
            (ClientRequest::CallToolRequest(call), Some(writer)) if is_usual => {
                let (offer, flow) = (self.offer.clone(), self.flow.clone());
                let queue = writer.queue.clone();
                let call = (call.params, token);
                self.calls.begin(number, call, offer, flow, queue);
                None
            }
            (other, _) => {
                request.request = other;
                request.id = RequestId::Number(number);
                Some(request)
            }
        }
    }

    /// Answers a request that takes nothing but what was baked. rmcp would need several times as long.
    fn is_answered_at_once(&mut self, request: &mut JsonRpcRequest<ClientRequest>) -> bool {
        let is_usual = self.has_greeted && is_usual(&request.request);
        if !is_usual || self.flow.is_in_use(&request.id) {
            return false;
        }
        let Some(result) = self.offer.answer_at_once(&mut request.request) else {
            return false;
        };
        let id = match &request.id {
            RequestId::Number(number) => number.to_string(),
            RequestId::String(text) => Value::from(&**text).to_string(),
        };
        tracing::debug!("answered request {id} at once");
        let parts = [
            r#"{"jsonrpc":"2.0","id":"#,
            &id,
            r#","result":"#,
            &result,
            "}",
        ];
        self.reply = Some(parts.concat().into_bytes());
        true
    }

    /// Says that a line was no message.
    fn complain(&mut self, id: &impl Serialize, error: &ErrorData) {
        self.reply = Some(refusal(id, error));
    }

    /// One is said before another can come up.
    async fn say_reply(&mut self) {
        if self.reply.is_some()
            && let Some(writer) = &self.writer
        {
            tokio::select! {
                Ok(permit) = writer.queue.reserve() => if let Some(bytes) = self.reply.take() {
                    permit.send(bytes.into());
                },
                () = self.departure.watch() => {}
            }
        }
    }

    /// There is no more input.
    fn end(&mut self) {
        self.is_at_end = true;
        self.departure.begin();
    }

    /// A message as the client is to have it, or nothing if the client does not want it any more.
    fn line(&mut self, message: &mut ServerJsonRpcMessage) -> Option<writer::Line> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&mut response.id),
            JsonRpcMessage::Error(error) => error.id.as_mut(),
            _ => None,
        };
        let mut answers = None;
        if let Some(id) = id
            && let RequestId::Number(number) = *id
        {
            *id = self.flow.answer(number)?;
            answers = Some(number);
        }
        let bytes = written(message)?;
        let result = match message {
            JsonRpcMessage::Response(response) => Some(&response.result),
            _ => None,
        };
        self.has_greeted |= matches!(result, Some(ServerResult::InitializeResult(_)));
        let tools = match result {
            Some(ServerResult::ListToolsResult(_)) => list_in(&bytes),
            _ => None,
        };
        Some(writer::Line {
            bytes,
            tools,
            answers,
        })
    }
}

/// Where the list of tools is in an answer to `tools/list`.
fn list_in(bytes: &[u8]) -> Option<Range<usize>> {
    const NO_TOOLS: &[u8] = br#""tools":[]"#;
    // Quotes inside of a string are escaped, so this cannot be found in an id.
    let end = memchr::memmem::find(bytes, NO_TOOLS)? + NO_TOOLS.len();
    Some(end - "[]".len()..end)
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queue = self.writer.as_ref().map(|writer| writer.queue.clone());
        let line = self.line(&mut message);
        async move {
            let Some(line) = line else {
                return Ok(());
            };
            match queue {
                Some(queue) if queue.send(line).await.is_ok() => Ok(()),
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await.unwrap_or_else(|error| {
            tracing::error!("standard input or output failed: {error}");
            self.end();
            None
        });
        if message.is_none() && !self.is_open {
            // rmcp forgets about a client that leaves so soon, but it may wait for what it asked.
            let _ = self.close().await;
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.calls.end().await;
        if let Some(writer) = self.writer.take() {
            writer.close().await;
        }
        Ok(())
    }
}
