//! Tells what to do next, by rules, from the results at hand.

use climax_catalog::tables::ToolRow;
use climax_core::risk::Risk;
use climax_discovery::rank::MatchKind;
use serde_json::{Map, Value, json};

use super::request::RESULTS;
use super::result::{example_calls, spelled};
use crate::catalog::selection::Selection;
use crate::search::ranked::{Confidence, Found, Match};

/// What was asked for, as far as hints are about it.
pub(super) struct Asked<'q> {
    pub(super) query: &'q str,
    pub(super) category: Option<&'q str>,
    pub(super) max_results: usize,
    /// The arguments that were given, which hints keep.
    pub(super) given: &'q Map<String, Value>,
}

impl Asked<'_> {
    /// The same request with other arguments; what is `null` is left out.
    fn with(&self, others: &[(&str, Value)]) -> Value {
        let mut arguments = self.given.clone();
        for (name, value) in others {
            if value.is_null() {
                arguments.shift_remove(*name);
            } else {
                arguments.insert((*name).to_owned(), value.clone());
            }
        }
        arguments.into()
    }
}

/// Other queries: with words that were meant in place of those that nobody knows, only with words that
/// somebody knows, and with a tag of the best result that some others have too.
pub(super) fn query_suggestions(
    selection: &Selection,
    asked: &Asked<'_>,
    found: &Found,
) -> Vec<String> {
    let mut suggestions = Vec::new();
    let ranking = selection
        .discovery()
        .index
        .term_index(selection.tools().len());
    let mut meant: Vec<&str> = Vec::new();
    let mut corrected = asked.query.to_owned();
    for it in found
        .ranked
        .terms
        .iter()
        .filter(|it| it.match_kind == MatchKind::Correction)
    {
        let has_term = |tool: &&Match| ranking.field_mask(it.row, tool.number) != 0;
        // Words of tools that are not found lead nowhere.
        let Some(tool) = found.best.iter().find(has_term) else {
            continue;
        };
        let term = ranking.term(it.row);
        if !meant.contains(&it.word.as_str())
            && let Some(word) = spelled(selection, &tool.tool, &it.word, term)
        {
            meant.push(&it.word);
            corrected = replaced(&corrected, &it.word, &word);
        }
    }
    if !meant.is_empty() {
        suggestions.push(corrected);
    }
    let words = &found.ranked.words;
    let known = words.iter().filter(|word| word.is_known);
    let known: Vec<&str> = known.map(|word| word.text.as_str()).collect();
    if !found.best.is_empty() && !known.is_empty() && known.len() < words.len() {
        suggestions.push(known.join(" "));
    }
    if let Some(tag) = frequent_tag(selection, asked.query, found) {
        suggestions.push(format!("{} {tag}", asked.query));
    }
    suggestions.dedup();
    suggestions
}

/// Text with another word in place of one, whatever its case.
fn replaced(text: &str, word: &str, other: &str) -> String {
    let words = text.split(' ').map(|part| {
        let is_word = part
            .trim_matches(|it: char| !it.is_alphanumeric())
            .to_lowercase()
            == word;
        if is_word { other } else { part }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The tag of the best result that most others have, but not all, and that is not in the query.
fn frequent_tag(selection: &Selection, query: &str, found: &Found) -> Option<&'static str> {
    let query = query.to_lowercase();
    let best = found.best.first()?;
    let all: Vec<Vec<&str>> = found
        .best
        .iter()
        .map(|it| tags(selection, &it.tool))
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
    // The first of those that are as frequent.
    let most = counted.iter().map(|(_, count)| *count).max()?;
    let mut counted = counted.into_iter();
    counted
        .find(|(_, count)| *count == most)
        .map(|(tag, _)| tag)
}

fn tags(selection: &Selection, tool: &ToolRow) -> Vec<&'static str> {
    selection.tables.list(selection.cli_of(tool).tags).collect()
}

/// What to call next: the best tool, more about it, and a search that is narrower or wider.
pub(super) fn navigation_hints(
    selection: &Selection,
    asked: &Asked<'_>,
    found: &Found,
    categories: &[(&str, usize)],
) -> Vec<String> {
    let Some(best) = found.best.first() else {
        return nothing_found(selection, asked);
    };
    let mut hints = about_the_best(selection, best);
    let (shown, total) = (found.best.len(), found.total);
    let largest = categories.iter().max_by_key(|(_, count)| *count);
    if let Some((category, count)) = largest
        && asked.category.is_none()
        && *count >= 2
        && categories.len() >= 2
    {
        let narrower = asked.with(&[("category", (*category).into())]);
        hints.push(format!(
            "{count} of {shown} are in category '{category}': search_mcp_tools {narrower}"
        ));
    }
    if total > shown && asked.max_results < *RESULTS.end() {
        let more = total.min(*RESULTS.end());
        let wider = asked.with(&[("max_results", more.into())]);
        hints.push(format!(
            "{shown} of {total} are shown: search_mcp_tools {wider}"
        ));
    }
    hints
}

/// How to call the best tool, and how to learn more before. Nobody is told to call what may destroy
/// something, nor what changes something if it is hardly what was looked for.
fn about_the_best(selection: &Selection, best: &Match) -> Vec<String> {
    let name = selection.text(best.tool.name);
    let details = json!({"tool_id": name});
    let args = example_calls(selection, best.number, &best.tool).next();
    let call = args.map(|args| json!({"tool_name": name, "args": args}));
    let is_likely = Confidence::of(best.score) != Confidence::Low;
    let (call, details) = match (best.tool.risk, call) {
        (Some(Risk::Destructive), _) => (
            None,
            format!("It may destroy something, so see all about it: get_tool_details {details}"),
        ),
        (Some(Risk::Write), call) => (
            call.filter(|_| is_likely)
                .map(|call| format!("Call it, which changes something: climax_call {call}")),
            format!("See all about the best match: get_tool_details {details}"),
        ),
        (Some(Risk::Read) | None, call) => (
            call.map(|call| format!("Call the best match: climax_call {call}")),
            format!("See all about it: get_tool_details {details}"),
        ),
    };
    match best.tool.risk {
        Some(Risk::Write) => [Some(details), call].into_iter().flatten().collect(),
        _ => [call, Some(details)].into_iter().flatten().collect(),
    }
}

fn nothing_found(selection: &Selection, asked: &Asked<'_>) -> Vec<String> {
    let mut hints = Vec::new();
    let filters = ["category", "tool_type"];
    let mut given = filters
        .iter()
        .filter(|name| asked.given.contains_key(**name));
    if given.next().is_some() {
        let wider = asked.with(&[("category", Value::Null), ("tool_type", Value::Null)]);
        let is_empty = |category: &&str| {
            let names = super::categories::names(selection);
            !names.iter().any(|it| it == category)
        };
        hints.push(match asked.category.filter(is_empty) {
            Some(category) => format!(
                "Category '{category}' has no tools here; in all others: search_mcp_tools {wider}"
            ),
            None => format!("Nothing fits with these filters; without: search_mcp_tools {wider}"),
        });
    }
    hints.push("See what there is: list_tool_categories {}".to_owned());
    hints
}
