//! Tells what to do next, by rules, from the results at hand.

use climax_core::pieces::unquoted;
use climax_discovery::rank::Way;
use serde_json::{Value, json};

use super::request::RESULTS;
use super::result::spelled;
use crate::catalog::Tool;
use crate::search::ranked::Found;
use crate::selection::Selection;

/// What was asked for, as far as hints are about it.
pub(super) struct Asked<'q> {
    pub(super) query: &'q str,
    pub(super) category: Option<&'q str>,
    pub(super) max_results: usize,
}

/// Other queries: with words that were meant in place of those that nobody knows, without words that
/// nobody knows, and with a tag that some results have.
pub(super) fn query_suggestions(
    selection: &Selection,
    asked: &Asked<'_>,
    found: &Found,
) -> Vec<String> {
    let mut suggestions = Vec::new();
    let ranking = selection.discovery().ranking(selection.catalog.tools.len());
    let mut meant: Vec<&str> = Vec::new();
    let mut corrected = asked.query.to_owned();
    for it in found.ranked.asked.iter().filter(|it| it.way == Way::Meant) {
        if !meant.contains(&it.word.as_str()) {
            meant.push(&it.word);
            let term = ranking.term(it.row);
            let having = found.best.iter();
            let having = having.map(|it| (it.number, it.tool));
            let tool = having
                .into_iter()
                .find(|(tool, _)| ranking.marks(it.row, *tool) != 0);
            let word = tool.map_or(term.to_owned(), |(_, tool)| spelled(selection, tool, term));
            corrected = replaced(&corrected, &it.word, &word);
        }
    }
    if !meant.is_empty() {
        suggestions.push(corrected);
    }
    if !found.best.is_empty() {
        let mut known = asked.query.to_owned();
        for word in &found.ranked.unknown {
            known = replaced(&known, word, "");
        }
        let known = known.split_whitespace().collect::<Vec<_>>().join(" ");
        if !found.ranked.unknown.is_empty() && !known.is_empty() && known != asked.query {
            suggestions.push(known);
        }
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

/// The tag that most results have, but not all, and that is not in the query.
fn frequent_tag(selection: &Selection, query: &str, found: &Found) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for it in &found.best {
        for tag in tags(selection, it.tool) {
            match counts.iter_mut().find(|(known, _)| *known == tag) {
                Some((_, count)) => *count += 1,
                None => counts.push((tag, 1)),
            }
        }
    }
    let query = query.to_lowercase();
    counts.retain(|(tag, count)| {
        *count >= 2 && *count < found.best.len() && !query.contains(&tag.to_lowercase())
    });
    // The first of those that are as frequent.
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts
        .into_iter()
        .find(|(_, count)| *count == most)
        .map(|(tag, _)| tag)
}

fn tags(selection: &Selection, tool: &Tool) -> Vec<String> {
    let cli = selection.catalog.clis.get(tool.cli as usize);
    let tags = cli.map_or("", |cli| selection.text(cli.tags));
    serde_json::from_str(&unquoted(tags)).unwrap_or_default()
}

/// What to call next: the best tool, more about it, and a search that is narrower or wider.
pub(super) fn navigation_hints(
    selection: &Selection,
    asked: &Asked<'_>,
    found: &Found,
    categories: &[(String, usize)],
) -> Vec<String> {
    let Some(best) = found.best.first() else {
        return nothing_found(selection, asked);
    };
    let name = selection.text(best.tool.name);
    let mut hints = Vec::new();
    let record = selection.discovery().records().record(best.number);
    let args = record.and_then(|record| record.examples().next());
    if let Some(args) = args {
        let args: Value = serde_json::from_str(&unquoted(args)).unwrap_or_default();
        let call = json!({"tool_name": name, "args": args});
        hints.push(format!("Call the best match: climax_call {call}"));
    }
    let details = json!({"tool_id": name});
    hints.push(format!("See all about it: get_tool_details {details}"));
    let largest = categories.iter().max_by_key(|(_, count)| *count);
    if let Some((category, count)) = largest
        && asked.category.is_none()
        && *count >= 2
        && categories.len() >= 2
    {
        let narrower = json!({"query": asked.query, "category": category});
        let all = found.best.len();
        hints.push(format!(
            "{count} of {all} are in category '{category}': search_mcp_tools {narrower}"
        ));
    }
    let shown = found.best.len();
    if found.total > shown && asked.max_results < *RESULTS.end() {
        let more = found.total.min(*RESULTS.end());
        let wider = json!({"query": asked.query, "max_results": more});
        hints.push(format!(
            "{shown} of {} are shown: search_mcp_tools {wider}",
            found.total
        ));
    }
    hints
}

fn nothing_found(selection: &Selection, asked: &Asked<'_>) -> Vec<String> {
    let mut hints = Vec::new();
    if let Some(category) = asked.category {
        let has_tools = super::categories::names(selection)
            .iter()
            .any(|it| it == category);
        let wider = json!({"query": asked.query});
        hints.push(if has_tools {
            format!(
                "Nothing fits in category '{category}'; in all of them: search_mcp_tools {wider}"
            )
        } else {
            format!(
                "Category '{category}' has no tools here; in all others: search_mcp_tools {wider}"
            )
        });
    }
    hints.push("See what there is: list_tool_categories {}".to_owned());
    hints
}
