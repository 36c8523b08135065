//! Turns queries of `climax_search` and `climax search` into responses.

mod matches;
pub(crate) mod ranked;
pub(crate) mod reasons;
mod response;
mod suggestions;
mod tool_set;

use climax_core::words::fold;
use climax_discovery::rank::RankingMode;

use crate::catalog::selection::Selection;
use matches::{filtered_tools, substring_hits};
use ranked::RankedMatches;
pub(crate) use response::{FoundTool, MatchingTools, SearchResponse, ToolMatch};
use suggestions::names_close_to_filters;
use tool_set::ToolSet;

/// The arguments of `climax_search`. An absent filter matches everything.
pub(crate) struct SearchQuery {
    /// Text that a tool must contain.
    pub(crate) text: Option<String>,
    /// The category of the CLI.
    pub(crate) category: Option<String>,
    /// The name of the CLI.
    pub(crate) cli: Option<String>,
    /// The maximum number of results.
    pub(crate) limit: usize,
}

/// Answers a query: a summary of all CLIs without filters, matching tools otherwise.
pub(crate) fn search(selection: &Selection, query: &SearchQuery) -> SearchResponse {
    if query.text.is_none() && query.category.is_none() && query.cli.is_none() {
        return SearchResponse::Summary {
            clis: selection.clis().take(query.limit).collect(),
            total: selection.clis().count(),
        };
    }
    SearchResponse::Tools(matching_tools(selection, query))
}

/// The tools that contain the whole text of the query. If that is several words, also tools that match some of
/// them: as related tools, or as the results if no tool contains the whole text.
fn matching_tools(selection: &Selection, query: &SearchQuery) -> MatchingTools {
    let needle = query.text.as_deref().map(fold).unwrap_or_default();
    let candidates = filtered_tools(selection, query.category.as_deref(), query.cli.as_deref());
    let hits = substring_hits(selection.tables, &candidates, &needle, query.limit);
    let results = hits.best.iter().map(|(number, substring_match)| FoundTool {
        tool: selection.tools().get(*number),
        tool_match: ToolMatch::Substring(*substring_match),
    });
    let mut tools = MatchingTools {
        results: results.collect(),
        is_ranked: false,
        related: Vec::new(),
        query_words: Vec::new(),
        did_you_mean: names_close_to_filters(selection, query),
        total: hits.total,
    };
    let has_several_words = needle.split_whitespace().nth(1).is_some();
    if !has_several_words || (hits.total > 0 && hits.total >= query.limit) {
        return tools;
    }
    let matches = ranked_matches(selection, query, &candidates);
    tools.query_words = matches.ranked.words;
    if hits.total == 0 {
        tools.is_ranked = matches.total > 0;
        tools.total = matches.total;
        tools.results = matches.best.into_iter().map(FoundTool::from).collect();
    } else {
        let is_result = |number| hits.best.iter().any(|(result, _)| *result == number);
        let others = matches.best.into_iter();
        let others = others.filter(|found| !is_result(found.number));
        let others = others.take(query.limit - hits.best.len());
        tools.related = others.map(FoundTool::from).collect();
    }
    tools
}

/// The candidates that match words of the query well, best first.
fn ranked_matches(
    selection: &Selection,
    query: &SearchQuery,
    candidates: &ToolSet,
) -> RankedMatches {
    let text = query.text.as_deref().unwrap_or_default();
    let is_candidate = |tool| candidates.contains(tool);
    let mode = RankingMode::Hybrid;
    let mut matches = ranked::find_ranked(selection, text, mode, query.limit, is_candidate);
    matches.keep_useful();
    matches
}

/// The category that stands for CLIs without one.
pub(crate) const UNCATEGORIZED: &str = "uncategorized";

/// The offered tools, or those of one category. [`UNCATEGORIZED`] is a category here.
pub(crate) fn offered_tools(selection: &Selection, category: Option<&str>) -> ToolSet {
    let mut tools = filtered_tools(selection, category, None);
    if category == Some(UNCATEGORIZED) {
        for cli in selection.clis() {
            if selection.text(cli.category_key).is_empty() {
                tools.insert(cli.tools.numbers());
            }
        }
    }
    tools
}
