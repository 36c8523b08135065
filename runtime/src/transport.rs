//! Moves MCP messages over standard input and output, one a line.
//!
//! It stands below rmcp's service, in place of rmcp's own transport, for two reasons: the answer to
//! `tools/list` is written from baked bytes, and input that is no message gets an answer.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::server::Offer;

/// The longest message that is taken.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// How long answers are still written after the end of input.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

const PARSE_ERROR: (i32, &str) = (-32700, "Parse error: the line is not valid JSON");
const INVALID_REQUEST: (i32, &str) = (-32600, "Invalid request: not a JSON-RPC message");
const TOO_LONG: (i32, &str) = (-32600, "Invalid request: the message is over 16 MiB");

/// Standard input and output as a transport.
pub(crate) struct Stdio {
    offer: Arc<Offer>,
    /// Ends everything that still runs when there is no client any more.
    stop: CancellationToken,
    reader: BufReader<StdioReader>,
    /// What was read of the current line. It is kept here, because rmcp may drop the future that
    /// reads and ask again.
    line: Vec<u8>,
    /// Whether the session has begun. What is no request before that has nothing to be about, and
    /// rmcp would take it for a reason to leave.
    is_open: bool,
    /// Whether the rest of the current line is to be skipped.
    skipping: bool,
    writer: Arc<Mutex<StdioWriter>>,
}

impl Stdio {
    /// Takes over the process's standard input and output.
    pub(crate) fn new(offer: Arc<Offer>, stop: CancellationToken) -> Self {
        let (reader, writer) = stdio_pipes();
        Self {
            offer,
            stop,
            reader: BufReader::new(reader),
            line: Vec::new(),
            is_open: false,
            skipping: false,
            writer: Arc::new(Mutex::new(writer)),
        }
    }

    /// Reads on until `line` is a whole line, or says why it cannot be.
    async fn read_line(&mut self) -> io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                // The last line may do without its end.
                let is_last = !self.line.is_empty() && !self.skipping;
                return Ok(if is_last { Line::Whole } else { Line::End });
            }
            let newline = memchr::memchr(b'\n', available);
            let length = newline.map_or(available.len(), |newline| newline + 1);
            let too_long = self.line.len() + length > LONGEST_LINE;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&available[..length]);
            }
            self.reader.consume(length);
            let was_skipping = self.skipping;
            self.skipping = (was_skipping || too_long) && newline.is_none();
            if too_long && !was_skipping {
                self.line = Vec::new();
                return Ok(Line::TooLong);
            }
            if newline.is_some() && !was_skipping {
                return Ok(Line::Whole);
            }
        }
    }

    /// Says that a line was no message.
    async fn complain(&self, id: &Value, (code, message): (i32, &str)) -> io::Result<()> {
        let error = serde_json::json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": code, "message": message},
        });
        write_line(&self.writer, error.to_string().into_bytes()).await
    }

    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            match self.read_line().await? {
                Line::End => return Ok(None),
                Line::TooLong => self.complain(&Value::Null, TOO_LONG).await?,
                Line::Whole => {
                    let parsed = parse(self.line.trim_ascii());
                    self.line.clear();
                    match parsed {
                        Parsed::Message(message) => {
                            self.is_open |= opens(&message);
                            if self.is_open || matches!(*message, JsonRpcMessage::Request(_)) {
                                return Ok(Some(*message));
                            }
                        }
                        Parsed::Nothing => {}
                        Parsed::Malformed(id, error) => self.complain(&id, error).await?,
                    }
                }
            }
        }
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

enum Parsed {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to answer: an empty line, or a notification that nobody knows.
    Nothing,
    Malformed(Value, (i32, &'static str)),
}

fn parse(line: &[u8]) -> Parsed {
    if line.is_empty() {
        return Parsed::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Parsed::Message(Box::new(message));
    }
    match serde_json::from_slice::<Value>(line) {
        Err(_) => Parsed::Malformed(readable_id(line), PARSE_ERROR),
        Ok(value) => match value.get("id") {
            Some(id) if id.is_string() || id.is_number() => {
                Parsed::Malformed(id.clone(), INVALID_REQUEST)
            }
            None if value.get("method").is_some_and(Value::is_string) => Parsed::Nothing,
            _ => Parsed::Malformed(Value::Null, INVALID_REQUEST),
        },
    }
}

/// Whether a message begins a session: a handshake, or a request that needs none.
fn opens(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => other.get_meta().protocol_version().is_some(),
        },
        _ => false,
    }
}

/// The id of a request of which something else cannot be held: a number out of range, half a
/// surrogate pair, nesting without end. What is passed over is not evaluated.
fn readable_id(line: &[u8]) -> Value {
    #[derive(serde::Deserialize)]
    struct Request {
        id: Value,
    }
    serde_json::from_slice(line).map_or(Value::Null, |request: Request| request.id)
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
    // Quotes inside of a string are escaped, so this cannot be found in an id.
    let Some(at) = memchr::memmem::find(&bytes, NO_TOOLS).filter(|_| is_list) else {
        return Ok(bytes);
    };
    let (before, after) = (&bytes[..at], &bytes[at + NO_TOOLS.len()..]);
    let tools = offer.tools_json().as_bytes();
    Ok([before, br#""tools":"#, tools, after].concat())
}

async fn write_line(writer: &Mutex<StdioWriter>, mut bytes: Vec<u8>) -> io::Result<()> {
    bytes.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&bytes).await?;
    writer.flush().await
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        let bytes = encode(&self.offer, &message);
        async move { write_line(&writer, bytes?).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await.unwrap_or_else(|error| {
            tracing::error!("standard input or output failed: {error}");
            None
        });
        if message.is_none() {
            // What is nearly done is still answered; the rest has nobody to wait for it.
            let stop = self.stop.clone();
            tokio::spawn(async move {
                tokio::time::sleep(LAST_ANSWERS).await;
                stop.cancel();
            });
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}
