//! The MCP server: answers requests, and hands calls on.

pub(crate) mod meta_tools;
pub(crate) mod progress;
mod usage;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use climax_catalog::tables::Tool;
use climax_core::risk::Risk;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest, ContentBlock,
    Implementation, ListToolsResult, PaginatedRequestParams, ProgressToken, RequestId,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use crate::call::answer::{Answer, Room};
use crate::call::{Limits, call};
use crate::commands::list::counted;
use crate::discovery;
use crate::lock::lock;

use crate::catalog::selection::Selection;
use crate::search::search;
use progress::{Progress, Tell, Told, reported};
use usage::Usage;

/// Which tools are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The two that find and call all others.
    Discovery,
    /// These two, and the discovery suite.
    Explore,
    /// Every tool by itself.
    Classic,
}

/// What a server offers. Shared with the transport, which writes `tools/list` from it.
pub(crate) struct Offer {
    selection: Selection,
    mode: Mode,
    limits: Limits,
    tools_json: OnceLock<String>,
    usage: Usage,
    cache: discovery::Cache,
    /// What long answers of rmcp's hold until they are written, by the number of the request.
    rooms: Mutex<Vec<(i64, Room)>>,
}

impl Offer {
    pub(crate) fn new(selection: Selection, mode: Mode, limits: Limits) -> Self {
        Self {
            selection,
            mode,
            limits,
            tools_json: OnceLock::new(),
            usage: Usage::default(),
            cache: discovery::Cache::default(),
            rooms: Mutex::default(),
        }
    }

    /// What the answer to a request that rmcp has holds until it is written.
    pub(crate) fn take_room(&self, number: i64) -> Option<Room> {
        let mut rooms = lock(&self.rooms);
        let at = rooms.iter().position(|(of, _)| *of == number)?;
        Some(rooms.swap_remove(at).1)
    }

    /// Forgets what answers hold that nobody is to have any more.
    pub(crate) fn keep_rooms(&self, is_wanted: impl Fn(i64) -> bool) {
        lock(&self.rooms).retain(|(number, _)| is_wanted(*number));
    }

    /// Waits until nothing of any call is left.
    pub(crate) async fn close(&self) {
        self.limits.keepers.close().await;
        self.usage.finish();
    }

    /// The JSON of the result of a request that needs nothing but what was baked, if it is one.
    pub(crate) fn answer_at_once(&self, request: &mut ClientRequest) -> Option<String> {
        match request {
            ClientRequest::PingRequest(_) => Some("{}".to_owned()),
            ClientRequest::CallToolRequest(call) => {
                let tool = self.lookup(&call.params.name)?;
                let arguments = call.params.arguments.take().unwrap_or_default();
                let (text, is_error) = self.look_up(tool, arguments);
                let end = if is_error {
                    r#"}],"isError":true}"#
                } else {
                    r#"}],"isError":false}"#
                };
                let text = Value::from(text).to_string();
                Some([r#"{"content":[{"type":"text","text":"#, &text, end].concat())
            }
            _ => None,
        }
    }

    /// The registered tool that has a name, if it is one that only looks up what was baked.
    fn lookup(&self, name: &str) -> Option<&'static str> {
        match self.mode {
            Mode::Classic => None,
            _ if name == meta_tools::SEARCH => Some(meta_tools::SEARCH),
            Mode::Discovery => None,
            Mode::Explore => discovery::tool(name),
        }
    }

    /// Answers a request to such a tool: JSON, and whether it tells of an error.
    fn look_up(&self, tool: &'static str, arguments: Map<String, Value>) -> (String, bool) {
        let start = Instant::now();
        if tool == meta_tools::SEARCH {
            let query = meta_tools::query(arguments);
            let searched = search(&self.selection, &query);
            let about = query.text.unwrap_or_default();
            self.usage.log(tool, &about, searched.results, start);
            return (searched.json, false);
        }
        let answered = discovery::answer(&self.selection, &self.cache, tool, arguments);
        self.usage
            .log(tool, &answered.about, answered.results, start);
        (answered.json, answered.is_error)
    }

    /// Carries out a call of a registered tool, and tells how it goes on if there is a token for that.
    pub(crate) async fn answer_told(
        &self,
        call: CallToolRequestParams,
        token: Option<ProgressToken>,
        tell: &Tell<'_>,
    ) -> Result<Answer, ErrorData> {
        let arguments = call.arguments.unwrap_or_default();
        match token.filter(|_| self.lookup(&call.name).is_none()) {
            None => self.answer(&call.name, arguments, None).await,
            Some(token) => {
                let progress = Progress::default();
                let answer = self.answer(&call.name, arguments, Some(&progress));
                reported(answer, &progress, token, tell).await
            }
        }
    }

    async fn answer(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        progress: Option<&Progress>,
    ) -> Result<Answer, ErrorData> {
        let selection = &self.selection;
        let limits = &self.limits;
        // Boxed, so that requests that run nothing stay small.
        let run = async |number, tool: &Tool, arguments: &Map<String, Value>| {
            Box::pin(call(selection, number, tool, arguments, limits, progress)).await
        };
        match (self.mode, name) {
            _ if let Some(tool) = self.lookup(name) => {
                let (text, is_error) = self.look_up(tool, arguments);
                Ok(Answer {
                    text,
                    is_error,
                    room: None,
                })
            }
            (Mode::Discovery | Mode::Explore, meta_tools::CALL) => {
                let (name, arguments) = match meta_tools::target(arguments) {
                    Ok(target) => target,
                    Err(refusal) => return Ok(refusal),
                };
                match selection.find(&name) {
                    Some((number, tool)) => Ok(run(number, &tool, &arguments).await),
                    None => Ok(Answer::error(format!("Unknown tool: {name}"))),
                }
            }
            (Mode::Classic, _) if let Some((number, tool)) = selection.find(name) => {
                Ok(run(number, &tool, &arguments).await)
            }
            _ => Err(ErrorData::invalid_params(
                format!("Unknown tool: {name}"),
                None,
            )),
        }
    }

    /// The list of registered tools, as JSON.
    pub(crate) fn tools_json(&self) -> &str {
        match self.mode {
            Mode::Discovery => meta_tools::REGISTRATION,
            Mode::Explore => self.tools_json.get_or_init(|| {
                let both = meta_tools::REGISTRATION.trim_end_matches(']');
                format!("{both},{}]", discovery::REGISTRATION)
            }),
            Mode::Classic => self
                .tools_json
                .get_or_init(|| classic_tools(&self.selection)),
        }
    }
}

fn classic_tools(selection: &Selection) -> String {
    let tools = selection
        .clis()
        .flat_map(|cli| selection.tools_of(&cli).iter());
    let tools = tools.map(|tool| {
        let mut registered = json!({
            "name": selection.text(tool.name),
            "description": selection.text(tool.description),
            "inputSchema": selection.schema(&tool),
        });
        if let Some(risk) = tool.risk {
            registered["annotations"] = match risk {
                Risk::Read => json!({"readOnlyHint": true}),
                Risk::Write => json!({"readOnlyHint": false, "destructiveHint": false}),
                Risk::Destructive => json!({"readOnlyHint": false, "destructiveHint": true}),
            };
        }
        registered
    });
    tools.collect::<Value>().to_string()
}

/// The handler of requests.
pub(crate) struct Server {
    offer: Arc<Offer>,
}

impl Server {
    pub(crate) fn new(offer: Arc<Offer>) -> Self {
        Self { offer }
    }

