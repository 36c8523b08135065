//! Hints for an agent that made a mistake: further texts of an answer, after the first one, which the contract
//! defines.

use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::risk::{Risk, assumed_risk, refuses_unknown_arguments};
use climax_core::scalar::ValueShape;
use climax_core::words::fold;
use climax_discovery::rank::RankingMode;
use climax_policy::limit::truncate_for_message;
use serde_json::json;

use crate::call::argument_names::{has_suggestion, ignored_arguments};
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;
use crate::search::offered_tools;
use crate::search::ranked::{RankedMatch, find_ranked};

/// How many tools an unknown name may stand for.
const MAX_RELATED_TOOLS: usize = 6;
/// How many tools a search adds to those.
const MAX_FOUND_TOOLS: usize = 3;
/// The lowest score of the best tool that a search adds. Names of tools that do not exist get less.
const MIN_BEST_SCORE: f64 = 0.1;

/// How a call ended, as far as hints depend on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallResult {
    Succeeded,
    Failed,
    /// Nothing ran, because the arguments are invalid.
    InvalidArguments,
}

/// Hints for a call of an unknown tool: a tool with a similar name, or else tools for what the name clearly says;
/// and the arguments of these tools.
pub(super) fn for_unknown_tool(selection: &Selection, name: &str) -> Vec<String> {
    if let Some(similar) = similar_tool(selection, name) {
        let hint = format!("Did you mean {similar}?");
        return vec![hint, signatures(selection, &[similar])];
    }
    let related = related_tools(selection, name);
    if related.is_empty() {
        return Vec::new();
    }
    let hint = format!("Related tools: {}", related.join(", "));
    vec![hint, signatures(selection, &related)]
}

/// Hints for a call of a tool: ignored arguments, texts that may be lists, tools that unknown arguments may belong to,
/// and, if the arguments are invalid, those that the tool takes.
pub(super) fn for_call(
    selection: &Selection,
    input: &CallInput<'_>,
    result: CallResult,
) -> Vec<String> {
    let tool = input.tool();
    let changes_something = refuses_unknown_arguments(tool.risk);
    let mut lines = Vec::new();
    if !changes_something {
        lines.extend(ignored_arguments(input.unknown_arguments().into_iter()));
    }
    // A tool that changes something may have done nothing, or the wrong thing, although it succeeded.
    if result != CallResult::Succeeded || changes_something {
        lines.extend(joined_lists(selection, input));
    }
    let mut related = tools_named_by_unknown_arguments(selection, input);
    if related.is_empty() && result == CallResult::InvalidArguments {
        related = tools_for_unknown_arguments(selection, input);
    }
    if !related.is_empty() {
        lines.push(format!("Related tools: {}", related.join(", ")));
    }
    let mut hints = Vec::new();
    if !lines.is_empty() {
        hints.push(lines.join("\n"));
    }
    if result == CallResult::InvalidArguments {
        related.insert(0, input.tool_name());
        hints.push(signatures(selection, &related));
    }
    hints
}

/// A line for each tool: its arguments, and its risk if it changes something.
fn signatures(selection: &Selection, names: &[&str]) -> String {
    let lines = names.iter().filter_map(|name| {
        let (_, tool) = selection.find_tool(name)?;
        let arguments: Vec<String> = selection
            .tables
            .arguments_of(&tool)
            .iter()
            .map(|argument| {
                let shape = match argument.shape {
                    ValueShape::Single => None,
                    ValueShape::List => Some("list"),
                    ValueShape::Map => Some("map"),
                };
                let required = argument.required.then_some("required");
                let notes: Vec<&str> = required.into_iter().chain(shape).collect();
                match notes.as_slice() {
                    [] => argument.name.to_owned(),
                    notes => format!("{} ({})", argument.name, notes.join(" ")),
                }
            })
            .collect();
        let risk = tool.risk.filter(|risk| *risk != Risk::Read);
        let risk = risk.map_or(String::new(), |risk| format!(" (risk: {})", risk.name()));
        Some(match arguments.as_slice() {
            [] => format!("{name}{risk} takes no arguments"),
            arguments => format!("Arguments of {name}{risk}: {}", arguments.join(", ")),
        })
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a tool may be meant by an unknown name. If the name begins with that of a CLI, as `git_remove` does, only tools
/// of this CLI may be meant.
fn may_mean<'s>(
    selection: &'s Selection,
    unknown_name: &str,
) -> impl Fn(&ToolRow) -> bool + use<'s> {
    let first_word = words(unknown_name).next().map(fold).unwrap_or_default();
    let has_that_name = move |cli: &CliRow| selection.text(cli.name_key) == first_word;
    let is_restricted = selection.clis().any(|cli| has_that_name(&cli));
    move |tool| !is_restricted || has_that_name(&selection.cli_of(tool))
}

/// The tool whose name an unknown name is a typo of.
fn similar_tool(selection: &Selection, unknown_name: &str) -> Option<&'static str> {
    let may_mean = may_mean(selection, unknown_name);
    let is_meant = |name: &&str| {
        let tool = selection.find_tool(name);
        tool.is_some_and(|(_, tool)| may_mean(&tool))
    };
    selection
        .names_similar_to(unknown_name)
        .into_iter()
        .find(is_meant)
}

