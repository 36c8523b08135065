//! Serves the fixtures with rmcp's own transport over an in-memory duplex. `duplex MODE` connects its other
//! end to standard input and output; `duplex client` connects rmcp's client and runs checks.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use climax_runtime::internals;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest,
    ProgressNotificationParam, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions};
use rmcp::{ClientHandler, RoleClient, ServiceError, serve_client};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream, copy, duplex, split, stdin, stdout};
use tokio::time::{sleep, timeout};

climax_runtime::catalog!();

/// The duplex's buffer in each direction.
const BUFFER_BYTES: usize = 64 * 1024;

/// How long the checks may take.
const DEADLINE: Duration = Duration::from_mins(1);

fn main() -> ExitCode {
    if let Some(code) = internals::run_as_helper() {
        return code;
    }
    let argument = std::env::args().nth(1).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (client, server) = duplex(BUFFER_BYTES);
        let mode = if argument == "client" {
            "default"
        } else {
            &argument
        };
        let mode = mode.to_owned();
        let server = tokio::spawn(async move {
            internals::serve(&CATALOG, &mode, split(server)).await;
        });
        if argument == "client" {
            timeout(DEADLINE, check_client(client))
                .await
                .expect("in time");
        } else {
            bridge(client).await;
        }
        server.await.expect("no panic");
    });
    // A thread may still be blocked on stdin.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// Copies between the duplex and the standard streams until the server has closed its end.
async fn bridge(client: DuplexStream) {
    let (mut reader, mut writer) = split(client);
    let requests = tokio::spawn(async move {
        let _ = copy(&mut stdin(), &mut writer).await;
        let _ = writer.shutdown().await;
    });
    let mut output = stdout();
    let _ = copy(&mut reader, &mut output).await;
    let _ = output.flush().await;
    requests.abort();
}

/// A client that records progress messages.
#[derive(Clone, Default)]
struct ProgressRecorder(Arc<Mutex<Vec<String>>>);

impl ClientHandler for ProgressRecorder {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut messages = self.0.lock().expect("no panic");
        messages.extend(params.message);
    }
}

async fn check_client(client: DuplexStream) {
    let recorder = ProgressRecorder::default();
    let client = serve_client(recorder.clone(), split(client))
        .await
        .expect("a session");
    let tools = client.list_all_tools().await.expect("tools");
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["climax_search", "climax_call"]);

    let call = |tool: &str, args: Value| {
        let arguments = json!({"tool_name": tool, "args": args});
        let arguments = arguments.as_object().cloned().expect("an object");
        CallToolRequestParams::new("climax_call").with_arguments(arguments)
    };
    let result = client.call_tool(call("git_status", json!({}))).await;
    let result = result.expect("a result");
    assert_eq!(result.is_error, Some(false));
    let text = result.content[0].as_text().expect("text");
    assert_eq!(text.text, "git status");
    let messages = recorder.0.lock().expect("no panic").clone();
    assert_eq!(messages, ["started"], "rmcp's client asks for progress");

    let unknown = client.call_tool(CallToolRequestParams::new("nobody")).await;
    match unknown {
        Err(ServiceError::McpError(error)) => assert_eq!(error.message, "Unknown tool: nobody"),
        other => panic!("{other:?}"),
    }

    // A cancelled call ends, and the session continues.
    let wait = call("behave_wait", json!({"sleep": 600}));
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(wait));
    let handle = client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .expect("sent");
    // Wait for the second call's first progress message.
    while recorder.0.lock().expect("no panic").len() < 2 {
        sleep(Duration::from_millis(5)).await;
    }
    let cancelled = CancelledNotificationParam::new(Some(handle.id.clone()), None);
    client.notify_cancelled(cancelled).await.expect("sent");
    let outcome = handle.await_response().await;
    assert!(
        !matches!(outcome, Ok(ServerResult::CallToolResult(_))),
        "{outcome:?}"
    );
    let after = client.call_tool(call("git_status", json!({}))).await;
    assert!(after.is_ok(), "{after:?}");

    drop(client.cancel().await);
}