    /// The server's name: the config's if there is one only.
    fn name(&self) -> &str {
        let selection = &self.offer.selection;
        let mut clis = selection.clis();
        match (clis.next(), clis.next()) {
            (Some(only), None) => selection.text(only.name),
            _ => "climax",
        }
    }

    fn instructions(&self) -> String {
        let selection = &self.offer.selection;
        let what = format!(
            "{} of {}",
            counted(selection.tool_count() as usize, "command-line tool"),
            counted(selection.clis().count(), "CLI")
        );
        match self.offer.mode {
            Mode::Discovery => format!(
                "This server runs {what}. Find one with \
                 climax_search: give keywords in `query`, or no arguments for a summary of the \
                 CLIs. Each result has the tool's name and the schema of its arguments. Then run \
                 it with climax_call: `tool_name` as found, and `args` as the schema says."
            ),
            Mode::Explore => format!(
                "This server runs {what}. Find one with search_mcp_tools: say in plain words what is to \
                 be done. Results have a confidence, reasons, the schema of the arguments and an example. \
                 get_tool_details tells more about a tool, list_tool_categories what there is, and \
                 search_tools_by_capability which tools take certain parameters. Then run it with \
                 climax_call: `tool_name` as found, and `args` as the schema says."
            ),
            Mode::Classic => format!(
                "This server runs {what}, each registered as a tool of its own. A result is what the command printed, then [stderr] and \
                 [exit code] where there is something to say."
            ),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.name(), env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    /// Empty here: the transport puts the baked JSON into the answer.
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = context.peer;
        let tell = |message| -> Told<'_> {
            Box::pin(async {
                // A client that does not hear it has gone, and the call ends by that.
                let _ = client.notify_progress(message).await;
            })
        };
        let token = context.meta.get_progress_token();
        let answer = tokio::select! {
            answer = self.offer.answer_told(request, token, &tell) => answer?,
            // Nobody waits for the answer; dropping the call kills what it started.
            () = context.ct.cancelled() => Answer::error("Cancelled".to_owned()),
        };
        if let (Some(room), RequestId::Number(number)) = (answer.room, context.id) {
            lock(&self.offer.rooms).push((number, room));
        }
        let blocks = vec![ContentBlock::text(answer.text)];
        let result = if answer.is_error {
            CallToolResult::error(blocks)
        } else {
            CallToolResult::success(blocks)
        };
        Ok(result.into())
    }
}
