//! Derives suggestions for the next call from a search and its results.

use climax_catalog::tables::ToolRow;
use climax_core::risk::{Risk, assumed_risk};
use climax_discovery::query::MatchKind;
use serde_json::{Map, Value, json};

use super::categories::category_names;
use super::request::MAX_RESULTS_RANGE;
use super::result::example_args;
use crate::catalog::selection::Selection;
use crate::search::ranked::{Confidence, RankedMatch, RankedMatches};
use crate::search::reasons::word_for_term;

/// A call of `search_mcp_tools`, as far as hints need it.
pub(super) struct SearchRequest<'q> {
    pub(super) query: &'q str,
    pub(super) category: Option<&'q str>,
    pub(super) max_results: usize,
    /// The arguments of the call. Hints repeat them.
    pub(super) arguments: &'q Map<String, Value>,
}

impl SearchRequest<'_> {
    /// The arguments with some replaced. `null` removes one.
    fn with_arguments(&self, replacements: &[(&str, Value)]) -> Value {
        let mut arguments = self.arguments.clone();
        for (name, value) in replacements {
            if value.is_null() {
                arguments.shift_remove(*name);
            } else {
                arguments.insert((*name).to_owned(), value.clone());
            }
        }
        arguments.into()
    }
}

/// Other queries: with typos corrected, without unknown words, and with a tag that some results share.
pub(super) fn query_suggestions(
    selection: &Selection,
    request: &SearchRequest<'_>,
    matches: &RankedMatches,
) -> Vec<String> {
    let mut suggestions = Vec::new();
    let index = selection
        .discovery()
        .index
        .term_index(selection.tools().len());
    let mut is_corrected = false;
    let mut corrected_query = request.query.to_owned();
    for query_word in &matches.ranked.words {
        let terms = query_word.terms.iter();
        let corrections = terms.filter(|term| term.match_kind == MatchKind::Correction);
        // A correction that no result contains would lead nowhere.
        let correction = corrections.into_iter().find_map(|correction| {
            let has_term =
                |found: &&RankedMatch| index.field_mask(correction.row, found.number) != 0;
            let found = matches.best.iter().find(has_term)?;
            let term = index.term(correction.row);
            word_for_term(selection, &found.tool, &query_word.text, term)
        });
        if let Some(correction) = correction {
            is_corrected = true;
            corrected_query = replace_word(&corrected_query, &query_word.text, &correction);
        }
    }
    if is_corrected {
        suggestions.push(corrected_query);
    }
    let words = &matches.ranked.words;
    let known = words.iter().filter(|word| word.is_known());
    let known: Vec<&str> = known.map(|word| word.text.as_str()).collect();
    if !matches.best.is_empty() && !known.is_empty() && known.len() < words.len() {
        suggestions.push(known.join(" "));
    }
    if let Some(tag) = frequent_tag(selection, request.query, matches) {
        suggestions.push(format!("{} {tag}", request.query));
    }
    suggestions.dedup();
    suggestions
}

