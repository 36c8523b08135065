//! The parts of a request, for benchmarks: what `benches/parts.rs` measures, and nobody else uses.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::LazyLock;

use bumpalo::Bump;
use climax_discovery::rank::Mode;
use serde_json::{Map, Value};

use crate::call::answer;
use crate::call::arguments::Reader;
use crate::call::argv::Argv;
use crate::captured::Captured;
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;
use crate::discovery::{self, Cache};
use crate::runner::{End, Outcome};
use crate::search::{self, ranked};
use crate::service::meta_tools;

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
    let mut reader = Reader::new(arguments, &arena, selection.allowed(&tool));
    let mut argv = Argv::begin("program", selection.text(tool.command));
    selection.call(number, &tool, &mut reader, &mut argv);
    assert!(reader.finish(argv.errors).is_ok());
    argv.words.len()
}

/// Query -> answer of `climax_search`.
#[must_use]
pub fn search(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    search::search(&Selection::all(catalog), &meta_tools::query(arguments)).json
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
        "search_mcp_tools",
        arguments,
    )
    .json
}

/// What a command wrote -> answer of a call.
#[must_use]
pub fn answer(stdout: &[u8], stderr: &[u8], max_output: usize) -> String {
    let captured = |bytes| {
        let mut captured = Captured::new(max_output);
        captured.push(bytes);
        captured
    };
    let outcome = Outcome {
        stdout: captured(stdout),
        stderr: captured(stderr),
        end: End::Exited(ExitStatus::from_raw(0)),
        place: None,
    };
    answer::answer(outcome).text
}
