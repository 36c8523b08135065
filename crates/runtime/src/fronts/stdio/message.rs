//! Line -> message. rmcp would try one kind of message after the other, with code for all that there
//! could be. Here the method decides, and what no method of this server needs is not read.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, CancelledNotification,
    CancelledNotificationMethod, CancelledNotificationParam, ClientJsonRpcMessage,
    ClientNotification, ClientRequest, ConstString, DiscoverRequest, DiscoverRequestMethod,
    ErrorCode, GetExtensions, GetMeta, InitializeRequest, InitializeRequestParams,
    InitializeResultMethod, InitializedNotification, InitializedNotificationMethod, JsonObject,
    JsonRpcMessage, ListToolsRequest, ListToolsRequestMethod, PingRequest, PingRequestMethod,
    RequestId, RequestMetaObject,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::flow::Kind;
use super::message_id::IdFinder;
use crate::service::meta_tools;

/// What a line holds.
pub(super) enum Parsed {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to answer: an empty line, an answer, or a notification of what does not matter here.
    Nothing,
    /// Something else: the id that it has, and what is wrong.
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
    let problem = match serde_json::from_slice::<Parts<'_>>(line) {
        Ok(parts) if parts.jsonrpc == "2.0" => return parts.message(),
        Ok(_) => r#"`jsonrpc` is not "2.0""#.to_owned(),
        Err(error) => error.to_string(),
    };
    match serde_json::from_slice::<Value>(line) {
        Err(error) => {
            let mut finder = IdFinder::default();
            finder.push(line);
            let error = ErrorData::parse_error(format!("Parse error: {error}"), None);
            Parsed::Malformed(finder.id(), error)
        }
        Ok(Value::Object(parts)) => match parts.get("id") {
            None if parts.get("method").is_some_and(Value::is_string) => Parsed::Nothing,
            id => no_message(id.cloned(), &problem),
        },
        Ok(Value::Array(_)) => no_message(None, "there are no batches; send one message a line"),
        Ok(_) => no_message(None, "a message is an object"),
    }
}

/// The parts of a message.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(default, deserialize_with = "given")]
    id: Option<Value>,
    /// Empty if there is none.
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "given")]
    error: Option<IgnoredAny>,
}

/// Something that is there, even if it is null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Parts<'_> {
    fn message(self) -> Parsed {
        let is_answer = self.result.is_some() || self.error.is_some();
        match (&*self.method, self.id) {
            // This server asks its clients for nothing.
            ("", _) if is_answer => Parsed::Nothing,
            ("", id) => no_message(id, "there is no `method`"),
            (_, id) if is_answer => no_message(id, "it is a request and an answer at once"),
            (method, None) => match notification(method, self.params) {
                Some(notification) => {
                    Parsed::Message(Box::new(JsonRpcMessage::notification(notification)))
                }
                None => Parsed::Nothing,
            },
            (method, Some(id)) => {
                let Ok(known) = RequestId::deserialize(&id) else {
                    return no_message(Some(id), "`id` is no text and no integer of 64 bits");
                };
                match request(method, self.params) {
                    Ok(request) => {
                        Parsed::Message(Box::new(JsonRpcMessage::request(request, known)))
                    }
                    Err(error) => Parsed::Malformed(id, error),
                }
            }
        }
    }
}

fn no_message(id: Option<Value>, reason: &str) -> Parsed {
    let id = id.filter(|id| id.is_string() || id.is_number());
    Parsed::Malformed(id.unwrap_or_default(), invalid_request(reason))
}

/// A request that is none, for this reason.
pub(super) fn invalid_request(reason: &str) -> ErrorData {
    ErrorData::invalid_request(format!("Invalid request: {reason}"), None)
}

fn request(method: &str, params: Option<Value>) -> Result<ClientRequest, ErrorData> {
    let read = match method {
        PingRequestMethod::VALUE => |_| Ok(PingRequest::default().into()),
        CallToolRequestMethod::VALUE => |params| call(params).map(ClientRequest::from),
        ListToolsRequestMethod::VALUE => |params| list(&params).map(ClientRequest::from),
        InitializeResultMethod::VALUE => |params| initialize(params).map(ClientRequest::from),
        DiscoverRequestMethod::VALUE => |_| Ok(DiscoverRequest::default().into()),
        _ => {
            let message = format!("Method not found: {method}");
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
    };
    let mut params = object("params", params)?;
    let meta = object("_meta", params.remove("_meta"))?;
    let mut request: ClientRequest = read(params)?;
    if !meta.is_empty() {
        let meta = RequestMetaObject::from(meta);
        request.extensions_mut().insert(meta);
    }
    Ok(request)
}

fn initialize(params: JsonObject) -> Result<InitializeRequest, ErrorData> {
    InitializeRequestParams::deserialize(&Value::Object(params))
        .map(InitializeRequest::new)
        .map_err(|error| invalid_params(&format!("of `initialize`: {error}")))
}

/// All tools are on one page, so a cursor can only be another server's.
fn list(params: &JsonObject) -> Result<ListToolsRequest, ErrorData> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(ListToolsRequest::default()),
        Some(_) => Err(invalid_params(
            "this server gave no `cursor`; leave it out, and all tools are listed",
        )),
    }
}

