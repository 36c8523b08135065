//! Entry points for benchmarks and tests only: the steps of a request, which `benches/parts.rs` measures, and
//! MCP over other transports, which `tests/` compares with stdio.

use std::borrow::Cow;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::sync::{Arc, LazyLock};

use bumpalo::Bump;
use climax_discovery::rank::RankingMode;
use climax_runner::{CapturedOutput, Completion, Outcome, PrivateFiles};
use rmcp::RoleServer;
use rmcp::transport::IntoTransport;
use serde_json::{Map, Value};

use crate::call::CallRequest;
use crate::call::answer;
use crate::call::guard::ExecutionGuard;
use crate::call::plan::CallInput;
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;
use crate::commands::configuration::{Configuration, OutputLimits};
use crate::discovery::{self, LookupTool, ResponseCache};
use crate::fronts::delivery::TrackedTransport;
use crate::fronts::mcp::Mcp;
use crate::search::{self, ranked};
use crate::service::{ServerMode, search_request};

/// Serves a catalog over an rmcp transport until the client disconnects. The modes are `default`, `explore`
/// and `classic`.
///
/// # Panics
/// If the mode is unknown.
pub async fn serve<T, E, A>(catalog: &'static Catalog, mode: &str, transport: T)
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let mode = match mode {
        "default" => ServerMode::MetaTools,
        "explore" => ServerMode::Explore,
        "classic" => ServerMode::Classic,
        other => panic!("unknown mode {other}"),
    };
    let configuration = Configuration {
        selection: Selection::all(catalog),
        guard: ExecutionGuard::default(),
        mode,
        max_concurrent: 16,
        output: OutputLimits {
            inline_bytes: 1024 * 1024,
            store: None,
        },
    };
    let service = Arc::new(configuration.service());
    let transport = TrackedTransport::new(transport.into_transport());
    let handler = Mcp::new(service.clone(), transport.deliveries());
    if let Ok(running) = rmcp::serve_server(handler, transport).await {
        let _ = running.waiting().await;
    }
    service.close().await;
}

/// Runs this process as the supervisor of commands if it was started as one. A program that uses [`serve`]
/// calls this first.
#[must_use]
pub fn run_as_helper() -> Option<ExitCode> {
    climax_runner::is_helper_process().then(climax_runner::helper_main)
}

/// What a call would run.
#[derive(Debug, PartialEq, Eq)]
pub struct PlannedCall {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The directory in which the command would run; `None` for the server's.
    pub directory: Option<String>,
    /// Text for standard input.
    pub stdin: Option<String>,
    /// The paths and the contents of the files that the command would read.
    pub files: Vec<(String, String)>,
}

/// Turns the JSON arguments of a call into what it would run.
///
/// # Errors
/// The text of the answer, if the call is refused.
///
/// # Panics
/// If the tool is unknown.
pub fn plan(
    catalog: &'static Catalog,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<PlannedCall, String> {
    static PRIVATE_FILES: LazyLock<PrivateFiles> = LazyLock::new(PrivateFiles::default);
    let request = CallRequest {
        tool: tool.to_owned(),
        arguments,
        unknown_parameters: Map::new(),
    };
    let selection = Selection::all(catalog);
    let (number, tool) = selection.find_tool(tool).expect("the tool exists");
    let input = CallInput::new(&selection, (number, &tool), &request);
    let guard = ExecutionGuard::default();
    let arena = Bump::new();
    let plan = input.plan(&guard, &PRIVATE_FILES, &arena);
    let plan = plan.map_err(|answer| answer.text)?;
    let path = |name: &str| format!("{}/{name}", plan.file_directory);
    let files = plan.files.iter();
    Ok(PlannedCall {
        files: files
            .map(|file| (path(file.name), file.text.to_owned()))
            .collect(),
        words: plan.words.into_iter().map(Cow::into_owned).collect(),
        directory: plan.directory.map(str::to_owned),
        stdin: plan.stdin.map(str::to_owned),
    })
}

/// Returns the response of `climax_search`.
///
/// # Panics
/// If an argument is given twice.
#[must_use]
pub fn search(catalog: &'static Catalog, arguments: &Map<String, Value>) -> String {
    let selection = Selection::all(catalog);
    let Ok(request) = search_request(arguments) else {
        panic!("an argument is given twice")
    };
    search::search(&selection, &request.query).json(&selection)
}

/// Ranks tools for a query. Returns the number of matches.
///
/// # Panics
/// If the mode is unknown.
#[must_use]
pub fn rank(catalog: &'static Catalog, query: &str, mode: &str) -> usize {
    let mut modes = RankingMode::ALL.into_iter();
    let mode = modes
        .find(|candidate| candidate.name() == mode)
        .expect("the mode exists");
    ranked::find_ranked(&Selection::all(catalog), query, mode, 10, |_| true).total
}

/// Returns the response of `search_mcp_tools`, without a cached body.
#[must_use]
pub fn explore(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    explore_with(catalog, &ResponseCache::default(), arguments)
}

/// Like [`explore`], with a cache that lives as long as the process.
#[must_use]
pub fn explore_cached(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    static CACHE: LazyLock<ResponseCache> = LazyLock::new(ResponseCache::default);
    explore_with(catalog, &CACHE, arguments)
}

fn explore_with(
    catalog: &'static Catalog,
    cache: &ResponseCache,
    arguments: Map<String, Value>,
) -> String {
    discovery::answer(
        &Selection::all(catalog),
        cache,
        LookupTool::Search,
        arguments,
    )
    .json
}

/// Turns the output of a command into the answer of a call.
#[must_use]
pub fn answer(stdout: &[u8], stderr: &[u8], max_bytes: usize) -> String {
    let captured = |bytes| {
        let mut captured = CapturedOutput::new(max_bytes, None);
        captured.push(bytes);
        captured.finish()
    };
    let outcome = Outcome {
        stdout: captured(stdout),
        stderr: captured(stderr),
        completion: Completion::Exited(ExitStatus::from_raw(0)),
    };
    answer::answer(outcome, &answer::ResultRules::default(), None).text
}
