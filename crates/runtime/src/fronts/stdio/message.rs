//! Parses a line into an rmcp message, or into the error response that explains why it is not one.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, CustomRequest, GetMeta, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message_id::IdFinder;
use crate::fronts::mcp;

/// A parsed line.
pub(super) enum Parsed {
    /// A message for rmcp.
    Message(Box<ClientJsonRpcMessage>),
    /// No response is due: an empty line, or an invalid response or notification.
    Ignored,
    /// Anything else: its id, and the error.
    Malformed(Value, ErrorData),
}

/// Some programs start their output with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Parses a line.
pub(super) fn parse(line: &[u8]) -> Parsed {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.is_empty() {
        return Parsed::Ignored;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Parsed::Message(Box::new(message)),
        Err(_) => malformed(line),
    }
}

/// Finds out why a line is not a message. rmcp's error does not say.
fn malformed(line: &[u8]) -> Parsed {
    let message = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return not_a_message(None, "batches are not supported; send one message per line");
        }
        Ok(_) => return not_a_message(None, "a message must be a JSON object"),
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
        None if is_response => return Parsed::Ignored,
        None | Some("") => "`method` is missing",
        Some(_) if is_response => "a message cannot be both a request and a response",
        // A notification.
        Some(_) if id.is_none() => return Parsed::Ignored,
        Some(_) if !has_valid_id => "`id` is neither a string nor a 64-bit integer",
        Some(method) => {
            // rmcp accepts any request whose parameters are an object, so these are not.
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

/// The error for an invalid request.
pub(super) fn invalid_request(reason: &str) -> ErrorData {
    ErrorData::invalid_request(format!("Invalid request: {reason}"), None)
}

/// Checks a request that arrives before the session is open. Returns whether it opens the session:
/// `initialize` does, and so does a request whose `_meta` has what `initialize` would send. `ping` and
/// discovery need no session; anything else is an error.
pub(super) fn opens_session(request: &ClientRequest) -> Result<bool, ErrorData> {
    match request {
        ClientRequest::InitializeRequest(_) => Ok(true),
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Ok(false),
        other if other.get_meta().protocol_version().is_some() => Ok(true),
        ClientRequest::CustomRequest(request) => Err(mcp::custom_request_error(request)),
        ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => Err(
            invalid_request("the session is not initialized; send `initialize` first"),
        ),
        other => Err(mcp::method_not_found(other.method())),
    }
}

/// The response to a line that is not passed to rmcp. Unlike rmcp's own type, it can have any id, also null.
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
    fn an_invalid_request_gets_an_error_with_its_id() {
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
    fn an_error_says_what_is_wrong_with_the_message() {
        for (line, reason) in [
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                "batches are not supported",
            ),
            ("5", "a message must be a JSON object"),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                "`jsonrpc` is not",
            ),
            (r#"{"id":1,"method":"ping"}"#, "`jsonrpc` is not"),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
                "`id` is neither",
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, "`method` is missing"),
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
    fn responses_and_notifications_are_never_answered() {
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
