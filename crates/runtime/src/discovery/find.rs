//! `search_mcp_tools`: turns a query in plain words into matching tools, with match reasons and hints.

use climax_discovery::meaning::is_built_in;
use climax_discovery::rank::RankingMode;
use climax_discovery::tool_type::ToolType;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::categories::{category_counts, valid_categories};
use super::hints::{SearchRequest, navigation_hints, query_suggestions};
use super::request::RequestArguments;
use super::result::{MatchFields, OptionalFields, ToolFields};
use super::{LookupBody, LookupRefusal};
use crate::catalog::selection::Selection;
use crate::search::offered_tools;
use crate::search::ranked::{Confidence, RankedMatches, find_ranked};

/// The tool's name.
pub(super) const NAME: &str = "search_mcp_tools";

#[derive(Serialize)]
pub(super) struct SearchBody {
    query: String,
    results: Vec<SearchResult>,
    total_results: usize,
    search_mode: &'static str,
    search_strategy: &'static str,
    #[serde(serialize_with = "serialise_counts")]
    confidence_distribution: Vec<(&'static str, usize)>,
    #[serde(serialize_with = "serialise_counts")]
    category_breakdown: Vec<(&'static str, usize)>,
    query_suggestions: Vec<String>,
    navigation_hints: Vec<String>,
}

#[derive(Serialize)]
struct SearchResult {
    #[serde(flatten)]
    tool: ToolFields,
    #[serde(flatten)]
    match_fields: MatchFields,
}

/// Serialises counts as a JSON object, in order.
fn serialise_counts<S: Serializer>(
    counts: &[(&'static str, usize)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().copied())
}

/// Answers a search.
pub(super) fn respond(
    selection: &Selection,
    arguments: Map<String, Value>,
) -> Result<LookupBody<SearchBody>, LookupRefusal> {
    let known_arguments = known_arguments(&arguments);
    let mut arguments = RequestArguments::new(arguments);
    let query = arguments.query("query", "Query");
    let category = arguments.category(selection);
    let types = ToolType::ALL.map(ToolType::name);
    let tool_type = arguments.choice("tool_type", &types);
    let max_results = arguments.max_results();
    let include_examples = arguments.flag("include_examples");
    let modes = RankingMode::ALL.map(RankingMode::name);
    let mode = arguments.choice("search_mode", &modes);
    if !arguments.problems.is_empty() {
        return Err(LookupRefusal {
            tool: NAME,
            arguments,
            context: query,
        });
    }
    let mode = RankingMode::ALL
        .into_iter()
        .find(|candidate| Some(candidate.name()) == mode.as_deref());
    let mode = mode.unwrap_or(RankingMode::Hybrid);
    let offered = offered_tools(selection, category.as_deref());
    let notes = &selection.discovery().notes;
    let matches = find_ranked(selection, &query, mode, max_results, |tool| {
        let has_type = |tool_type: &String| notes.of(tool).tool_type.name() == tool_type;
        offered.contains(tool) && tool_type.as_ref().is_none_or(has_type)
    });
    let request = SearchRequest {
        query: &query,
        category: category.as_deref(),
        max_results,
        arguments: &known_arguments,
    };
    let best_tools = matches.best.iter().map(|found| &found.tool);
    let category_counts = category_counts(selection, best_tools);
    let results = search_results(selection, &matches, include_examples);
    let body = SearchBody {
        total_results: results.len(),
        results,
        search_mode: mode.name(),
        search_strategy: search_strategy(mode),
        confidence_distribution: confidence_distribution(&matches),
        query_suggestions: query_suggestions(selection, &request, &matches),
        navigation_hints: navigation_hints(selection, &request, &matches, &category_counts),
        category_breakdown: category_counts,
        query: query.clone(),
    };
    Ok(LookupBody {
        body,
        subject: query,
        result_count: matches.best.len(),
    })
}

/// The arguments that affect the search, without unknown and empty ones.
fn known_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    const NAMES: [&str; 6] = [
        "query",
        "category",
        "tool_type",
        "max_results",
        "include_examples",
        "search_mode",
    ];
    let is_known = |(name, value): &(&String, &Value)| {
        NAMES.contains(&name.as_str()) && !value.is_null() && *value != ""
    };
    let known = arguments.iter().filter(is_known);
    known
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn search_results(
    selection: &Selection,
    matches: &RankedMatches,
    include_examples: bool,
) -> Vec<SearchResult> {
    let optional = OptionalFields {
        schema: true,
        max_examples: usize::from(include_examples),
    };
    let results = matches.best.iter().map(|found| SearchResult {
        tool: ToolFields::new(selection, found.number, &found.tool, optional),
        match_fields: MatchFields::new(selection, matches, found),
    });
    results.collect()
}

fn confidence_distribution(matches: &RankedMatches) -> Vec<(&'static str, usize)> {
    let count = |level: Confidence| {
        let best = matches.best.iter();
        let of_level = best.filter(|found| Confidence::from_score(found.score) == level);
        (level.name(), of_level.count())
    };
    Confidence::ALL.map(count).into()
}

/// Describes what a mode does.
fn search_strategy(mode: RankingMode) -> &'static str {
    match mode {
        RankingMode::Hybrid if is_built_in() => {
            "BM25F; words close in meaning and the similarity of query and tool by word vectors; CLIs named in the query"
        }
        RankingMode::Semantic if is_built_in() => {
            "similarity of query and tool by word vectors; BM25F if the query has no known word"
        }
        RankingMode::Hybrid | RankingMode::Semantic => {
            "BM25F, as in keyword mode: search by meaning is not built into this server"
        }
        RankingMode::Keyword => {
            "BM25F over names, descriptions, arguments, category and tags; unknown words match terms within edit distance 1 or 2"
        }
    }
}

impl RequestArguments {
    /// Reads an optional category.
    fn category(&mut self, selection: &Selection) -> Option<String> {
        if !self.contains("category") {
            return None;
        }
        self.choice("category", &valid_categories(selection))
    }
}
