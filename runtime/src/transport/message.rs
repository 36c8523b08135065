//! Line -> message.

use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientJsonRpcMessage,
    ClientRequest, ConstString, GetMeta, JsonObject, JsonRpcMessage, PingRequest,
    PingRequestMethod, RequestId, RequestMetaObject,
};
use serde::Deserialize;
use serde_json::Value;

use super::flow::Kind;
use super::message_id::IdFinder;
use crate::meta_tools;

const PARSE_ERROR: i32 = -32700;
/// The code of a request that is none.
pub(super) const INVALID_REQUEST: i32 = -32600;

/// What a line holds.
pub(super) enum Parsed {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to answer: an empty line, or a notification that nobody knows.
    Nothing,
    /// Something else: the id that it has, and a code and a text of what is wrong.
    Malformed(Value, i32, &'static str),
}

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Parsed {
    const NO_JSON: &str = "Parse error: the line is not valid JSON";
    const NO_MESSAGE: &str = "Invalid request: not a JSON-RPC message";
    if line.is_empty() {
        return Parsed::Nothing;
    }
    if let Some(message) = usual(line).or_else(|| serde_json::from_slice(line).ok()) {
        return Parsed::Message(Box::new(message));
    }
    match serde_json::from_slice::<Value>(line) {
        Err(_) => {
            let mut finder = IdFinder::default();
            finder.push(line);
            Parsed::Malformed(finder.id(), PARSE_ERROR, NO_JSON)
        }
        Ok(value) => match value.get("id") {
            Some(id) if id.is_string() || id.is_number() => {
                Parsed::Malformed(id.clone(), INVALID_REQUEST, NO_MESSAGE)
            }
            None if value.get("method").is_some_and(Value::is_string) => Parsed::Nothing,
            _ => Parsed::Malformed(Value::Null, INVALID_REQUEST, NO_MESSAGE),
        },
    }
}

/// A request as most are. rmcp reads a message by trying one kind after the other, which for a call
/// takes as long as all that is done about it until the command starts. This knows two kinds only,
/// and leaves to rmcp what is unusual about them.
fn usual(line: &[u8]) -> Option<ClientJsonRpcMessage> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Usual<'a> {
        jsonrpc: &'a str,
        id: RequestId,
        method: &'a str,
        params: Option<Params>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        name: Option<String>,
        arguments: Option<JsonObject>,
        #[serde(rename = "_meta")]
        meta: Option<RequestMetaObject>,
    }
    let usual: Usual<'_> = serde_json::from_slice(line).ok()?;
    let request = match (usual.method, usual.params) {
        (CallToolRequestMethod::VALUE, Some(params)) => {
            let mut request = CallToolRequest::new(CallToolRequestParams::new(params.name?));
            request.params.arguments = params.arguments;
            if let Some(meta) = params.meta {
                request.extensions.insert(meta);
            }
            ClientRequest::CallToolRequest(request)
        }
        (
            PingRequestMethod::VALUE,
            None
            | Some(Params {
                name: None,
                arguments: None,
                meta: None,
            }),
        ) => ClientRequest::PingRequest(PingRequest::default()),
        _ => return None,
    };
    (usual.jsonrpc == "2.0").then(|| JsonRpcMessage::request(request, usual.id))
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

    #[test]
    fn usual_requests_are_read_as_rmcp_reads_them() {
        for (line, is_usual) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, true),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#,
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#,
                true,
            ),
            (
                r#"{"method":"tools/call","params":{"arguments":{"a":[1,2.5,null]},"name":"x",
                   "_meta":{"progressToken":7,"other":1}},"jsonrpc":"2.0","id":-5}"#,
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\u00e4","arguments":null}}"#,
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{}}}"#,
                false,
            ),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, false),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
                false,
            ),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, false),
            (r#"{"jsonrpc":"2.0","method":"ping"}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, false),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
                false,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":5}}"#,
                false,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","requestState":"s"}}"#,
                false,
            ),
        ] {
            let ours = usual(line.as_bytes());
            assert_eq!(ours.is_some(), is_usual, "{line}");
            if let Some(ours) = ours {
                let theirs: ClientJsonRpcMessage = serde_json::from_str(line).expect("a message");
                let json = |message| serde_json::to_value(message).expect("JSON");
                assert_eq!(json(&ours), json(&theirs), "{line}");
            }
        }
    }
}
