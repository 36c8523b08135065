//! Parts of the runtime for benchmarks and tests: the steps of a request, which `benches/parts.rs` measures,
//! and MCP over another transport, which `tests/` compares with stdio. Nobody else uses it.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::sync::{Arc, LazyLock};

use bumpalo::Bump;
use climax_discovery::rank::Mode;
use climax_runner::{CapturedOutput, Completion, Outcome};
use rmcp::RoleServer;
use rmcp::transport::IntoTransport;
use serde_json::{Map, Value};

use crate::call::answer;
use crate::call::arguments::ArgumentReader;
use crate::call::argv::Argv;
use crate::call::guard::ExecutionGuard;
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;
use crate::commands::configuration::Configuration;
use crate::discovery::{self, Cache, LookupTool};
use crate::fronts::delivery::TrackedTransport;
use crate::fronts::mcp::Mcp;
use crate::search::{self, ranked};
use crate::service::{self, search_query};

/// Serves a catalog over a transport of rmcp's until its client leaves. The modes are `default`, `explore` and
/// `classic`.
///
/// # Panics
/// There is no such mode.
pub async fn serve<T, E, A>(catalog: &'static Catalog, mode: &str, transport: T)
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let mode = match mode {
        "default" => service::Mode::Discovery,
        "explore" => service::Mode::Explore,
        "classic" => service::Mode::Classic,
        other => panic!("no mode is called {other}"),
    };
    let configuration = Configuration {
        selection: Selection::all(catalog),
        guard: ExecutionGuard::default(),
        mode,
        max_concurrent: 16,
        max_output_bytes: 1024 * 1024,
    };
    let service = Arc::new(configuration.service());
    let transport = TrackedTransport::new(transport.into_transport());
    let handler = Mcp::new(service.clone(), transport.deliveries());
    if let Ok(running) = rmcp::serve_server(handler, transport).await {
        let _ = running.waiting().await;
    }
    service.close().await;
}

/// Runs this process as one that runs commands, if it was started for that. A program that serves a handler
/// calls it first.
#[must_use]
pub fn run_as_helper() -> Option<ExitCode> {
    climax_runner::is_helper_process().then(climax_runner::helper_main)
}

/// JSON -> typed arguments -> command line; returns how many words it has.
///
/// # Panics
/// There is no such tool.
#[must_use]
pub fn command_line(
    catalog: &'static Catalog,
    tool: &str,
    arguments: &Map<String, Value>,
) -> usize {
    let selection = Selection::all(catalog);
    let (number, tool) = selection.find(tool).expect("a tool");
    let arena = Bump::new();
    let mut reader = ArgumentReader::new(arguments, &arena, selection.allowed(&tool));
    let mut argv = Argv::new("program", selection.text(tool.command));
    selection.call(number, &tool, &mut reader, &mut argv);
    assert!(reader.finish(argv.errors).is_ok());
    argv.words.len()
}

/// Query -> answer of `climax_search`.
#[must_use]
pub fn search(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    search::search(&Selection::all(catalog), &search_query(arguments)).json
}

/// Query in words -> the best tools; returns how many fit.
///
/// # Panics
/// There is no such mode.
#[must_use]
pub fn rank(catalog: &'static Catalog, query: &str, mode: &str) -> usize {
    let mut modes = Mode::ALL.into_iter();
    let mode = modes.find(|it| it.name() == mode).expect("a mode");
    ranked::find(&Selection::all(catalog), query, mode, 10, |_| true).total
}

/// Arguments of `search_mcp_tools` -> its answer.
#[must_use]
pub fn explore(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    explore_with(catalog, &Cache::default(), arguments)
}

/// The same, where the answer is kept for the next time.
#[must_use]
pub fn explore_again(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    static CACHE: LazyLock<Cache> = LazyLock::new(Cache::default);
    explore_with(catalog, &CACHE, arguments)
}

fn explore_with(catalog: &'static Catalog, cache: &Cache, arguments: Map<String, Value>) -> String {
    discovery::answer(
        &Selection::all(catalog),
        cache,
        LookupTool::Search,
        arguments,
    )
    .json
}

/// What a command wrote -> answer of a call.
#[must_use]
pub fn answer(stdout: &[u8], stderr: &[u8], max_output: usize) -> String {
    let captured = |bytes| {
        let mut captured = CapturedOutput::new(max_output);
        captured.push(bytes);
        captured
    };
    let outcome = Outcome {
        stdout: captured(stdout),
        stderr: captured(stderr),
        completion: Completion::Exited(ExitStatus::from_raw(0)),
    };
    answer::answer(outcome).text
}
