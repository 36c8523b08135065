//! Line -> message. rmcp would try one kind of message after the other, with code for all that there
//! could be. Here the method decides, and what no method of this server needs is not read.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, CancelledNotification,
    CancelledNotificationMethod, CancelledNotificationParam, ClientJsonRpcMessage,
    ClientNotification, ClientRequest, ConstString, CustomRequest, DiscoverRequest,
    DiscoverRequestMethod, GetExtensions, GetMeta, InitializeRequest, InitializeRequestParams,
    InitializeResultMethod, InitializedNotification, InitializedNotificationMethod, JsonObject,
    JsonRpcMessage, ListToolsRequest, ListToolsRequestMethod, PingRequest, PingRequestMethod,
    RequestId, RequestMetaObject,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::flow::Kind;
use super::message_id::IdFinder;
use crate::meta_tools;

/// What a line holds.
pub(super) enum Parsed {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to answer: an empty line, an answer, or a notification of what does not matter here.
    Nothing,
    /// Something else: the id that it has, and what is wrong.
    Malformed(Value, ErrorData),
}

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Parsed {
    if line.is_empty() {
        return Parsed::Nothing;
    }
    if let Ok(parts) = serde_json::from_slice::<Parts<'_>>(line)
        && parts.jsonrpc == "2.0"
    {
        return parts.message();
    }
    match serde_json::from_slice::<Value>(line) {
        Err(_) => {
            let mut finder = IdFinder::default();
            finder.push(line);
            let error = ErrorData::parse_error("Parse error: the line is not valid JSON", None);
            Parsed::Malformed(finder.id(), error)
        }
        Ok(value) => match value.get("id") {
            None if value.get("method").is_some_and(Value::is_string) => Parsed::Nothing,
            id => no_message(id.cloned()),
        },
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
            ("", id) => no_message(id),
            (_, id) if is_answer => no_message(id),
            (method, None) => match notification(method, self.params) {
                Some(notification) => {
                    Parsed::Message(Box::new(JsonRpcMessage::notification(notification)))
                }
                None => Parsed::Nothing,
            },
            (method, Some(id)) => {
                let Ok(known) = RequestId::deserialize(&id) else {
                    return no_message(Some(id));
                };
                match request(method, self.params) {
                    Ok(request) => {
                        Parsed::Message(Box::new(JsonRpcMessage::request(request, known)))
                    }
                    Err(problem) => {
                        let message = format!("Invalid parameters: {problem}");
                        Parsed::Malformed(id, ErrorData::invalid_params(message, None))
                    }
                }
            }
        }
    }
}

fn no_message(id: Option<Value>) -> Parsed {
    let id = id.filter(|id| id.is_string() || id.is_number());
    Parsed::Malformed(
        id.unwrap_or_default(),
        invalid_request("not a JSON-RPC message"),
    )
}

/// A request that is none, for this reason.
pub(super) fn invalid_request(reason: &str) -> ErrorData {
    ErrorData::invalid_request(format!("Invalid request: {reason}"), None)
}

/// Fails with what is wrong about the parameters.
fn request(method: &str, params: Option<Value>) -> Result<ClientRequest, Cow<'static, str>> {
    let mut params = object(params).ok_or("`params` is not an object")?;
    let meta = params.remove("_meta").filter(|meta| !meta.is_null());
    let mut request = match method {
        PingRequestMethod::VALUE => PingRequest::default().into(),
        CallToolRequestMethod::VALUE => call(params)?.into(),
        ListToolsRequestMethod::VALUE => ListToolsRequest::default().into(),
        InitializeResultMethod::VALUE => {
            let params = InitializeRequestParams::deserialize(&Value::Object(params));
            InitializeRequest::new(params.map_err(|error| error.to_string())?).into()
        }
        DiscoverRequestMethod::VALUE => DiscoverRequest::default().into(),
        // Nothing else is offered.
        _ => ClientRequest::CustomRequest(CustomRequest::new(method, None)),
    };
    match meta {
        None => {}
        Some(Value::Object(meta)) => {
            let meta = RequestMetaObject::from(meta);
            request.extensions_mut().insert(meta);
        }
        Some(_) => return Err("`_meta` is not an object".into()),
    }
    Ok(request)
}

fn call(mut params: JsonObject) -> Result<CallToolRequest, &'static str> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err("tools/call needs a `name`");
    };
    let arguments = object(params.remove("arguments")).ok_or("`arguments` is not an object")?;
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    Ok(CallToolRequest::new(params))
}

/// An object, which is empty if there is none.
fn object(value: Option<Value>) -> Option<JsonObject> {
    match value {
        None | Some(Value::Null) => Some(JsonObject::new()),
        Some(Value::Object(object)) => Some(object),
        Some(_) => None,
    }
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

/// Whether a message begins a session: a handshake, or a request that needs none.
pub(super) fn opens(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => other.get_meta().protocol_version().is_some(),
        },
        _ => false,
    }
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
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{}}}"#,
            r#"{"method":"tools/call","params":{"arguments":{"a":[1,2.5,null]},"name":"\u00e4",
               "_meta":{"progressToken":7,"other":1}},"jsonrpc":"2.0","id":-5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"a":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":null}"#,
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
