//! Translates MCP requests into service requests and answers into MCP results, over any rmcp transport.

use std::sync::Arc;

use climax_core::output::pluralize;
use climax_policy::limit::truncate_for_message;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestMethod, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResultMethod,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult,
    ListToolsRequestMethod, ListToolsResult, MetaObject, PaginatedRequestParams, PingRequestMethod,
    ProgressNotificationParam, ProgressToken, ReadResourceRequestMethod, ReadResourceRequestParams,
    ReadResourceResponse, RequestId, ServerCapabilities, ServerConfig, SubscribeRequestMethod,
    SubscribeRequestParams, Tool, ToolAnnotations, UnsubscribeRequestMethod,
    UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::Value;

use crate::registration::{CallTools, ToolDescription};
use crate::service::{
    Answer, AnswerPermit, Client, InvalidRequest, ProgressUpdate, ServerMode, Service,
};

/// Handles MCP requests.
pub(crate) struct Mcp {
    service: Arc<Service>,
    deliveries: Arc<dyn Deliveries>,
}

/// A transport that knows when a response has been delivered.
pub(crate) trait Deliveries: Send + Sync {
    /// Holds a permit until the response to a request has been delivered, or the request is cancelled.
    fn hold(&self, request: &RequestId, permit: AnswerPermit);
}

impl Mcp {
    /// Creates a handler. The transport must use the same `deliveries`.
    pub(crate) fn new(service: Arc<Service>, deliveries: Arc<dyn Deliveries>) -> Self {
        Self {
            service,
            deliveries,
        }
    }

    fn hold(&self, request: &RequestId, permit: Option<AnswerPermit>) {
        if let Some(permit) = permit {
            self.deliveries.hold(request, permit);
        }
    }

    /// The server's name: that of its config if there is only one.
    fn server_name(&self) -> &'static str {
        let selection = self.service.selection();
        let mut clis = selection.clis();
        match (clis.next(), clis.next()) {
            (Some(only), None) => selection.text(only.name),
            _ => "climax",
        }
    }

    fn instructions(&self) -> String {
        let selection = self.service.selection();
        let tool_count = format!(
            "{} of {}",
            pluralize(selection.tool_count() as usize, "command-line tool"),
            pluralize(selection.clis().count(), "CLI")
        );
        let call_tools = match selection.call_tools {
            CallTools::Single => "climax_call",
            CallTools::ByRisk => "climax_read, climax_write or climax_destructive, by its risk",
        };
        match self.service.mode() {
            ServerMode::MetaTools => format!(
                "This server runs {tool_count}. Find one with \
                 climax_search: pass keywords in `query`, or no arguments for a summary of the \
                 CLIs. Each result has the tool's name and the schema of its arguments. Then run \
                 it with {call_tools}: pass `tool_name` as found, and `args` that match the schema."
            ),
            ServerMode::Explore => format!(
                "This server runs {tool_count}. Find one with search_mcp_tools: describe the task in plain \
                 words. Each result has a confidence, reasons, the schema of the arguments and an example. \
                 get_tool_details describes one tool, list_tool_categories lists all categories, and \
                 search_tools_by_capability finds tools that take certain parameters. Then run the tool with \
                 {call_tools}: pass `tool_name` as found, and `args` that match the schema."
            ),
            ServerMode::Classic => format!(
                "This server runs {tool_count}, each registered as a tool of its own. A result is the \
                 command's output, followed by [stderr] if it is not empty and [exit code] if it is not 0."
            ),
        }
    }
}

