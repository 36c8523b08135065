//! The parts of a request, for benchmarks: what `benches/parts.rs` measures, and nobody else uses.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use bumpalo::Bump;
use serde_json::{Map, Value};

use crate::answer;
use crate::arguments::Reader;
use crate::argv::Argv;
use crate::captured::Captured;
use crate::catalog::Catalog;
use crate::meta_tools;
use crate::runner::{End, Outcome};
use crate::search;
use crate::selection::Selection;

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
    let mut reader = Reader::new(arguments, &arena, selection.allowed(number));
    let mut argv = Argv::begin("program", selection.text(tool.command));
    selection.call(number, tool, &mut reader, &mut argv);
    assert!(reader.finish(argv.errors).is_ok());
    argv.words.len()
}

/// Query -> answer of `climax_search`, as it stands in a string of JSON.
#[must_use]
pub fn search(catalog: &'static Catalog, arguments: Map<String, Value>) -> String {
    search::search(&Selection::all(catalog), &meta_tools::query(arguments)).json
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
    };
    answer::answer(outcome).text
}
