//! Message -> line. What this server never says is not here.

use rmcp::ErrorData;
use rmcp::model::{
    ConstString, JsonRpcMessage, ProgressNotificationMethod, ProgressNotificationParam, RequestId,
    ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use serde::Serialize;

/// Why JSON can be made of a message.
const WRITABLE: &str = "keys are texts, and no number is infinite";

/// Writes a message of rmcp's, if it is one that a client of this server is to have.
pub(super) fn written(message: &ServerJsonRpcMessage) -> Option<Vec<u8>> {
    match message {
        JsonRpcMessage::Response(response) => Some(result(&response.id, &response.result)),
        JsonRpcMessage::Error(error) => Some(refusal(&error.id, &error.error)),
        JsonRpcMessage::Notification(notification) => match &notification.notification {
            ServerNotification::ProgressNotification(progress) => Some(told(&progress.params)),
            _ => None,
        },
        JsonRpcMessage::Request(_) => None,
    }
}

fn result(id: &RequestId, result: &ServerResult) -> Vec<u8> {
    match result {
        ServerResult::InitializeResult(result) => answer(id, result),
        ServerResult::DiscoverResult(result) => answer(id, result),
        ServerResult::ListToolsResult(result) => answer(id, result),
        ServerResult::CallToolResult(result) => answer(id, result),
        ServerResult::EmptyResult(result) => answer(id, result),
        _ => refusal(
            id,
            &ErrorData::internal_error("Internal error: no such answer is known", None),
        ),
    }
}

#[derive(Serialize)]
struct Answer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a R,
}

/// Writes the answer to a request.
pub(super) fn answer(id: &RequestId, result: &impl Serialize) -> Vec<u8> {
    line(&Answer {
        jsonrpc: "2.0",
        id,
        result,
    })
}

/// Writes why there is no answer to a request.
pub(super) fn refusal(id: &impl Serialize, error: &ErrorData) -> Vec<u8> {
    #[derive(Serialize)]
    struct Refusal<'a, I> {
        jsonrpc: &'static str,
        id: &'a I,
        error: &'a ErrorData,
    }
    line(&Refusal {
        jsonrpc: "2.0",
        id,
        error,
    })
}

/// Writes how a call goes on.
pub(super) fn told(params: &ProgressNotificationParam) -> Vec<u8> {
    #[derive(Serialize)]
    struct Notification<'a> {
        jsonrpc: &'static str,
        method: &'static str,
        params: &'a ProgressNotificationParam,
    }
    line(&Notification {
        jsonrpc: "2.0",
        method: ProgressNotificationMethod::VALUE,
        params,
    })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect(WRITABLE)
}
