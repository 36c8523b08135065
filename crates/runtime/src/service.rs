//! Answers requests about tools and runs them: the one way through the program, whatever the client speaks.
//!
//! A front turns what its client sends into a [`Request`], and what comes back into what its client reads.
//! The service knows no protocol. It owns the limits: how many commands run at once, and how many long
//! answers wait for a client to take them.

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
use crate::discovery::{self, FoundTools, LookupTool};
use crate::registration::{CALL, SEARCH, ToolDescription};
use crate::search::{Query, search};
pub(crate) use client::{Client, ProgressUpdate};
pub(crate) use permits::{AnswerPermit, Permits};
use progress::report_while;
pub(crate) use request::search_query;
use usage::Usage;

/// Which tools are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerMode {
    /// The two that find and call all others.
    MetaTools,
    /// These two, and the discovery suite.
    Explore,
    /// Every tool by itself.
    Classic,
}

/// A request in the service's own terms.
pub(crate) enum Request {
    /// `climax_search`.
    Search(Query),
    /// A tool of the discovery suite.
    Lookup {
        tool: LookupTool,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// Run a tool of the catalog.
    Call {
        /// Its name.
        tool: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
}

/// Why a call of a registered tool is no request.
pub(crate) enum InvalidRequest {
    /// No such tool is registered.
    UnknownTool,
    /// The arguments of a meta tool are wrong; the answer says how.
    Refused(Answer),
}

/// What a client reads.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The text of the result.
    pub(crate) text: String,
    /// Whether the tool failed.
    pub(crate) is_error: bool,
    /// Held by long answers.
    pub(crate) permit: Option<AnswerPermit>,
}

impl Answer {
    /// An answer that is short.
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
    cache: discovery::Cache,
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
            cache: discovery::Cache::default(),
        }
    }

    /// The tools that are offered.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Which tools are registered.
    pub(crate) fn mode(&self) -> ServerMode {
        self.mode
    }

    /// The registered tools, and a permit if there are many.
    pub(crate) async fn tools(&self) -> (Vec<ToolDescription>, Option<AnswerPermit>) {
        let permit = match self.mode {
            ServerMode::Classic => {
                let bytes = self.selection.tables.text.len();
                self.permits.answer(bytes).await
            }
            ServerMode::MetaTools | ServerMode::Explore => None,
        };
        (registration::tools(&self.selection, self.mode), permit)
    }

    /// Whether a registered tool runs a command. The others only look up what was baked.
    pub(crate) fn runs_command(&self, name: &str) -> bool {
        !self.is_search(name) && self.lookup_tool(name).is_none()
    }

    /// The request that a call of a registered tool is.
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
            ServerMode::MetaTools | ServerMode::Explore if name == CALL => {
                request::target(arguments).map_err(InvalidRequest::Refused)
            }
            ServerMode::Classic if self.selection.find(name).is_some() => Ok(Request::Call {
                tool: name.to_owned(),
                arguments,
            }),
            _ => Err(InvalidRequest::UnknownTool),
        }
    }

    /// Answers a request. Dropping the future cancels it, and ends the command that it runs.
    pub(crate) async fn respond(&self, request: Request, client: &impl Client) -> Answer {
        match request {
            Request::Search(query) => self.permitted(self.search(&query)).await,
            Request::Lookup { tool, arguments } => {
                self.permitted(self.look_up(tool, arguments)).await
            }
            Request::Call { tool, arguments } => self.call(&tool, &arguments, client).await,
        }
    }

    /// The answer with a permit, if it is a long one.
    async fn permitted(&self, mut answer: Answer) -> Answer {
        answer.permit = self.permits.answer(answer.text.len()).await;
        answer
    }

    /// Finds the tools that fit a query, for a front that shows them in its own way.
    ///
    /// # Errors
    /// What is wrong with the query.
    pub(crate) fn find_tools(&self, query: &str, limit: usize) -> Result<FoundTools, String> {
        let start = Instant::now();
        let found = discovery::find_tools(&self.selection, query, limit)?;
        let results = found.tools().len();
        self.usage.log("search", query, results, start);
        Ok(found)
    }

    /// Waits until nothing of any call is left.
    pub(crate) async fn close(&self) {
        self.executor.runner.close().await;
        self.usage.finish();
    }

    fn is_search(&self, name: &str) -> bool {
        self.mode != ServerMode::Classic && name == SEARCH
    }

    /// The tool of the discovery suite that is registered under a name.
    fn lookup_tool(&self, name: &str) -> Option<LookupTool> {
        match self.mode {
            ServerMode::Explore => LookupTool::from_name(name),
            ServerMode::MetaTools | ServerMode::Classic => None,
        }
    }

    fn search(&self, query: &Query) -> Answer {
        let start = Instant::now();
        let searched = search(&self.selection, query);
        let about = query.text.as_deref().unwrap_or_default();
        self.usage.log(SEARCH, about, searched.results, start);
        Answer::new(searched.json, false)
    }

    fn look_up(&self, tool: LookupTool, arguments: Map<String, Value>) -> Answer {
        let start = Instant::now();
        let answered = discovery::answer(&self.selection, &self.cache, tool, arguments);
        self.usage
            .log(tool.name(), &answered.about, answered.results, start);
        Answer::new(answered.json, answered.is_error)
    }

    async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        client: &impl Client,
    ) -> Answer {
        let Some((number, tool)) = self.selection.find(name) else {
            return CallAnswer::error(format!("Unknown tool: {name}")).into();
        };
        let state = client.wants_progress().then(CallState::default);
        // Boxed, so that requests that run nothing stay small.
        let call = Box::pin(async {
            let permit = self.permits.command();
            let (selection, state) = (&self.selection, state.as_ref());
            let call = self
                .executor
                .call(selection, (number, &tool), arguments, permit, state);
            let answer = call.await;
            // Before the last report of progress is out, which a client may not read.
            self.permitted(answer.into()).await
        });
        match &state {
            None => call.await,
            Some(state) => report_while(call, state, client).await,
        }
    }
}
