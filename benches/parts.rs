//! Measures the parts of a request: `cargo bench -p climax-tests`.

use climax_policy::pattern::is_match;
use climax_runtime::internals;
use divan::{Bencher, black_box};
use serde_json::{Map, Value, json};

climax_runtime::catalog!();

fn main() {
    divan::main();
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// Values that already have their types.
#[divan::bench]
fn typed_arguments(bencher: Bencher<'_, '_>) {
    let arguments = object(json!({
        "text": "a message", "count": 5, "ratio": 1.5, "verbose": true, "format": "json",
    }));
    measure_plan(bencher, &arguments);
}

/// Values that must be converted to their types.
#[divan::bench]
fn coerced_arguments(bencher: Bencher<'_, '_>) {
    let arguments = object(json!({
        "text": 12345, "count": " 42 ", "ratio": "2.5", "verbose": "TRUE", "format": "json",
    }));
    measure_plan(bencher, &arguments);
}

fn measure_plan(bencher: Bencher<'_, '_>, arguments: &Map<String, Value>) {
    bencher
        .with_inputs(|| arguments.clone())
        .bench_values(|arguments| internals::plan(&CATALOG, "dump_kinds", black_box(arguments)));
}

/// A common pattern with a common value.
#[divan::bench]
fn pattern_with_a_short_value(bencher: Bencher<'_, '_>) {
    measure_pattern(bencher, "^feature/[a-z0-9-]{1,63}$", "feature/a-new-thing");
}

/// A pattern prone to catastrophic backtracking, with a long value.
#[divan::bench]
fn pattern_with_100_000_characters(bencher: Bencher<'_, '_>) {
    measure_pattern(bencher, "(a+)+$", &("a".repeat(99_999) + "!"));
}

fn measure_pattern(bencher: Bencher<'_, '_>, pattern: &str, value: &str) {
    bencher.bench(|| is_match(pattern, black_box(value)));
}

/// A word, a part of a word, an unknown word, a phrase, a sentence, and all tools.
#[divan::bench(args = ["commit", "omm", "nosuchword", "working tree", "how do i undo the last commit", ""])]
fn search(bencher: Bencher<'_, '_>, query: &str) {
    bencher
        .with_inputs(|| object(json!({"query": query})))
        .bench_values(|arguments| internals::search(&CATALOG, &arguments));
}

/// A sentence in each mode of the discovery tools: only the ranking.
#[divan::bench(args = ["keyword", "hybrid", "semantic"])]
fn rank(bencher: Bencher<'_, '_>, mode: &str) {
    bencher.bench(|| internals::rank(&CATALOG, black_box(SENTENCE), mode));
}

/// The same with the whole response.
#[divan::bench(args = ["keyword", "hybrid", "semantic"])]
fn explore(bencher: Bencher<'_, '_>, mode: &str) {
    bencher
        .with_inputs(|| object(json!({"query": SENTENCE, "search_mode": mode})))
        .bench_values(|arguments| internals::explore(&CATALOG, arguments));
}

/// The same from the cache.
#[divan::bench]
fn explore_again(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| object(json!({"query": SENTENCE})))
        .bench_values(|arguments| internals::explore_cached(&CATALOG, arguments));
}

const SENTENCE: &str = "how do i undo the last comit";

/// The summary of the CLIs.
#[divan::bench]
fn summary() -> String {
    internals::search(&CATALOG, &Map::new())
}

/// The result of a call with this many bytes of output. The longest is truncated.
#[divan::bench(args = [0, 1000, 100_000, 3_000_000])]
fn answer(bencher: Bencher<'_, '_>, bytes: usize) {
    let output = "a line of output that is not very long\n".repeat(bytes / 39);
    bencher.bench(|| internals::answer(black_box(output.as_bytes()), b"", 1024 * 1024));
}
