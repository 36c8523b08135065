//! Hints for an agent that made a mistake: further texts of an answer, after the first one, which the contract
//! defines.

use std::collections::HashSet;
use std::fmt::Write as _;

use climax_catalog::facts::{ArgumentFacts, PlacementKind};
use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::risk::{Risk, assumed_risk, refuses_unknown_arguments};
use climax_core::scalar::{ArgumentType, Scalar, ValueShape};
use climax_core::words::{fold, words};
use climax_discovery::notes::first_sentence;
use climax_discovery::rank::RankingMode;
use climax_discovery::synonyms::{normalise_name, synonyms_of};
use climax_policy::limit::truncate_for_message;
use serde_json::json;

use crate::call::answer::CallResult;
use crate::call::argument_names::{has_suggestion, ignored_arguments_hint};
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
/// How many unknown arguments are searched for.
const MAX_SEARCHED_KEYS: usize = 3;
/// Shorter unknown arguments say too little.
const MIN_SEARCHED_KEY_BYTES: usize = 4;

/// Hints for a call of an unknown tool: a tool with a similar name, or else tools that the name may stand for,
/// with descriptions of these tools.
pub(super) fn for_unknown_tool(selection: &Selection, name: &str) -> Vec<String> {
    if let Some(similar) = similar_tool(selection, name) {
        let hint = format!("Did you mean {similar}?");
        let tool = selection.find_tool(similar);
        let details = tool.map(|(_, tool)| details(selection, &tool));
        return [hint].into_iter().chain(details).collect();
    }
    let related = related_tools(selection, name);
    if related.is_empty() {
        return Vec::new();
    }
    let hint = format!("Related tools: {}", related.join(", "));
    let summaries: Vec<String> = summaries(selection, &related).collect();
    vec![hint, summaries.join("\n")]
}

/// Hints for a call of a tool: ignored arguments, texts that may be lists, tools that unknown arguments may belong to,
/// and, if the arguments are invalid and some unknown, those that the tool takes.
pub(super) fn for_call(
    selection: &Selection,
    input: &CallInput<'_>,
    result: CallResult,
) -> Vec<String> {
    let tool = input.tool();
    let changes_something = refuses_unknown_arguments(tool.risk);
    let mut lines = Vec::new();
    if !changes_something {
        lines.extend(ignored_arguments_hint(
            input.unknown_arguments().into_iter(),
        ));
    }
    // A tool that changes something may have done nothing, or the wrong thing, although it succeeded.
    if result != CallResult::Succeeded || changes_something {
        lines.extend(joined_lists(selection, input));
    }
    if result == CallResult::Failed {
        lines.extend(missing_directory(selection, input));
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
    // The contract fixes the answer to a call whose keys are all known.
    if result == CallResult::InvalidArguments && input.has_unknown_keys() {
        let details = [details(selection, tool)].into_iter();
        let texts: Vec<String> = details.chain(summaries(selection, &related)).collect();
        hints.push(texts.join("\n"));
    }
    hints
}

fn summaries(selection: &Selection, names: &[&str]) -> impl Iterator<Item = String> {
    let tools = names.iter().filter_map(|name| selection.find_tool(name));
    tools.map(|(_, tool)| summary(selection, &tool))
}

/// A tool with its description, and a line for each argument.
fn details(selection: &Selection, tool: &ToolRow) -> String {
    let description = selection.text(tool.description);
    let mut text = heading(selection, tool, description);
    for argument in selection.tables.arguments_of(tool) {
        let _ = write!(text, "\n  - {}", signature(&argument));
        if !argument.description.is_empty() {
            let _ = write!(text, ": {}", argument.description);
        }
    }
    text
}

/// A tool with the first sentence of its description and the names of its arguments.
fn summary(selection: &Selection, tool: &ToolRow) -> String {
    let description = first_sentence(selection.text(tool.description));
    let mut text = heading(selection, tool, description);
    let arguments = selection.tables.arguments_of(tool);
    let arguments: Vec<String> = arguments.iter().map(signature).collect();
    if !arguments.is_empty() {
        let _ = write!(text, "\n  - {}", arguments.join(", "));
    }
    text
}

fn heading(selection: &Selection, tool: &ToolRow, description: &str) -> String {
    let risk = tool.risk.filter(|risk| *risk != Risk::Read);
    let risk = risk.map_or(String::new(), |risk| format!(" (risk: {})", risk.name()));
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let no_arguments = if arguments.is_empty() {
        " (no arguments)"
    } else {
        ""
    };
    let name = selection.text(tool.name);
    format!("{name}{risk}: {description}{no_arguments}")
}

/// The name of an argument, with what a call must know about its value.
fn signature(argument: &ArgumentFacts<'_>) -> String {
    let type_name = argument.shape.type_name(argument.kind);
    let choices: Vec<String> = argument.choices.iter().map(Scalar::to_string).collect();
    let notes = [
        argument.required.then(|| "required".to_owned()),
        (type_name != ArgumentType::String.name()).then(|| type_name.to_owned()),
        (!choices.is_empty()).then(|| format!("one of {}", choices.join(" | "))),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    match notes.as_slice() {
        [] => argument.name.to_owned(),
        notes => format!("{} ({})", argument.name, notes.join(", ")),
    }
}

/// Whether a tool may be meant by an unknown name. If the name begins with that of a CLI or of its program, as
/// `git_remove` does, only its tools may be meant.
fn may_mean<'s>(
    selection: &'s Selection,
    unknown_name: &str,
) -> impl Fn(&ToolRow) -> bool + use<'s> {
    let folded = fold(unknown_name);
    let first_word = words(&folded).next().unwrap_or_default().to_owned();
    let has_that_name = move |cli: &CliRow| {
        let program = selection.text(cli.command).split_whitespace().next();
        selection.text(cli.name_key) == first_word || program == Some(first_word.as_str())
    };
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
    let folded = fold(unknown_name);
    let query = words(&folded).collect::<Vec<_>>().join(" ");
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

/// Tools of the same CLI that have an unknown argument in their name: `git_reset_hard`, for `hard` of `git_reset`.
/// They share another word with the tool's name, apart from its first, which is often the program.
fn tools_named_by_unknown_arguments(
    selection: &Selection,
    input: &CallInput<'_>,
) -> Vec<&'static str> {
    if input.unknown_keys().is_empty() {
        return Vec::new();
    }
    let called = input.tool_name();
    let own_words: Vec<String> = words(&fold(called)).map(str::to_owned).collect();
    let unknown = input.unknown_keys().iter().map(|key| fold(key));
    let unknown: HashSet<String> = unknown.filter(|key| !own_words.contains(key)).collect();
    let is_shared = |word: &str| own_words.iter().skip(1).any(|own| own == word);
    let cli = selection.cli_of(input.tool());
    let names = selection.tools_of(&cli).iter();
    let names = names.map(|tool| selection.text(tool.name));
    let is_named = |name: &&str| {
        let name = fold(name);
        words(&name).any(is_shared) && words(&name).any(|word| unknown.contains(word))
    };
    let related = names.filter(|name| *name != called).filter(is_named);
    related.take(MAX_RELATED_TOOLS).collect()
}

