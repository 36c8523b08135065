//! Turns requests into answers, the same way for every front.
//!
//! A front translates between its protocol and [`Request`] and [`Answer`]. The service knows no protocol. It
//! owns the shared limits: how many commands run at once, and how many long answers wait for delivery.

mod client;
mod permits;
mod progress;
mod registration;
mod request;
mod usage;

use std::time::Instant;

use climax_core::risk::{Risk, assumed_risk};
use serde_json::{Map, Value};

use crate::call::answer::CallAnswer;
use crate::call::{CallRequest, CallState, Executor};
use crate::catalog::selection::Selection;
use crate::discovery::{self, LookupTool};
use crate::registration::{CallTools, SEARCH_TOOL, ToolDescription};
use crate::search::{SearchQuery, SearchResponse, search};
pub(crate) use client::{Client, ProgressUpdate};
pub(crate) use permits::{AnswerPermit, Permits};
use progress::report_while;
pub(crate) use request::search_query;
use usage::Usage;

/// Which tools are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerMode {
    /// The two meta tools, which find and call all others.
    MetaTools,
    /// The meta tools and the discovery suite.
    Explore,
    /// Every tool of the catalog, and no meta tool.
    Classic,
}

/// A request, independent of the protocol it came by.
pub(crate) enum Request {
    /// `climax_search`.
    Search(SearchQuery),
    /// A call of a discovery suite tool.
    Lookup {
        tool: LookupTool,
        arguments: Map<String, Value>,
    },
    /// A call of a catalog tool.
    Call {
        call: CallRequest,
        /// The highest risk that the tool may have.
        max_risk: Risk,
    },
}

/// Why a call of a registered tool is not a valid request.
pub(crate) enum InvalidRequest {
    /// No tool with this name is registered.
    UnknownTool,
    /// The arguments of a meta tool are invalid. The answer lists the problems.
    Refused(Answer),
}

/// The result of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// A note for the agent that is not part of the text.
    pub(crate) note: Option<String>,
    pub(crate) is_error: bool,
    /// Set for long answers, until they are delivered.
    pub(crate) permit: Option<AnswerPermit>,
}

impl Answer {
    /// Creates an answer without a permit.
    pub(crate) fn new(text: String, is_error: bool) -> Self {
        Self {
            text,
            note: None,
            is_error,
            permit: None,
        }
    }
}

impl From<CallAnswer> for Answer {
    fn from(answer: CallAnswer) -> Self {
        Self::new(answer.text, answer.is_error)
    }
}

/// Answers requests about a selection of tools.
pub(crate) struct Service {
    selection: Selection,
    mode: ServerMode,
    executor: Executor,
    permits: Permits,
    usage: Usage,
    cache: discovery::ResponseCache,
}

impl Service {
    pub(crate) fn new(
        selection: Selection,
        mode: ServerMode,
        executor: Executor,
        permits: Permits,
    ) -> Self {
        Self {
            selection,
            mode,
            executor,
            permits,
            usage: Usage::default(),
            cache: discovery::ResponseCache::default(),
        }
    }

    /// The offered tools.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// How many commands may run at the same time.
    pub(crate) fn max_concurrent(&self) -> usize {
        self.executor.runner.max_concurrent()
    }

    /// Which tools are registered.
    pub(crate) fn mode(&self) -> ServerMode {
        self.mode
    }

    /// The registered tools, with a permit if the list is long.
    pub(crate) async fn tools(&self) -> (Vec<ToolDescription>, Option<AnswerPermit>) {
        let permit = match self.mode {
            ServerMode::Classic => {
                let bytes = self.selection.tables.text.len();
                self.permits.answer(bytes).await
            }
            ServerMode::MetaTools | ServerMode::Explore => None,
        };
        (
            registration::registered_tools(&self.selection, self.mode),
            permit,
        )
    }

    /// Whether a call of this tool runs a command. Other tools only read the catalog.
    pub(crate) fn runs_command(&self, name: &str) -> bool {
        !self.is_search(name) && self.lookup_tool(name).is_none()
    }