/// Replaces a word, ignoring case and adjacent punctuation.
fn replace_word(text: &str, word: &str, replacement: &str) -> String {
    let words = text.split(' ').map(|part| {
        let is_word = part
            .trim_matches(|character: char| !character.is_alphanumeric())
            .to_lowercase()
            == word;
        if is_word { replacement } else { part }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The most frequent tag of the best result that at least one other result has, but not all of them, and that
/// is not in the query.
fn frequent_tag(
    selection: &Selection,
    query: &str,
    matches: &RankedMatches,
) -> Option<&'static str> {
    let query = query.to_lowercase();
    let best = matches.best.first()?;
    let all: Vec<Vec<&str>> = matches
        .best
        .iter()
        .map(|found| tags(selection, &found.tool))
        .collect();
    let counted = tags(selection, &best.tool).into_iter().map(|tag| {
        let count = all.iter().filter(|tags| tags.contains(&tag)).count();
        (tag, count)
    });
    let counted: Vec<(&str, usize)> = counted
        .filter(|(tag, count)| {
            *count >= 2 && *count < all.len() && !query.contains(&tag.to_lowercase())
        })
        .collect();
    // Ties go to the first tag, and `max_by_key` would return the last.
    let max_count = counted.iter().map(|(_, count)| *count).max()?;
    let mut counted = counted.into_iter();
    counted
        .find(|(_, count)| *count == max_count)
        .map(|(tag, _)| tag)
}

fn tags(selection: &Selection, tool: &ToolRow) -> Vec<&'static str> {
    selection.tables.list(selection.cli_of(tool).tags).collect()
}

/// Calls to make next: of the best match, of its details, and of a narrower or wider search.
pub(super) fn navigation_hints(
    selection: &Selection,
    request: &SearchRequest<'_>,
    matches: &RankedMatches,
    category_counts: &[(&str, usize)],
) -> Vec<String> {
    let Some(best) = matches.best.first() else {
        return no_match_hints(selection, request);
    };
    let mut hints = best_match_hints(selection, best);
    let (returned, total) = (matches.best.len(), matches.total);
    let largest = category_counts.iter().max_by_key(|(_, count)| *count);
    if let Some((category, count)) = largest
        && request.category.is_none()
        && *count >= 2
        && category_counts.len() >= 2
    {
        let narrower = request.with_arguments(&[("category", (*category).into())]);
        hints.push(format!(
            "{count} of {returned} results are in category '{category}': search_mcp_tools {narrower}"
        ));
    }
    let max_results_limit = *MAX_RESULTS_RANGE.end();
    if total > returned && request.max_results < max_results_limit {
        let more = total.min(max_results_limit);
        let wider = request.with_arguments(&[("max_results", more.into())]);
        hints.push(format!(
            "{returned} of {total} matches shown; show more: search_mcp_tools {wider}"
        ));
    }
    hints
}

/// Suggests a call of the best match and of its details. No call is suggested for destructive tools, nor for
/// tools that make changes if the confidence is low.
fn best_match_hints(selection: &Selection, best: &RankedMatch) -> Vec<String> {
    let name = selection.text(best.tool.name);
    let details = json!({"tool_id": name});
    let args = example_args(selection, best.number, &best.tool).next();
    let call_tool = selection.call_tools.name(assumed_risk(best.tool.risk));
    let call = args.map(|args| format!("{call_tool} {}", json!({"tool_name": name, "args": args})));
    let is_likely = Confidence::from_score(best.score) != Confidence::Low;
    let (call, details) = match (best.tool.risk, call) {
        (Some(Risk::Destructive), _) => (
            None,
            format!(
                "Best match, but it may destroy data; read its details first: get_tool_details {details}"
            ),
        ),
        (Some(Risk::Write), call) => (
            call.filter(|_| is_likely)
                .map(|call| format!("Call it (makes changes): {call}")),
            format!("Show details of the best match: get_tool_details {details}"),
        ),
        (Some(Risk::Read) | None, call) => (
            call.map(|call| format!("Call the best match: {call}")),
            format!("Show its details: get_tool_details {details}"),
        ),
    };
    match best.tool.risk {
        Some(Risk::Write) => [Some(details), call].into_iter().flatten().collect(),
        _ => [call, Some(details)].into_iter().flatten().collect(),
    }
}

fn no_match_hints(selection: &Selection, request: &SearchRequest<'_>) -> Vec<String> {
    let mut hints = Vec::new();
    let filters = ["category", "tool_type"];
    let mut used_filters = filters
        .iter()
        .filter(|name| request.arguments.contains_key(**name));
    if used_filters.next().is_some() {
        let wider =
            request.with_arguments(&[("category", Value::Null), ("tool_type", Value::Null)]);
        let is_empty = |category: &&str| !category_names(selection).contains(category);
        hints.push(match request.category.filter(is_empty) {
            Some(category) => format!(
                "Category '{category}' has no tools; search all categories: search_mcp_tools {wider}"
            ),
            None => format!(
                "No tool matches with these filters; search without them: search_mcp_tools {wider}"
            ),
        });
    }
    hints.push("Browse the categories: list_tool_categories {}".to_owned());
    hints
}
