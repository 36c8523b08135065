//! Turns requests into answers, the same way for every front.
//!
//! A front translates between its protocol and [`Request`] and [`Answer`]. The service knows no protocol. It
//! owns the shared limits: how many commands run at once, and how many long answers wait for delivery.

mod client;
mod hints;
mod permits;
mod progress;
mod registration;
mod request;
mod usage;

use std::time::Instant;

use climax_catalog::tables::ToolRow;
use climax_core::risk::{Risk, assumed_risk};
use climax_policy::limit::truncate_for_message;
use serde_json::{Map, Value};

use crate::call::answer::{CallAnswer, CallResult, NO_OUTPUT};
use crate::call::plan::CallInput;
use crate::call::{CallRequest, CallState, DryRun, Executor};
use crate::catalog::selection::Selection;
use crate::discovery::{self, LookupTool};
use crate::output::{self, OutputReader};
use crate::registration::{CallTools, OUTPUT_TOOL, OutputAccess, SEARCH_TOOL, ToolDescription};
use crate::search::{SearchQuery, SearchResponse, search};
pub(crate) use client::{Client, ProgressUpdate};
use hints::CallEnd;
pub(crate) use permits::{AnswerPermit, Permits};
use progress::report_while;
pub(crate) use request::{SearchRequest, search_request};
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
    Search(SearchRequest),
    /// A call of a discovery suite tool.
    Lookup {
        tool: LookupTool,
        arguments: Map<String, Value>,
    },
    /// `climax_output`.
    ReadOutput(CallRequest),
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
    /// Further texts for an agent that made a mistake.
    pub(crate) hints: Vec<String>,
    /// The same as a JSON object, if the tool has such output.
    pub(crate) structured: Option<Map<String, Value>>,
    pub(crate) is_error: bool,
    /// Set for long answers, until they are delivered.
    pub(crate) permit: Option<AnswerPermit>,
}

impl Answer {
    /// Creates an answer without a permit.
    pub(crate) fn new(text: String, is_error: bool) -> Self {
        Self {
            text,
            hints: Vec::new(),
            structured: None,
            is_error,
            permit: None,
        }
    }
}

impl From<CallAnswer> for Answer {
    fn from(answer: CallAnswer) -> Self {
        Self {
            structured: answer.structured,
            ..Self::new(answer.text, answer.result != CallResult::Succeeded)
        }
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
        let mut tools = registration::registered_tools(&self.selection, self.mode);
        if self.registers_output_tool() {
            tools.push(output::registered_tool());
        }
        (tools, permit)
    }