    /// Turns a call of a registered tool into a request.
    pub(crate) fn request(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Request, InvalidRequest> {
        if self.is_search(name) {
            return Ok(Request::Search(search_query(arguments)));
        }
        if let Some(tool) = self.lookup_tool(name) {
            return Ok(Request::Lookup { tool, arguments });
        }
        if let Some(max_risk) = self.call_tool_risk(name) {
            let call = request::call_request(arguments).map_err(InvalidRequest::Refused)?;
            return Ok(Request::Call { call, max_risk });
        }
        if self.mode == ServerMode::Classic && self.selection.find_tool(name).is_some() {
            let call = CallRequest {
                tool: name.to_owned(),
                arguments,
                unknown_parameters: Vec::new(),
            };
            let max_risk = Risk::Destructive;
            return Ok(Request::Call { call, max_risk });
        }
        Err(InvalidRequest::UnknownTool)
    }

    /// Answers a request. Dropping the future cancels the request and ends its command.
    pub(crate) async fn respond(&self, request: Request, client: &impl Client) -> Answer {
        match request {
            Request::Search(query) => {
                let json = self.search(&query).json(&self.selection);
                self.with_permit(Answer::new(json, false)).await
            }
            Request::Lookup { tool, arguments } => {
                self.with_permit(self.look_up(tool, arguments)).await
            }
            Request::Call { call, max_risk } => self.call(&call, max_risk, client).await,
        }
    }

    /// Waits for a permit if the answer is long.
    async fn with_permit(&self, mut answer: Answer) -> Answer {
        answer.permit = self.permits.answer(answer.text.len()).await;
        answer
    }

    /// Answers `climax_search`, for a front that formats the response itself.
    pub(crate) fn search(&self, query: &SearchQuery) -> SearchResponse {
        let start = Instant::now();
        let response = search(&self.selection, query);
        let text = query.text.as_deref().unwrap_or_default();
        self.usage.log(SEARCH_TOOL, text, response.len(), start);
        response
    }

    /// Waits until no process of any call is left.
    pub(crate) async fn close(&self) {
        self.executor.runner.close().await;
        self.usage.log_totals();
    }

    fn is_search(&self, name: &str) -> bool {
        self.mode != ServerMode::Classic && name == SEARCH_TOOL
    }

    /// Returns the discovery suite tool of this name, if the suite is registered.
    fn lookup_tool(&self, name: &str) -> Option<LookupTool> {
        match self.mode {
            ServerMode::Explore => LookupTool::from_name(name),
            ServerMode::MetaTools | ServerMode::Classic => None,
        }
    }

    /// The highest risk of tools that a meta tool calls, if a meta tool for calls has this name.
    fn call_tool_risk(&self, name: &str) -> Option<Risk> {
        if self.mode == ServerMode::Classic {
            return None;
        }
        let risk = self.selection.call_tools.max_risk(name)?;
        let is_registered = match self.selection.call_tools {
            CallTools::Single => true,
            CallTools::ByRisk => self.selection.offered_risks().contains(&risk),
        };
        is_registered.then_some(risk)
    }

    fn look_up(&self, tool: LookupTool, arguments: Map<String, Value>) -> Answer {
        let start = Instant::now();
        let response = discovery::answer(&self.selection, &self.cache, tool, arguments);
        self.usage
            .log(tool.name(), &response.subject, response.result_count, start);
        Answer::new(response.json, response.is_error)
    }

    async fn call(&self, request: &CallRequest, max_risk: Risk, client: &impl Client) -> Answer {
        let Some((number, tool)) = self.selection.find_tool(&request.tool) else {
            return self.unknown_tool(&request.tool);
        };
        if assumed_risk(tool.risk) > max_risk {
            return self.risk_refusal(&request.tool, tool.risk);
        }
        let state = client.wants_progress().then(CallState::default);
        // Boxed to keep the futures of requests that run no command small.
        let call = Box::pin(async {
            let permit = self.permits.command();
            let (selection, state) = (&self.selection, state.as_ref());
            let call = self
                .executor
                .call(selection, (number, &tool), request, permit, state);
            let answer = call.await;
            // Here and not after `report_while`: the client may never read the last progress report.
            self.with_permit(answer.into()).await
        });
        match &state {
            None => call.await,
            Some(state) => report_while(call, state, client).await,
        }
    }

    fn unknown_tool(&self, name: &str) -> Answer {
        let similar = self.selection.names_similar_to(name);
        Answer {
            note: similar.first().map(|name| format!("Did you mean {name}?")),
            ..Answer::new(format!("Unknown tool: {name}"), true)
        }
    }

    /// Refuses a call through a meta tool for lower risks.
    fn risk_refusal(&self, tool: &str, risk: Option<Risk>) -> Answer {
        let right = self.selection.call_tools.name(assumed_risk(risk));
        let reason = match risk {
            Some(risk) => format!("has risk '{}'", risk.name()),
            None => "declares no risk".to_owned(),
        };
        let text = format!("Tool '{tool}' {reason}: call it with {right}");
        Answer::new(text, true)
    }
}
