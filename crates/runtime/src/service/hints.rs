//! Hints for an agent that made a mistake: further texts of an answer, after the first one, which the contract
//! defines.

mod correction;
mod description;
mod related;
mod values;

use std::env;

use climax_catalog::facts::PlacementKind;
use climax_catalog::tables::ToolRow;
use climax_core::risk::refuses_unknown_arguments;
use climax_policy::limit::truncate_for_message;
use serde_json::Value;

use crate::call::CallRequest;
use crate::call::answer::CallResult;
use crate::call::argument_names::{
    ArgumentName, argument_names, ignored_arguments_hint, meant_name,
};
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;
use correction::{UnexplainedKey, corrected_call, given, is_dry_run, unfitting_arguments};
use description::{details, summaries};
use related::{
    RelatedTools, continued_names, has_words_of, related_tools, similar_tool, tools_in_description,
    tools_named_by_unknown_arguments, tools_that_take_more,
};
use values::value_notes;

/// How a call ended, as far as hints depend on it.
#[derive(Clone, Copy)]
pub(super) struct CallEnd {
    pub(super) result: CallResult,
    /// Whether the command printed nothing.
    pub(super) is_silent: bool,
    /// Whether the command runs in a container.
    pub(super) is_in_container: bool,
}

/// Hints for a call of an unknown tool: a tool with a similar name, or else tools that the name may stand for,
/// with descriptions of these tools and the call that is probably meant.
pub(super) fn for_unknown_tool(selection: &Selection, request: &CallRequest) -> Vec<String> {
    let suggestion = match similar_tool(selection, &request.tool) {
        Some((tool, name)) => suggest_similar(selection, &tool, name),
        None => suggest_related(selection, request),
    };
    let mut texts = suggestion.descriptions;
    if given(request).next().is_some() {
        // Another tool may take the arguments, but do something else with them.
        let first = suggestion.names.first();
        if let Some((number, tool)) = first.and_then(|name| selection.find_tool(name)) {
            let is_plausible = suggestion.is_named || has_words_of(selection, &tool, &request.tool);
            let correction = is_plausible.then(|| {
                corrected_call(selection, (number, &tool), request, suggestion.unexplained)
            });
            let unfitting = || unfitting_arguments(selection, &tool, request);
            texts.extend(correction.flatten().or_else(unfitting));
            let names = argument_names(selection, &tool);
            let given = given(request)
                .filter_map(|(key, value)| Some((meant_name(key, value, &names)?, value)));
            let given: Vec<_> = given.collect();
            texts.extend(value_notes(selection, &tool, &given, false));
        }
    }
    let hints = [suggestion.text, texts.join("\n")].into_iter();
    hints.filter(|text| !text.is_empty()).collect()
}

/// Tools that an unknown name may stand for.
struct Suggestion {
    text: String,
    descriptions: Vec<String>,
    /// The tools that may be called instead.
    names: Vec<&'static str>,
    /// Whether a name, a program or a keyword suggests the first one. A search found the others.
    is_named: bool,
    unexplained: UnexplainedKey,
}

fn suggest_similar(selection: &Selection, tool: &ToolRow, name: &'static str) -> Suggestion {
    let continued = continued_names(selection, name);
    let descriptions = [details(selection, tool)].into_iter();
    Suggestion {
        text: format!("Did you mean {name}?"),
        descriptions: descriptions
            .chain(summaries(selection, &continued))
            .collect(),
        names: vec![name],
        is_named: true,
        unexplained: UnexplainedKey::PlaceIfUnambiguous,
    }
}

fn suggest_related(selection: &Selection, request: &CallRequest) -> Suggestion {
    let RelatedTools {
        names,
        is_named,
        unknown_words,
    } = related_tools(selection, request);
    let mut lines = Vec::new();
    if !names.is_empty() {
        lines.push(format!("Related tools: {}", names.join(", ")));
        lines.extend(unknown_words.first().map(|word| {
            let word = truncate_for_message(word);
            format!("No tool mentions '{word}'")
        }));
    }
    Suggestion {
        text: lines.join("\n"),
        descriptions: summaries(selection, &names).collect(),
        names,
        is_named,
        unexplained: UnexplainedKey::GiveUp,
    }
}