fn call(mut params: JsonObject) -> Result<CallToolRequest, ErrorData> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(invalid_params("tools/call needs a `name`"));
    };
    let arguments = object("arguments", params.remove("arguments"))?;
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    Ok(CallToolRequest::new(params))
}

/// An object, which is empty if there is none.
fn object(name: &str, value: Option<Value>) -> Result<JsonObject, ErrorData> {
    match value {
        None | Some(Value::Null) => Ok(JsonObject::new()),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(invalid_params(&format!("`{name}` is not an object"))),
    }
}

fn invalid_params(problem: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid parameters: {problem}"), None)
}

/// A notification, if it is one that matters here.
fn notification(method: &str, params: Option<Value>) -> Option<ClientNotification> {
    match method {
        InitializedNotificationMethod::VALUE => Some(InitializedNotification::default().into()),
        CancelledNotificationMethod::VALUE => {
            let id = params?.get("requestId").map(RequestId::deserialize)?.ok();
            let params = CancelledNotificationParam::new(id, None);
            Some(CancelledNotification::new(params).into())
        }
        _ => None,
    }
}

/// Searches take no time, so they do not wait for commands.
pub(super) fn kind(request: &ClientRequest) -> Kind {
    match request {
        ClientRequest::CallToolRequest(call) if call.params.name != meta_tools::SEARCH => {
            Kind::Call
        }
        _ => Kind::Other,
    }
}

/// Whether a request is of a session that began with a handshake. Of others rmcp knows what they are to have.
pub(super) fn is_usual(request: &ClientRequest) -> bool {
    let meta = request.extensions().get::<RequestMetaObject>();
    meta.is_none_or(|meta| meta.protocol_version().is_none())
}

/// Whether a request begins a session: a handshake, or a request that needs none.
pub(super) fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        other => !needs_no_session(other) && other.get_meta().protocol_version().is_some(),
    }
}

/// Whether a request is answered before there is a session, and begins none.
pub(super) fn needs_no_session(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message in a line, if it is one.
    fn message(line: &str) -> Option<ClientJsonRpcMessage> {
        match parse(line.as_bytes()) {
            Parsed::Message(message) => Some(*message),
            _ => None,
        }
    }

    #[test]
    fn messages_are_read_as_rmcp_reads_them() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1e2,"method":"p\u0069ng"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{}}}"#,
            r#"{"method":"tools/call","params":{"arguments":{"a":[1,2.5,null]},"name":"\u00e4",
               "_meta":{"progressToken":7,"other":1}},"jsonrpc":"2.0","id":-5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"a":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
               "capabilities":{"roots":{"listChanged":true},"elicitation":{}},
               "clientInfo":{"name":"a","version":"1","title":"A"},"_meta":{"progressToken":"t"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#,
        ] {
            let ours = message(line).expect(line);
            let theirs: ClientJsonRpcMessage = serde_json::from_str(line).expect("a message");
            let json = |message| serde_json::to_value(message).expect("JSON");
            assert_eq!(json(&ours), json(&theirs), "{line}");
        }
    }

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
                r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
                -32600,
                Value::from(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
                -32600,
                Value::from(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
                -32602,
                Value::from(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":5}}"#,
                -32602,
                Value::from(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"x","method":"initialize"}"#,
                -32602,
                Value::from("x"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
                -32602,
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
            (r#"{"id":1,"method":"ping"}"#, "missing field `jsonrpc`"),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
                "`id` is no text",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
                "duplicate field `id`",
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
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#,
                "this server gave no `cursor`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
                "missing field `protocolVersion`",
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
        assert!(message("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").is_some());
    }

    #[test]
    fn an_answer_is_never_answered() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows","params":[]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
        ] {
            assert!(matches!(parse(line.as_bytes()), Parsed::Nothing), "{line}");
        }
    }
}
