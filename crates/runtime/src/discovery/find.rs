//! `search_mcp_tools`: a query in words -> tools, with reasons and hints.

use climax_discovery::rank::RankingMode;
use climax_discovery::tool_type::ToolType;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::categories::{self, breakdown};
use super::hints::{Asked, navigation_hints, query_suggestions};
use super::request::Request;
use super::result::{Fit, Parts, ToolFields};
use super::{FoundTool, Refusal, Response};
use crate::catalog::selection::Selection;
use crate::search::offered_in;
use crate::search::ranked::{Confidence, Found, find};

/// The tool's name.
pub(super) const NAME: &str = "search_mcp_tools";

/// A response without its end.
#[derive(Serialize)]
pub(super) struct Body {
    query: String,
    pub(super) results: Vec<SearchResult>,
    total_results: usize,
    search_mode: &'static str,
    search_strategy: &'static str,
    #[serde(serialize_with = "counts")]
    confidence_distribution: Vec<(&'static str, usize)>,
    #[serde(serialize_with = "counts")]
    category_breakdown: Vec<(&'static str, usize)>,
    query_suggestions: Vec<String>,
    navigation_hints: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct SearchResult {
    #[serde(flatten)]
    tool: ToolFields,
    #[serde(flatten)]
    fit: Fit,
}

impl SearchResult {
    pub(super) fn found_tool(&self) -> FoundTool<'_> {
        FoundTool {
            name: self.tool.name,
            description: self.tool.description,
            score: self.fit.score,
            confidence: self.fit.confidence_level,
            reasons: &self.fit.match_reasons,
        }
    }
}

/// Serialises how many there are of each, in their order.
fn counts<S: Serializer>(
    counts: &[(&'static str, usize)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().copied())
}

/// Searches. Returns the response, and how many tools fit at all.
pub(super) fn respond(
    selection: &Selection,
    arguments: Map<String, Value>,
) -> Result<(Response<Body>, usize), Refusal> {
    let given = given(&arguments);
    let mut request = Request::new(arguments);
    let query = request.query("query", "Query");
    let category = request.category(selection);
    let types = ToolType::ALL.map(ToolType::name);
    let tool_type = request.choice("tool_type", &types);
    let max_results = request.max_results();
    let include_examples = request.flag("include_examples");
    let modes = RankingMode::ALL.map(RankingMode::name);
    let mode = request.choice("search_mode", &modes);
    if !request.problems.is_empty() {
        return Err(Refusal {
            tool: NAME,
            request,
            context: query,
        });
    }
    let mode = RankingMode::ALL
        .into_iter()
        .find(|it| Some(it.name()) == mode.as_deref());
    let mode = mode.unwrap_or(RankingMode::Hybrid);
    let offered = offered_in(selection, category.as_deref());
    let notes = &selection.discovery().notes;
    let found = find(selection, &query, mode, max_results, |tool| {
        let is_type = |wanted: &String| notes.of(tool).tool_type.name() == wanted;
        offered.contains(tool) && tool_type.as_ref().is_none_or(is_type)
    });
    let asked = Asked {
        query: &query,
        category: category.as_deref(),
        max_results,
        given: &given,
    };
    let categories = breakdown(selection, found.best.iter().map(|it| &it.tool));
    let results = results(selection, &found, include_examples);
    let body = Body {
        total_results: results.len(),
        results,
        search_mode: mode.name(),
        search_strategy: strategy(mode),
        confidence_distribution: confidence_distribution(&found),
        query_suggestions: query_suggestions(selection, &asked, &found),
        navigation_hints: navigation_hints(selection, &asked, &found, &categories),
        category_breakdown: categories,
        query: query.clone(),
    };
    let response = Response {
        body,
        about: query,
        results: found.best.len(),
    };
    Ok((response, found.total))
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

fn results(selection: &Selection, found: &Found, include_examples: bool) -> Vec<SearchResult> {
    let parts = Parts {
        schema: true,
        examples: usize::from(include_examples),
    };
    let results = found.best.iter().map(|it| SearchResult {
        tool: ToolFields::new(selection, it.number, &it.tool, parts),
        fit: Fit::new(selection, found, it),
    });
    results.collect()
}

fn confidence_distribution(found: &Found) -> Vec<(&'static str, usize)> {
    let count = |level: Confidence| {
        let results = found.best.iter();
        let of_level = results.filter(|it| Confidence::of(it.score) == level);
        (level.name(), of_level.count())
    };
    Confidence::ALL.map(count).into()
}

/// What a mode does, so that nobody takes it for more.
pub(super) fn strategy(mode: RankingMode) -> &'static str {
    match mode {
        RankingMode::Keyword => {
            "BM25F over names, descriptions, arguments, category and tags; unknown words as they may be misspelled"
        }
        RankingMode::Hybrid => {
            "BM25F, and words that are written alike (character trigrams); meaning beyond words is not looked at"
        }
        RankingMode::Semantic => {
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
        self.choice("category", &categories::valid(selection))
    }
}
