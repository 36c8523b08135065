//! The discovery suite: four tools for agents that want more than keyword search. docs/discovery.md tells
//! the rules by which answers are made.

mod cache;
mod capability;
mod categories;
mod details;
mod find;
mod hints;
mod json;
mod registration;
mod request;
mod result;

use std::fmt::Write as _;
use std::time::Instant;

use chrono::Utc;
use climax_core::pieces::unquoted;
use climax_discovery::rank::Mode;
use serde_json::{Map, Value};

use crate::catalog::selection::Selection;
use crate::commands::list::columns;
use crate::search::ranked;
pub(crate) use cache::Cache;
use cache::Prepared;
use json::Json;
pub(crate) use registration::registration;
use request::{RESULTS, Request, shortened};

const CATEGORIES: &str = "list_tool_categories";

/// The version of the form of answers.
const VERSION: &str = "1.0";

/// An answer of the suite.
pub(crate) struct Answered {
    /// JSON as it stands in a string of JSON.
    pub(crate) json: String,
    pub(crate) is_error: bool,
    /// What it is about, for the log.
    pub(crate) about: String,
    /// How many results it has, for the log.
    pub(crate) results: usize,
}

/// The suite's tool that has a name.
pub(crate) fn tool(name: &str) -> Option<&'static str> {
    let tools = [find::NAME, details::NAME, CATEGORIES, capability::NAME];
    tools.into_iter().find(|tool| *tool == name)
}

/// Answers a request to one of the four tools.
pub(crate) fn answer(
    selection: &Selection,
    cache: &Cache,
    name: &str,
    arguments: Map<String, Value>,
) -> Answered {
    let prepare = match name {
        find::NAME => find::prepare,
        capability::NAME => capability::prepare,
        details::NAME => return details::answer(selection, arguments),
        _ => return categories::answer(selection),
    };
    let start = Instant::now();
    let request = format!("{name} {}", Value::Object(arguments.clone()));
    let prepared = cache.get(&request).map_or_else(
        || {
            let prepared = prepare(selection, arguments)?;
            cache.put(request, &prepared);
            Ok(prepared)
        },
        Ok,
    );
    let Prepared {
        json,
        about,
        results,
    } = match prepared {
        Ok(prepared) => prepared,
        Err(refused) => return refused,
    };
    let mut json = Json(json);
    if name == find::NAME {
        let seconds = start.elapsed().as_secs_f64();
        json.raw_field("execution_time", &format!("{seconds:.6}"));
    }
    finish(&mut json);
    Answered {
        json: json.0,
        is_error: false,
        about,
        results,
    }
}

/// The end of every answer that is none about an error.
fn finish(json: &mut Json) {
    json.field("timestamp", &timestamp());
    json.field("version", VERSION);
    json.raw_field("success", "true");
    json.close('}');
}

/// The answer to a request that is wrong.
fn refuse(tool: &str, request: &Request, context: Option<&str>) -> Answered {
    let problems = request.problems.join("; ");
    let message = format!("Parameter validation errors: {problems}");
    let mut json = Json::default();
    push_error(&mut json, tool, &message, context, &request.suggestions);
    Answered {
        json: json.0,
        is_error: true,
        about: context.unwrap_or_default().to_owned(),
        results: 0,
    }
}

fn push_error(
    json: &mut Json,
    tool: &str,
    message: &str,
    context: Option<&str>,
    suggestions: &[String],
) {
    json.open('{');
    json.raw_field("success", "false");
    json.key("error");
    json.open('{');
    json.field("tool", tool);
    json.field("message", message);
    match context.filter(|context| !context.is_empty()) {
        Some(context) => json.field("context", &shortened(context)),
        None => json.raw_field("context", "null"),
    }
    json.field("timestamp", &timestamp());
    json.texts("suggestions", suggestions.iter().map(String::as_str));
    json.close('}');
    json.close('}');
}

/// What is wrong with a query, if something is.
pub(crate) fn problem(query: &str) -> Option<String> {
    let arguments = [("query".to_owned(), query.into())];
    let mut request = Request::new(arguments.into_iter().collect());
    request.query("query", "Query");
    (!request.problems.is_empty()).then(|| request.problems.join("; "))
}

/// What fits a query, as `search_mcp_tools` answers.
pub(crate) fn json(selection: &Selection, query: &str, limit: usize) -> String {
    let arguments = [("query", query.into()), ("max_results", limit.into())];
    let arguments = arguments.map(|(name, value)| (name.to_owned(), value));
    let arguments = arguments.into_iter().collect();
    let answered = answer(selection, &Cache::default(), find::NAME, arguments);
    let answer: Value = serde_json::from_str(&unquoted(&answered.json)).unwrap_or_default();
    format!("{answer:#}\n")
}

/// What fits a query, as a table for people.
pub(crate) fn table(selection: &Selection, query: &str, limit: usize) -> String {
    let offered = crate::search::offered_in(selection, None);
    let found = ranked::find(selection, query, Mode::Hybrid, limit, |tool| {
        offered.contains(tool)
    });
    if found.best.is_empty() {
        return format!("Nothing fits `{query}`. `climax list` shows all tools.\n");
    }
    let records = selection.discovery().records();
    let mut rows = Vec::new();
    for it in &found.best {
        let Some(record) = records.record(it.number) else {
            continue;
        };
        let description = climax_core::pieces::description(selection.text(it.tool.head));
        let why = result::reasons(selection, &found, it, &record).join(", ");
        let confidence = ranked::Confidence::of(it.score).name();
        rows.push([
            selection.text(it.tool.name).to_owned(),
            description,
            format!("{:.2} {confidence}", it.score),
            why,
        ]);
    }
    let mut text = columns(["TOOL", "DESCRIPTION", "CONFIDENCE", "WHY"], &rows);
    let shown = found.best.len();
    if found.total > shown {
        let more = if limit < *RESULTS.end() {
            "; more with --limit"
        } else {
            ""
        };
        let _ = writeln!(text, "\n{shown} of {} that fit{more}", found.total);
    }
    text
}

/// The current time as answers show it: `2026-11-16 17:30:00 UTC`.
fn timestamp() -> String {
    Utc::now().format("%F %T UTC").to_string()
}