/// Refuses MCP methods that this server does not support. rmcp would answer some of them with empty results.
macro_rules! unsupported_methods {
    ($($name:ident($params:ty) -> $result:ty, $method:ident;)*) => {
        $(async fn $name(
            &self,
            _: $params,
            _: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            Err(method_not_found($method::VALUE))
        })*
    };
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                self.server_name(),
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(self.instructions())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // All tools are on one page, so this server never returns a cursor.
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(invalid_params(
                "unknown `cursor`; leave it out to list all tools",
            ));
        }
        let (tools, permit) = tokio::select! {
            tools = self.service.tools() => tools,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        self.hold(&context.id, permit);
        Ok(ListToolsResult::with_all_items(
            tools.into_iter().map(mcp_tool).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let answer = match self.service.request(&request.name, arguments) {
            Ok(request) => {
                let client = McpClient {
                    token: context.meta.get_progress_token(),
                    peer: context.peer,
                };
                tokio::select! {
                    answer = self.service.respond(request, &client) => answer,
                    // Dropping the call ends its command.
                    () = context.ct.cancelled() => Answer::new("Cancelled".to_owned(), true),
                }
            }
            Err(InvalidRequest::Refused(answer)) => answer,
            Err(InvalidRequest::UnknownTool) => {
                let message = format!("Unknown tool: {}", truncate_for_message(&request.name));
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        self.hold(&context.id, answer.permit);
        let texts = [answer.text].into_iter().chain(answer.hints);
        let blocks = texts.map(ContentBlock::text).collect();
        let mut result = if answer.is_error {
            CallToolResult::error(blocks)
        } else {
            CallToolResult::success(blocks)
        };
        result.structured_content = answer.structured.map(Into::into);
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(custom_request_error(&request))
    }

    unsupported_methods! {
        complete(CompleteRequestParams) -> CompleteResult, CompleteRequestMethod;
        get_prompt(GetPromptRequestParams) -> GetPromptResponse, GetPromptRequestMethod;
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult, ListPromptsRequestMethod;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult, ListResourcesRequestMethod;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult,
            ListResourceTemplatesRequestMethod;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse, ReadResourceRequestMethod;
        subscribe(SubscribeRequestParams) -> (), SubscribeRequestMethod;
        unsubscribe(UnsubscribeRequestParams) -> (), UnsubscribeRequestMethod;
    }
}

/// The client that sent a request.
struct McpClient {
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
}

impl Client for McpClient {
    fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    async fn report_progress(&self, update: ProgressUpdate) {
        let Some(token) = self.token.clone() else {
            return;
        };
        #[expect(clippy::cast_precision_loss, reason = "no call takes that long")]
        let report = ProgressNotificationParam::new(token, update.seconds as f64);
        // If this fails, the client has disconnected, which ends the call anyway.
        let _ = self
            .peer
            .notify_progress(report.with_message(update.message))
            .await;
    }
}

/// Whether a request runs a command, and so may take long.
pub(crate) fn runs_command(service: &Service, request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::CallToolRequest(call) if service.runs_command(&call.params.name))
}

/// The error for a request that rmcp does not recognise: its method is not supported, or its parameters have
/// the wrong shape.
pub(crate) fn custom_request_error(request: &CustomRequest) -> ErrorData {
    let params = request.params.as_ref();
    let field = |name: &str| params.and_then(|params| params.get(name));
    let is_object =
        |value: Option<&Value>| value.is_none_or(|value| value.is_object() || value.is_null());
    let supported = [
        PingRequestMethod::VALUE,
        CallToolRequestMethod::VALUE,
        ListToolsRequestMethod::VALUE,
        InitializeResultMethod::VALUE,
    ];
    match request.method.as_str() {
        "" => ErrorData::invalid_request("Invalid request: `method` is missing", None),
        method if !supported.contains(&method) => method_not_found(method),
        _ if !is_object(params) => invalid_params("`params` is not an object"),
        _ if !is_object(field("_meta")) => invalid_params("`_meta` is not an object"),
        CallToolRequestMethod::VALUE if !field("name").is_some_and(Value::is_string) => {
            invalid_params("tools/call needs a `name`")
        }
        CallToolRequestMethod::VALUE if !is_object(field("arguments")) => {
            invalid_params("`arguments` is not an object")
        }
        InitializeResultMethod::VALUE => {
            let params = params.unwrap_or(&Value::Null);
            let reason = InitializeRequestParams::deserialize(params).err();
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            invalid_params(&format!("of `initialize`{reason}"))
        }
        method => invalid_params(&format!("of `{method}`")),
    }
}

pub(crate) fn method_not_found(method: &str) -> ErrorData {
    let message = format!("Method not found: {}", truncate_for_message(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// The error for a request that was cancelled because the server stops. If the client cancels a request, rmcp
/// sends no response.
fn cancelled() -> ErrorData {
    ErrorData::internal_error("Cancelled", None)
}

fn invalid_params(problem: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid parameters: {problem}"), None)
}

fn mcp_tool(description: ToolDescription) -> Tool {
    let mut tool = Tool::new(
        description.name,
        description.description,
        Arc::new(description.input_schema),
    );
    tool.title = description.title.map(str::to_owned);
    tool.annotations = description.hints.map(|hints| {
        ToolAnnotations::from_raw(
            None,
            hints.read_only,
            hints.destructive,
            hints.idempotent,
            hints.open_world,
        )
    });
    tool.meta = description.is_always_loaded.then(|| {
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
        meta
    });
    tool
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_that_rmcp_does_not_recognise_gets_an_error_with_the_reason() {
        for (method, params, code, reason) in [
            ("no/such", json!([]), -32601, "Method not found: no/such"),
            ("", json!(null), -32600, "`method` is missing"),
            ("ping", json!([]), -32602, "`params` is not an object"),
            (
                "ping",
                json!({"_meta": 5}),
                -32602,
                "`_meta` is not an object",
            ),
            ("initialize", json!(null), -32602, "`initialize`"),
            (
                "initialize",
                json!({}),
                -32602,
                "missing field `protocolVersion`",
            ),
            ("tools/call", json!(null), -32602, "needs a `name`"),
            ("tools/call", json!({"name": 5}), -32602, "needs a `name`"),
            (
                "tools/call",
                json!({"name": "x", "arguments": [1]}),
                -32602,
                "`arguments` is not an object",
            ),
            ("tools/list", json!({"cursor": 5}), -32602, "`tools/list`"),
        ] {
            let error = custom_request_error(&CustomRequest::new(method, Some(params.clone())));
            assert_eq!(error.code.0, code, "{method} {params}");
            assert!(
                error.message.contains(reason),
                "{method} {params}: {}",
                error.message
            );
        }
    }
}
