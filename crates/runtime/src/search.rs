//! Turns `climax_search` queries into responses, assembled from baked JSON.

mod matches;
pub(crate) mod ranked;
mod tool_set;

use climax_core::words::fold;
use climax_discovery::rank::RankingMode;

use crate::catalog::selection::Selection;
use matches::{SearchHits, filtered_tools, substring_hits};
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

/// A response of `climax_search`.
pub(crate) struct SearchResponse {
    pub(crate) json: String,
    pub(crate) result_count: usize,
}

/// Answers a query: a summary of all CLIs without filters, matching tools otherwise.
pub(crate) fn search(selection: &Selection, query: &SearchQuery) -> SearchResponse {
    if query.text.is_none() && query.category.is_none() && query.cli.is_none() {
        summary(selection, query.limit)
    } else {
        matching_tools(selection, query)
    }
}

fn summary(selection: &Selection, limit: usize) -> SearchResponse {
    let mut json = String::from(r#"{"mode":"summary","summary":["#);
    let mut total = 0;
    for cli in selection.clis() {
        if total < limit {
            push_separator(&mut json, total);
            json += selection.text(cli.summary);
        }
        total += 1;
    }
    json.push(']');
    finish_response(json, total, limit)
}

fn matching_tools(selection: &Selection, query: &SearchQuery) -> SearchResponse {
    let needle = query.text.as_deref().map(fold).unwrap_or_default();
    let mut hits = substring_hits(selection, query, &needle);
    let mut is_ranked = false;
    let has_several_words = needle.split_whitespace().nth(1).is_some();
    if hits.total == 0 && has_several_words {
        hits = ranked_hits(selection, query);
        is_ranked = hits.total > 0;
    }
    let mut json = String::from(r#"{"mode":"search","results":["#);
    for (index, tool) in hits.best.iter().enumerate() {
        push_separator(&mut json, index);
        json += selection.text(tool.entry);
    }
    json.push(']');
    if is_ranked {
        json += r#","match":"ranked""#;
    }
    finish_response(json, hits.total, query.limit)
}

/// Tools that match some of the query's words, best first.
fn ranked_hits(selection: &Selection, query: &SearchQuery) -> SearchHits {
    let tools = filtered_tools(selection, query.category.as_deref(), query.cli.as_deref());
    let text = query.text.as_deref().unwrap_or_default();
    let matches = ranked::find_ranked(selection, text, RankingMode::Keyword, query.limit, |tool| {
        tools.contains(tool)
    });
    SearchHits {
        best: matches.best.iter().map(|found| found.tool).collect(),
        total: matches.total,
    }
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

fn push_separator(json: &mut String, index: usize) {
    if index > 0 {
        json.push(',');
    }
}

/// Adds the total if it exceeds the limit, and closes the object.
fn finish_response(mut json: String, total: usize, limit: usize) -> SearchResponse {
    if total > limit {
        json += r#","total_matches":"#;
        json += &total.to_string();
    }
    json.push('}');
    SearchResponse {
        json,
        result_count: total.min(limit),
    }
}
