//! `search_mcp_tools`: a query in words -> tools, with reasons and hints.

use climax_core::pieces::{json, quoted};
use climax_discovery::rank::Mode;
use climax_discovery::tool_type::ToolType;
use serde_json::{Map, Value};

use super::cache::Prepared;
use super::categories::{self, breakdown};
use super::hints::{Asked, navigation_hints, query_suggestions};
use super::json::Json;
use super::request::Request;
use super::result::{Parts, push_fit, push_tool};
use super::{Answered, refuse};
use crate::catalog::selection::Selection;
use crate::search::offered_in;
use crate::search::ranked::{Confidence, Found, find};

/// The tool's name.
pub(super) const NAME: &str = "search_mcp_tools";

/// The answer but for its end.
pub(super) fn prepare(
    selection: &Selection,
    arguments: Map<String, Value>,
) -> Result<Prepared, Answered> {
    let given = given(&arguments);
    let mut request = Request::new(arguments);
    let query = request.query("query", "Query");
    let category = request.category(selection);
    let types = ToolType::ALL.map(ToolType::name);
    let tool_type = request.choice("tool_type", &types);
    let max_results = request.max_results();
    let include_examples = request.flag("include_examples");
    let modes = Mode::ALL.map(Mode::name);
    let mode = request.choice("search_mode", &modes);
    if !request.problems.is_empty() {
        return Err(refuse(NAME, &request, Some(&query)));
    }
    let mode = Mode::ALL
        .into_iter()
        .find(|it| Some(it.name()) == mode.as_deref());
    let mode = mode.unwrap_or(Mode::Hybrid);
    let offered = offered_in(selection, category.as_deref());
    let records = selection.discovery().records();
    let found = find(selection, &query, mode, max_results, |tool| {
        let is_type = |wanted: &String| {
            let record = records.record(tool);
            record.is_some_and(|record| record.tool_type.name() == wanted)
        };
        offered.contains(tool) && tool_type.as_ref().is_none_or(is_type)
    });
    let asked = Asked {
        query: &query,
        category: category.as_deref(),
        max_results,
        given: &given,
    };
    let mut json = Json::default();
    json.open('{');
    json.field("query", &query);
    json.key("results");
    push_results(&mut json, selection, &found, include_examples);
    json.raw_field("total_results", &found.best.len().to_string());
    json.key("search_mode");
    json.plain(mode.name());
    json.field("search_strategy", strategy(mode));
    push_confidence(&mut json, &found);
    let categories = breakdown(selection, found.best.iter().map(|it| it.tool));
    json.key("category_breakdown");
    json.open('{');
    for (category, count) in &categories {
        json.raw(&format!("{}:{count}", quoted(&self::json(category))));
    }
    json.close('}');
    let suggestions = query_suggestions(selection, &asked, &found);
    json.texts("query_suggestions", suggestions.iter().map(String::as_str));
    let hints = navigation_hints(selection, &asked, &found, &categories);
    json.texts("navigation_hints", hints.iter().map(String::as_str));
    Ok(Prepared {
        json: json.0,
        about: query,
        results: found.best.len(),
    })
}

/// The arguments that mean something.
fn given(arguments: &Map<String, Value>) -> Map<String, Value> {
    const NAMES: [&str; 6] = [
        "query",
        "category",
        "tool_type",
        "max_results",
        "include_examples",
        "search_mode",
    ];
    let is_given = |(name, value): &(&String, &Value)| {
        NAMES.contains(&name.as_str()) && !value.is_null() && *value != ""
    };
    let given = arguments.iter().filter(is_given);
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn push_results(json: &mut Json, selection: &Selection, found: &Found, include_examples: bool) {
    let records = selection.discovery().records();
    let parts = Parts {
        schema: true,
        examples: usize::from(include_examples),
    };
    json.open('[');
    for it in &found.best {
        let Some(record) = records.record(it.number) else {
            continue;
        };
        json.open('{');
        push_tool(json, selection, (it.number, it.tool), &record, parts);
        push_fit(json, selection, found, it, &record);
        json.close('}');
    }
    json.close(']');
}

fn push_confidence(json: &mut Json, found: &Found) {
    json.key("confidence_distribution");
    json.open('{');
    for level in Confidence::ALL {
        let results = found.best.iter();
        let count = results
            .filter(|it| Confidence::of(it.score) == level)
            .count();
        json.raw_field(level.name(), &count.to_string());
    }
    json.close('}');
}

/// What a mode does, so that nobody takes it for more.
pub(super) fn strategy(mode: Mode) -> &'static str {
    match mode {
        Mode::Keyword => {
            "BM25F over names, descriptions, arguments, category and tags; unknown words as they may be misspelled"
        }
        Mode::Hybrid => {
            "BM25F, and words that are written alike (character trigrams); meaning beyond words is not looked at"
        }
        Mode::Semantic => {
            "BM25F, and more words that are written alike (character trigrams); meaning beyond words is not looked at"
        }
    }
}

impl Request {
    /// A category that there is, or that the suite knows.
    pub(super) fn category(&mut self, selection: &Selection) -> Option<String> {
        if !self.has("category") {
            return None;
        }
        let valid = categories::valid(selection);
        let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
        self.choice("category", &valid)
    }
}