/// Hints for a call of a tool: notes about its arguments, tools that unknown arguments may belong to, the arguments of the
/// tool if those of the call are invalid, and the call that is probably meant.
pub(super) fn for_call(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Vec<String> {
    let is_refused = end.result == CallResult::InvalidArguments;
    let has_unknown_keys = input.has_unknown_keys();
    // The contract has one text for other refusals.
    let is_beyond_contract = has_unknown_keys || is_refused && input.tool().risk.is_some();
    let mut lines = notes(selection, input, end);
    if !is_beyond_contract {
        let text = (!lines.is_empty()).then(|| lines.join("\n"));
        return text.into_iter().collect();
    }
    let mut related = meant_tools(selection, input);
    let correction = correction(selection, input, &related);
    if is_refused && correction.is_none() {
        let mut named = tools_in_description(selection, input);
        named.retain(|name| !related.contains(name));
        related.extend(named);
    }
    if !related.is_empty() {
        lines.push(format!("Related tools: {}", related.join(", ")));
    }
    let mut texts = Vec::new();
    if is_refused || correction.is_none() {
        texts.push(details(selection, input.tool()));
    }
    texts.extend(summaries(selection, &related));
    texts.extend(correction);
    let hints = [lines.join("\n"), texts.join("\n")].into_iter();
    hints.filter(|text| !text.is_empty()).collect()
}

/// Lines about the arguments of a call: what was ignored, what was probably not taken as meant, and what is missing.
fn notes(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Vec<String> {
    let tool = input.tool();
    let has_unknown_keys = input.has_unknown_keys();
    let mut lines = Vec::new();
    let unknown = input.unknown_arguments().into_iter();
    if end.result == CallResult::InvalidArguments {
        // A refusal by other tools has these lines itself.
        lines.extend(unknown.filter(|_| !refuses_unknown_arguments(tool.risk)));
    } else {
        lines.extend(ignored_arguments_hint(unknown));
        lines.extend(missing_directory(selection, input, end));
    }
    let is_refused = end.result == CallResult::InvalidArguments;
    let is_beyond_contract = has_unknown_keys || tool.risk.is_some();
    let had_effect = end.result == CallResult::Succeeded && !end.is_silent;
    if !is_refused || is_beyond_contract {
        let given = meant_arguments(input);
        lines.extend(value_notes(selection, tool, &given, had_effect));
    }
    lines.extend(missing_dry_run(input).filter(|_| has_unknown_keys));
    lines
}

/// The arguments of a call with their values, and those that unknown keys probably mean.
fn meant_arguments<'i>(input: &'i CallInput<'_>) -> Vec<(&'i str, &'i Value)> {
    let names = input.argument_names();
    let unknown = input.unknown_arguments_given().into_iter();
    let meant = unknown.filter_map(|(key, value)| Some((meant_name(key, value, names)?, value)));
    input.arguments().chain(meant).collect()
}

/// The tools that the unknown arguments of a call may belong to.
fn meant_tools(selection: &Selection, input: &CallInput<'_>) -> Vec<&'static str> {
    if !input.has_unknown_keys() {
        return Vec::new();
    }
    let named = tools_named_by_unknown_arguments(selection, input);
    if named.is_empty() {
        tools_that_take_more(selection, input)
    } else {
        named
    }
}

/// The call that is probably meant: of the called tool, or of a related one that takes the arguments.
fn correction(
    selection: &Selection,
    input: &CallInput<'_>,
    related: &[&'static str],
) -> Option<String> {
    let request = input.request();
    let called = input.numbered_tool();
    corrected_call(
        selection,
        called,
        request,
        UnexplainedKey::PlaceIfUnambiguous,
    )
    .or_else(|| {
        let mut tools = related.iter().filter_map(|name| selection.find_tool(name));
        tools.find_map(|(number, tool)| {
            corrected_call(selection, (number, &tool), request, UnexplainedKey::GiveUp)
        })
    })
}

/// A line for a call that should only report what it would do, of a tool that cannot do that.
fn missing_dry_run(input: &CallInput<'_>) -> Option<String> {
    let unknown = input.unknown_arguments_given();
    let asks = unknown.iter().any(|(key, _)| is_dry_run(key));
    let mut names = input.argument_names().iter();
    let has_one = names.any(|argument| is_dry_run(argument.name));
    (asks && !has_one).then(|| format!("{} has no dry run", input.tool_name()))
}

/// Whether a path of the call is absolute, so that the directory in which the command runs may not matter.
fn has_absolute_path(selection: &Selection, input: &CallInput<'_>) -> bool {
    let arguments = selection.tables.arguments_of(input.tool());
    let mut paths = arguments.iter().filter(|argument| argument.is_path);
    paths.any(|argument| match input.argument(argument.name) {
        Some(Value::Array(items)) => items.iter().any(is_absolute),
        Some(value) => is_absolute(value),
        None => false,
    })
}

fn is_absolute(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with('/'))
}

/// A line about the directory in which a command ran, if the call could have chosen it, and the command failed or an ignored
/// argument was meant to choose it.
fn missing_directory(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Option<String> {
    let arguments = selection.tables.arguments_of(input.tool());
    let mut arguments = arguments.iter();
    let directory = arguments.find(|argument| argument.placement == PlacementKind::Directory)?;
    let is_given = input
        .argument(directory.name)
        .is_some_and(|value| !value.is_null());
    if is_given || !directory.default.is_empty() {
        return None;
    }
    let name = ArgumentName::text(directory.name);
    let unknown = input.unknown_arguments_given();
    let mut keys = unknown.iter();
    let was_meant = keys.any(|(key, value)| meant_name(key, value, &[name]).is_some());
    let has_failed = end.result == CallResult::Failed && !has_absolute_path(selection, input);
    if !was_meant && !has_failed {
        return None;
    }
    let default = match input.default_directory() {
        _ if end.is_in_container => None,
        Some(directory) => Some(directory.to_owned()),
        None => env::current_dir()
            .ok()
            .map(|path| path.display().to_string()),
    };
    let default = default.unwrap_or_else(|| "the default directory".to_owned());
    Some(format!(
        "Argument '{}' was not given: the command ran in {default}",
        name.name
    ))
}