    /// Whether a call of this tool can take long: it runs a command or reads stored output. Other tools only read
    /// the catalog.
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
            let request = search_request(&arguments).map_err(InvalidRequest::Refused)?;
            return Ok(Request::Search(request));
        }
        if let Some(tool) = self.lookup_tool(name) {
            return Ok(Request::Lookup { tool, arguments });
        }
        if let Some(max_risk) = self.call_tool_risk(name) {
            let call = request::call_request(arguments).map_err(InvalidRequest::Refused)?;
            if call.tool == OUTPUT_TOOL && self.stores_output() {
                return Ok(Request::ReadOutput(call));
            }
            return Ok(Request::Call { call, max_risk });
        }
        let is_output_tool = self.registers_output_tool() && name == OUTPUT_TOOL;
        let is_classic_tool =
            || self.mode == ServerMode::Classic && self.selection.find_tool(name).is_some();
        if is_output_tool || is_classic_tool() {
            let call = CallRequest {
                tool: name.to_owned(),
                arguments,
                unknown_parameters: Map::new(),
            };
            if is_output_tool {
                return Ok(Request::ReadOutput(call));
            }
            let max_risk = Risk::Destructive;
            return Ok(Request::Call { call, max_risk });
        }
        Err(InvalidRequest::UnknownTool)
    }

    /// Answers a request. Dropping the future cancels the request and ends its command.
    pub(crate) async fn respond(&self, request: Request, client: &impl Client) -> Answer {
        match request {
            Request::Search(request) => {
                let json = self.search(&request.query).json(&self.selection);
                let answer = Answer {
                    hints: request.hint.into_iter().collect(),
                    ..Answer::new(json, false)
                };
                self.with_permit(answer).await
            }
            Request::Lookup { tool, arguments } => {
                self.with_permit(self.look_up(tool, arguments)).await
            }
            Request::ReadOutput(call) => self.read_output(call).await,
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

    fn stores_output(&self) -> bool {
        self.executor.capture.store.is_some()
    }

    /// Whether `climax_output` is registered. Where there are meta tools, they call it.
    fn registers_output_tool(&self) -> bool {
        self.mode == ServerMode::Classic && self.stores_output()
    }

    /// How agents read stored output.
    fn output_access(&self) -> OutputAccess {
        if self.registers_output_tool() {
            return OutputAccess::Registered;
        }
        let lowest_risk = match self.selection.call_tools {
            CallTools::Single => None,
            CallTools::ByRisk => self.selection.offered_risks().first().copied(),
        };
        let meta_tool = self
            .selection
            .call_tools
            .name(lowest_risk.unwrap_or(Risk::Read));
        OutputAccess::Through(meta_tool)
    }

    async fn read_output(&self, request: CallRequest) -> Answer {
        let Some(store) = self.executor.capture.store.clone() else {
            return self.unknown_tool(&request);
        };
        let reader = OutputReader {
            store,
            access: self.output_access(),
            max_bytes: self.executor.capture.max_stdout_bytes,
        };
        let permit = self.permits.output_reader().await;
        let start = Instant::now();
        let reading = tokio::task::spawn_blocking(move || {
            // Held until the thread is free, even if the request is cancelled.
            let _permit = permit;
            reader.read(&request)
        });
        let answer = match reading.await {
            Ok(answer) => answer,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let seconds = start.elapsed().as_secs_f64();
        tracing::info!(tool = OUTPUT_TOOL, "done after {seconds:.3} s");
        self.with_permit(answer.into()).await
    }

    /// Finds the tool of a call, unless its risk is too high.
    ///
    /// # Errors
    /// An answer that says why it cannot be called.
    fn callable_tool(
        &self,
        request: &CallRequest,
        max_risk: Risk,
    ) -> Result<(u32, ToolRow), Answer> {
        let Some((number, tool)) = self.selection.find_tool(&request.tool) else {
            return Err(self.unknown_tool(request));
        };
        if assumed_risk(tool.risk) > max_risk {
            return Err(self.risk_refusal(&request.tool, tool.risk));
        }
        Ok((number, tool))
    }

    /// What a call would run, for a front that does not run it.
    ///
    /// # Errors
    /// An answer that says why the call is refused.
    pub(crate) fn dry_run(&self, request: &CallRequest) -> Result<DryRun, Answer> {
        let (number, tool) = self.callable_tool(request, Risk::Destructive)?;
        let input = CallInput::new(&self.selection, (number, &tool), request);
        match self.executor.dry_run(&input) {
            Ok(dry_run) => {
                let end = self.call_end(CallResult::Succeeded, false);
                let hints = hints::for_call(&self.selection, &input, end);
                Ok(DryRun { hints, ..dry_run })
            }
            Err(answer) => Err(self.with_hints(&input, answer)),
        }
    }

    async fn call(&self, request: &CallRequest, max_risk: Risk, client: &impl Client) -> Answer {
        let (number, tool) = match self.callable_tool(request, max_risk) {
            Ok(tool) => tool,
            Err(answer) => return answer,
        };
        let input = CallInput::new(&self.selection, (number, &tool), request);
        let output_access = self.stores_output().then(|| self.output_access());
        let state = client.wants_progress().then(CallState::default);
        // Boxed to keep the futures of requests that run no command small.
        let call = Box::pin(async {
            let permit = self.permits.command();
            let call = self
                .executor
                .call(&input, permit, state.as_ref(), output_access);
            let answer = call.await;
            // Here and not after `report_while`: the client may never read the last progress report.
            self.with_permit(self.with_hints(&input, answer)).await
        });
        match &state {
            None => call.await,
            Some(state) => report_while(call, state, client).await,
        }
    }

    /// The answer to a call, with hints.
    fn with_hints(&self, input: &CallInput<'_>, answer: CallAnswer) -> Answer {
        let is_silent = answer.text == NO_OUTPUT || answer.text.starts_with("[exit code:");
        let end = self.call_end(answer.result, is_silent);
        Answer {
            hints: hints::for_call(&self.selection, input, end),
            ..answer.into()
        }
    }

    fn call_end(&self, result: CallResult, is_silent: bool) -> CallEnd {
        CallEnd {
            result,
            is_silent,
            is_in_container: self.executor.guard.container.is_some(),
        }
    }

    /// The answer for an unknown tool.
    fn unknown_tool(&self, request: &CallRequest) -> Answer {
        let text = format!("Unknown tool: {}", truncate_for_message(&request.tool));
        Answer {
            hints: hints::for_unknown_tool(&self.selection, request),
            ..Answer::new(text, true)
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