/// The tools that an unknown name may stand for: tools that run a program with this name, and tools whose name
/// continues it, those with the lowest risk first; then tools that a search finds.
fn related_tools(selection: &Selection, unknown_name: &str) -> Vec<&'static str> {
    let prefix = format!("{unknown_name}_");
    let tools = selection.clis().flat_map(|cli| {
        let base = selection.text(cli.command);
        let tools = selection.tools_of(&cli).iter();
        tools.map(move |tool| (base, tool))
    });
    let mut related: Vec<ToolRow> = tools
        .filter(|(base, tool)| {
            let words = base.split_whitespace();
            let mut words = words.chain(selection.text(tool.command).split_whitespace());
            let program = words.find(|word| *word != "env" && !word.contains('='));
            program == Some(unknown_name) || selection.text(tool.name).starts_with(&prefix)
        })
        .map(|(_, tool)| tool)
        .collect();
    // The sort is stable, so tools of the same risk stay in catalog order.
    related.sort_by_key(|tool| assumed_risk(tool.risk));
    let mut names: Vec<&str> = related
        .iter()
        .map(|tool| selection.text(tool.name))
        .collect();
    let may_mean = may_mean(selection, unknown_name);
    let query = words(unknown_name).collect::<Vec<_>>().join(" ");
    for found in found_tools(selection, &query, &may_mean) {
        if !names.contains(&found) {
            names.push(found);
        }
    }
    names.truncate(MAX_RELATED_TOOLS);
    names
}

/// The tools that a search finds among those that may be meant, unless even the best one is improbable.
fn found_tools(
    selection: &Selection,
    query: &str,
    may_mean: &dyn Fn(&ToolRow) -> bool,
) -> Vec<&'static str> {
    let offered = offered_tools(selection, None);
    let is_candidate =
        |number| offered.contains(number) && may_mean(&selection.tools().get(number));
    let mode = RankingMode::Hybrid;
    let mut found = find_ranked(selection, query, mode, MAX_FOUND_TOOLS, is_candidate);
    found.keep_useful();
    let is_plausible = |best: &RankedMatch| best.score >= MIN_BEST_SCORE;
    if !found.best.first().is_some_and(is_plausible) {
        return Vec::new();
    }
    found
        .best
        .into_iter()
        .map(|found| selection.text(found.tool.name))
        .collect()
}

/// The words of a name.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(['_', '-', '.'])
}

/// Tools of the same CLI that have an unknown argument in their name: `git_reset_hard`, for `hard` of `git_reset`.
/// They share another word with the tool's name, apart from its first, which is often the program.
fn tools_named_by_unknown_arguments(
    selection: &Selection,
    input: &CallInput<'_>,
) -> Vec<&'static str> {
    let called = input.tool_name();
    let is_shared = |word: &str| words(called).skip(1).any(|own| own == word);
    let unknown = input.unknown_keys().iter().map(|key| key.to_lowercase());
    let unknown: Vec<String> = unknown
        .filter(|key| !words(called).any(|own| own == key))
        .collect();
    let cli = selection.cli_of(input.tool());
    let names = selection.tools_of(&cli).iter();
    let names = names.map(|tool| selection.text(tool.name));
    names
        .filter(|name| *name != called && words(name).any(is_shared))
        .filter(|name| words(name).any(|word| unknown.iter().any(|key| key == word)))
        .collect()
}

/// Tools of the same CLI whose descriptions name an unknown argument, and that a search for it and the called tool's
/// name finds: `git_unstage`, for `staged` of `git_restore`. They are not more dangerous than the called tool.
fn tools_for_unknown_arguments(selection: &Selection, input: &CallInput<'_>) -> Vec<&'static str> {
    let (called, tool) = (input.tool_name(), input.tool());
    let may_mean = |other: &ToolRow| {
        other.cli == tool.cli && assumed_risk(other.risk) <= assumed_risk(tool.risk)
    };
    let unexplained = input.unknown_keys().iter();
    let unexplained = unexplained.filter(|key| !has_suggestion(key, input.argument_names()));
    let mut related = Vec::new();
    for key in unexplained {
        let key = key.to_lowercase();
        let names_key = |other: &ToolRow| {
            let description = selection.text(other.description).to_lowercase();
            other.name != tool.name && description.contains(&key) && may_mean(other)
        };
        let query: Vec<&str> = words(called).chain([key.as_str()]).collect();
        for name in found_tools(selection, &query.join(" "), &names_key) {
            if !related.contains(&name) {
                related.push(name);
            }
        }
    }
    related
}

/// A line for each text that was taken as the only item of a list, but looks like several.
fn joined_lists(selection: &Selection, input: &CallInput<'_>) -> Vec<String> {
    let arguments = selection.tables.arguments_of(input.tool());
    let lists = arguments
        .iter()
        .filter(|argument| argument.shape == ValueShape::List);
    let lines = lists.filter_map(|argument| {
        let name = argument.name;
        let text = input.argument(name)?.as_str()?;
        let items: Vec<&str> = text.split(',').map(str::trim).collect();
        let is_item = |item: &&str| !item.is_empty() && !item.starts_with('-');
        (items.len() > 1 && items.iter().all(is_item)).then(|| {
            let list = json!(items).to_string();
            let list = truncate_for_message(&list);
            format!("Argument '{name}' was taken as one value: for several, pass a list: {list}")
        })
    });
    lines.collect()
}