/// Tools of the same CLI whose descriptions name an unknown argument, and that a search for it and the called tool's
/// name finds: `git_unstage`, for `staged` of `git_restore`. None of them is destructive.
fn tools_for_unknown_arguments(selection: &Selection, input: &CallInput<'_>) -> Vec<&'static str> {
    let tool = input.tool();
    let may_be_meant = |other: &ToolRow| {
        other.cli == tool.cli
            && other.name != tool.name
            && assumed_risk(other.risk) < Risk::Destructive
    };
    let called = fold(input.tool_name());
    let unexplained = input.unknown_keys().iter().filter(|key| {
        key.len() >= MIN_SEARCHED_KEY_BYTES && !has_suggestion(key, input.argument_names())
    });
    let mut related = Vec::new();
    // A search takes time, so only the first keys are searched for.
    for key in unexplained.take(MAX_SEARCHED_KEYS) {
        let key = fold(key);
        let synonyms = synonyms_of(&key);
        let names_key = |other: &ToolRow| {
            let description = fold(selection.text(other.description));
            let mut named = words(&description).map(normalise_name);
            may_be_meant(other) && named.any(|word| synonyms.contains(&word))
        };
        let query: Vec<&str> = words(&called).chain([key.as_str()]).collect();
        for name in found_tools(selection, &query.join(" "), &names_key) {
            if !related.contains(&name) {
                related.push(name);
            }
        }
    }
    related.truncate(MAX_RELATED_TOOLS);
    related
}

/// A line about the directory in which a command failed, if the call could have chosen it. An agent may have forgotten
/// it, or passed it as another argument.
fn missing_directory(selection: &Selection, input: &CallInput<'_>) -> Option<String> {
    let arguments = selection.tables.arguments_of(input.tool());
    let mut arguments = arguments.iter();
    let directory = arguments.find(|argument| argument.placement == PlacementKind::Directory)?;
    let name = directory.name;
    let is_given = input.argument(name).is_some_and(|value| !value.is_null());
    (!is_given && directory.default.is_empty()).then(|| {
        format!("Argument '{name}' was not given: the command ran in the default directory")
    })
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
        let is_item = |item: &&str| !item.is_empty() && !item.starts_with(['-', '[', '{']);
        (items.len() > 1 && items.iter().all(is_item)).then(|| {
            let list = json!(items).to_string();
            let list = truncate_for_message(&list);
            format!("Argument '{name}' was taken as one value: for several, pass a list: {list}")
        })
    });
    lines.collect()
}
