//! Reads a line as a message of rmcp's, or says why it is none.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, CustomRequest, GetMeta, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message_id::IdFinder;
use crate::fronts::mcp;

/// What a line holds.
pub(super) enum Parsed {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to answer: an empty line, or a response or notification that cannot be read.
    Nothing,
    /// Anything else: the id that it has, and what is wrong.
    Malformed(Value, ErrorData),
}

/// Some programs begin a text with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Parsed {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.is_empty() {
        return Parsed::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Parsed::Message(Box::new(message)),
        Err(_) => malformed(line),
    }
}

/// Why a line is not a message. rmcp tells only that it is none.
fn malformed(line: &[u8]) -> Parsed {
    let message = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return not_a_message(None, "there are no batches; send one message a line");
        }
        Ok(_) => return not_a_message(None, "a message is an object"),
        Err(error) => {
            let mut finder = IdFinder::default();
            finder.push(line);
            let error = ErrorData::parse_error(format!("Parse error: {error}"), None);
            return Parsed::Malformed(finder.id(), error);
        }
    };
    let method = message.get("method").and_then(Value::as_str);
    let is_response = message.contains_key("result") || message.contains_key("error");
    let id = message.get("id");
    let has_valid_id = id.is_none_or(|id| RequestId::deserialize(id).is_ok());
    let reason = match method {
        _ if message
            .get("jsonrpc")
            .is_none_or(|version| version != "2.0") =>
        {
            r#"`jsonrpc` is not "2.0""#
        }
        None if is_response => return Parsed::Nothing,
        None | Some("") => "there is no `method`",
        Some(_) if is_response => "it is a request and a response at once",
        // A notification.
        Some(_) if id.is_none() => return Parsed::Nothing,
        Some(_) if !has_valid_id => "`id` is no text and no integer of 64 bits",
        Some(method) => {
            // rmcp reads any request whose parameters are an object.
            let request = CustomRequest::new(method, message.get("params").cloned());
            let error = mcp::custom_request_error(&request);
            return Parsed::Malformed(id.cloned().unwrap_or_default(), error);
        }
    };
    not_a_message(id, reason)
}

fn not_a_message(id: Option<&Value>, reason: &str) -> Parsed {
    let id = id.filter(|id| id.is_string() || id.is_number());
    Parsed::Malformed(id.cloned().unwrap_or_default(), invalid_request(reason))
}

/// An error for what is not a request.
pub(super) fn invalid_request(reason: &str) -> ErrorData {
    ErrorData::invalid_request(format!("Invalid request: {reason}"), None)
}

/// Whether a request opens the session: a handshake does, and a request that carries all that a handshake
/// would tell. A ping and a discovery are answered without a session; for anything else there is an error.
pub(super) fn session_error(request: &ClientRequest) -> Result<bool, ErrorData> {
    match request {
        ClientRequest::InitializeRequest(_) => Ok(true),
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Ok(false),
        other if other.get_meta().protocol_version().is_some() => Ok(true),
        ClientRequest::CustomRequest(request) => Err(mcp::custom_request_error(request)),
        ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => Err(
            invalid_request("there is no session yet; send `initialize` first"),
        ),
        other => Err(mcp::method_not_found(other.method())),
    }
}

/// The response to what rmcp cannot have. Unlike rmcp's own type, it can have any id, and none.
#[derive(Serialize)]
pub(super) struct ErrorResponse {
    jsonrpc: &'static str,
    id: Value,
    error: ErrorData,
}

impl ErrorResponse {
    pub(super) fn new(id: Value, error: ErrorData) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_answered_with_its_id_and_the_reason() {
        for (line, code, id) in [
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                -32600,
                Value::from(1),
            ),
            (r#"{"id":1,"method":"ping"}"#, -32600, Value::from(1)),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                -32600,
                Value::from(1.5),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
                -32600,
                Value::from(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
                -32600,
                Value::from(1),
            ),
        ] {
            let Parsed::Malformed(found, error) = parse(line.as_bytes()) else {
                panic!("{line}");
            };
            assert_eq!(
                (error.code.0, found),
                (code, id),
                "{line}: {}",
                error.message
            );
        }
    }

    #[test]
    fn the_reason_says_what_is_wrong() {
        for (line, reason) in [
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                "there are no batches",
            ),
            ("5", "a message is an object"),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                "`jsonrpc` is not",
            ),
            (r#"{"id":1,"method":"ping"}"#, "`jsonrpc` is not"),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
                "`id` is no text",
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, "there is no `method`"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":[]}"#,
                "Method not found: no/such",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
                "`params` is not an object",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":5}}"#,
                "`_meta` is not an object",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e999}}"#,
                "number out of range",
            ),
        ] {
            let Parsed::Malformed(_, error) = parse(line.as_bytes()) else {
                panic!("{line}");
            };
            assert!(error.message.contains(reason), "{line}: {}", error.message);
        }
        let marked = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        assert!(matches!(parse(marked.as_bytes()), Parsed::Message(_)));
    }

    #[test]
    fn a_response_is_never_answered() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":[1],"result":5}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":5}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows","params":[]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
        ] {
            assert!(
                !matches!(parse(line.as_bytes()), Parsed::Malformed(..)),
                "{line}"
            );
        }
    }
}
