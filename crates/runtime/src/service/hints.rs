//! Hints for an agent that made a mistake: further texts of an answer, after the first one, which the contract
//! defines.

mod correction;
mod description;
mod related;
mod values;

use std::env;

use climax_catalog::facts::PlacementKind;
use climax_catalog::tables::ToolRow;
use climax_core::risk::{Risk, refuses_unknown_arguments};
use climax_discovery::synonyms::normalise_name;
use climax_policy::limit::truncate_for_message;
use serde_json::Value;

use crate::call::CallRequest;
use crate::call::answer::CallResult;
use crate::call::argument_names::{
    ArgumentName, argument_names, ignored_arguments_hint, meant_name,
};
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;
use correction::{corrected_call, given_arguments, is_dry_run, unfitting_arguments};
use description::{details, summaries};
use related::{
    RelatedTools, begins_alike, continued_names, related_tools, similar_tool, tools_in_description,
    tools_named_by_unknown_arguments, tools_that_take_more,
};
use values::{Effect, value_notes};

/// Longer names of unknown tools get no hints.
const MAX_TOOL_NAME_BYTES: usize = 128;

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
    if request.tool.len() > MAX_TOOL_NAME_BYTES {
        return Vec::new();
    }
    let unknown_name = without_namespace(&request.tool);
    let suggestion = match similar_tool(selection, unknown_name) {
        Some((tool, name)) => suggest_similar(selection, unknown_name, &tool, name),
        None => suggest_related(selection, unknown_name, request),
    };
    let mut texts = suggestion.descriptions;
    let first = suggestion.names.first();
    if let Some((number, tool)) = first.and_then(|name| selection.find_tool(name)) {
        let names = argument_names(selection, &tool);
        let given = given_arguments(request);
        let meant = given.filter_map(|(key, value)| Some((meant_name(key, value, &names)?, value)));
        let meant: Vec<_> = meant.collect();
        texts.extend(value_notes(selection, &tool, &meant, Effect::Nothing));
        texts.extend(unfitting_arguments(selection, &suggestion.names, request));
        if suggestion.is_certain && given_arguments(request).next().is_some() {
            texts.extend(corrected_call(selection, (number, &tool), request));
        }
    }
    let hints = [suggestion.text, texts.join("\n")].into_iter();
    hints.filter(|text| !text.is_empty()).collect()
}

/// A name without the prefixes that clients and other servers add: `mcp__climax__git_add` is `git_add`.
fn without_namespace(name: &str) -> &str {
    let name = name.rsplit("__").next().unwrap_or(name);
    name.rsplit(['.', '/', ':']).next().unwrap_or(name)
}

/// Tools that an unknown name may stand for.
struct Suggestion {
    text: String,
    descriptions: Vec<String>,
    /// The tools that may be called instead.
    names: Vec<&'static str>,
    /// Whether the first one is so probably meant that the call may be corrected to it.
    is_certain: bool,
}

fn suggest_similar(
    selection: &Selection,
    unknown_name: &str,
    tool: &ToolRow,
    name: &'static str,
) -> Suggestion {
    let continued = continued_names(selection, name);
    let descriptions = [details(selection, tool)].into_iter();
    let is_same = normalise_name(name) == normalise_name(unknown_name);
    Suggestion {
        text: format!("Did you mean {name}?"),
        descriptions: descriptions
            .chain(summaries(selection, &continued))
            .collect(),
        names: vec![name],
        is_certain: is_same || tool.risk == Some(Risk::Read) && begins_alike(name, unknown_name),
    }
}

fn suggest_related(selection: &Selection, unknown_name: &str, request: &CallRequest) -> Suggestion {
    let RelatedTools {
        names,
        is_certain,
        unknown_words,
    } = related_tools(selection, unknown_name, request);
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
        is_certain,
    }
}

/// Hints for a call of a tool: notes about its arguments, tools that unknown arguments may belong to, the arguments of
/// the tool if those of the call are invalid, and the call that is probably meant.
pub(super) fn for_call(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Vec<String> {
    let tool = input.tool();
    let is_refused = end.result == CallResult::InvalidArguments;
    let has_unknown_keys = input.has_unknown_keys();
    // The contract has one text for other refusals.
    if is_refused && !has_unknown_keys && tool.risk.is_none() {
        return Vec::new();
    }
    let mut lines = notes(selection, input, end);
    if !has_unknown_keys && !is_refused {
        let text = (!lines.is_empty()).then(|| lines.join("\n"));
        return text.into_iter().collect();
    }
    let mut related = meant_tools(selection, input);
    // A command that may have had an effect must not run twice.
    let may_repeat = is_refused || tool.risk == Some(Risk::Read);
    let correction = corrected_call(selection, input.numbered_tool(), input.request());
    let correction = correction.filter(|_| may_repeat);
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
        texts.push(details(selection, tool));
    }
    texts.extend(summaries(selection, &related));
    texts.extend(correction);
    let hints = [lines.join("\n"), texts.join("\n")].into_iter();
    hints.filter(|text| !text.is_empty()).collect()
}

/// Lines about the arguments of a call: what was ignored, what was probably not taken as meant, and what is missing.
fn notes(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Vec<String> {
    let tool = input.tool();
    let effect = match end.result {
        CallResult::Succeeded if end.is_silent => Effect::Silent,
        CallResult::Succeeded => Effect::Visible,
        _ => Effect::Nothing,
    };
    let mut values = value_notes(selection, tool, &meant_arguments(input), effect);
    let unknown = input.unknown_arguments().into_iter();
    let mut lines = Vec::new();
    if end.result != CallResult::InvalidArguments {
        lines.extend(ignored_arguments_hint(unknown));
        lines.extend(values);
        lines.extend(missing_directory(selection, input, end));
    } else if refuses_unknown_arguments(tool.risk) {
        // The refusal has the other lines itself.
        let said = input.joined_lists();
        values.retain(|line| !said.contains(line));
        lines.extend(values);
    } else {
        lines.extend(unknown.map(|line| format!("  - {line}")));
        lines.extend(values);
    }
    lines.extend(missing_dry_run(input));
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
