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

use serde_json::{Map, Value};

use crate::call::answer::CallAnswer;
use crate::call::{CallState, Executor};
use crate::catalog::selection::Selection;
use crate::discovery::{self, LookupTool};
use crate::registration::{CALL_TOOL, SEARCH_TOOL, ToolDescription};
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
    /// A call of a catalog tool, by name.
    Call {
        tool: String,
        arguments: Map<String, Value>,
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
    pub(crate) is_error: bool,
    /// Set for long answers, until they are delivered.
    pub(crate) permit: Option<AnswerPermit>,
}

impl Answer {
    /// Creates an answer without a permit.
    pub(crate) fn new(text: String, is_error: bool) -> Self {
        Self {
            text,
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
        match self.mode {
            ServerMode::MetaTools | ServerMode::Explore if name == CALL_TOOL => {
                request::call_request(arguments).map_err(InvalidRequest::Refused)
            }
            ServerMode::Classic if self.selection.find_tool(name).is_some() => Ok(Request::Call {
                tool: name.to_owned(),
                arguments,
            }),
            _ => Err(InvalidRequest::UnknownTool),
        }
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
            Request::Call { tool, arguments } => self.call(&tool, &arguments, client).await,
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

    fn look_up(&self, tool: LookupTool, arguments: Map<String, Value>) -> Answer {
        let start = Instant::now();
        let response = discovery::answer(&self.selection, &self.cache, tool, arguments);
        self.usage
            .log(tool.name(), &response.subject, response.result_count, start);
        Answer::new(response.json, response.is_error)
    }

    async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        client: &impl Client,
    ) -> Answer {
        let Some((number, tool)) = self.selection.find_tool(name) else {
            return CallAnswer::error(format!("Unknown tool: {name}")).into();
        };
        let state = client.wants_progress().then(CallState::default);
        // Boxed to keep the futures of requests that run no command small.
        let call = Box::pin(async {
            let permit = self.permits.command();
            let (selection, state) = (&self.selection, state.as_ref());
            let call = self
                .executor
                .call(selection, (number, &tool), arguments, permit, state);
            let answer = call.await;
            // Here and not after `report_while`: the client may never read the last progress report.
            self.with_permit(answer.into()).await
        });
        match &state {
            None => call.await,
            Some(state) => report_while(call, state, client).await,
        }
    }
}
