//! Hints for an agent that made a mistake: further texts of an answer, after the first one, which the contract
//! defines.

mod correction;
mod description;
mod related;

use std::env;

use climax_catalog::facts::PlacementKind;
use climax_catalog::tables::ToolRow;
use climax_core::risk::refuses_unknown_arguments;
use climax_core::scalar::ValueShape;
use climax_policy::limit::truncate_for_message;
use serde_json::json;

use crate::call::CallRequest;
use crate::call::answer::CallResult;
use crate::call::argument_names::ignored_arguments_hint;
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;
use correction::{corrected_call, list_items, split_list};
use description::{details, summaries};
use related::{
    RelatedTools, continued_names, related_tools, similar_tool, tools_for_unknown_arguments,
    tools_named_by_unknown_arguments,
};

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
    if !request.arguments.is_empty() || !request.unknown_parameters.is_empty() {
        let names = suggestion.names.iter();
        let mut tools = names.filter_map(|name| selection.find_tool(name));
        let correction =
            tools.find_map(|(number, tool)| corrected_call(selection, (number, &tool), request));
        texts.extend(correction);
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
    }
}

fn suggest_related(selection: &Selection, request: &CallRequest) -> Suggestion {
    let RelatedTools {
        names,
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
    }
}

/// Hints for a call of a tool: ignored arguments, texts that may be lists, tools that unknown arguments may belong to,
/// the arguments of the tool if those of the call are invalid, and the call that is probably meant.
pub(super) fn for_call(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Vec<String> {
    let tool = input.tool();
    let result = end.result;
    let changes_something = refuses_unknown_arguments(tool.risk);
    let mut lines = Vec::new();
    if !changes_something {
        lines.extend(ignored_arguments_hint(
            input.unknown_arguments().into_iter(),
        ));
    }
    // A tool that changes something may have done nothing, or the wrong thing, although it succeeded.
    if result != CallResult::Succeeded || changes_something || end.is_silent {
        lines.extend(joined_lists(selection, input, end));
    }
    if result == CallResult::Failed {
        lines.extend(missing_directory(selection, input, end));
    }
    let mut related = tools_named_by_unknown_arguments(selection, input);
    if related.is_empty() && result == CallResult::InvalidArguments {
        related = tools_for_unknown_arguments(selection, input);
    }
    if !related.is_empty() {
        lines.push(format!("Related tools: {}", related.join(", ")));
    }
    let is_refused = result == CallResult::InvalidArguments;
    let has_unknown_keys = input.has_unknown_keys();
    let mut texts = Vec::new();
    // The contract's errors alone suffice to correct a call that changes nothing.
    if is_refused && (changes_something || has_unknown_keys) {
        texts.push(details(selection, tool));
    }
    texts.extend(summaries(selection, &related));
    if (is_refused && changes_something) || has_unknown_keys {
        let tool = input.numbered_tool();
        texts.extend(corrected_call(selection, tool, input.request()));
    }
    let hints = [lines.join("\n"), texts.join("\n")].into_iter();
    hints.filter(|text| !text.is_empty()).collect()
}

/// A line about the directory in which a command failed, if the call could have chosen it. An agent may have forgotten
/// it, or passed it as another argument.
fn missing_directory(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Option<String> {
    let arguments = selection.tables.arguments_of(input.tool());
    let mut arguments = arguments.iter();
    let directory = arguments.find(|argument| argument.placement == PlacementKind::Directory)?;
    let name = directory.name;
    let is_given = input.argument(name).is_some_and(|value| !value.is_null());
    if is_given || !directory.default.is_empty() {
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
        "Argument '{name}' was not given: the command ran in {default}"
    ))
}

/// A line for each text that was taken as the only item of a list, but looks like several.
fn joined_lists(selection: &Selection, input: &CallInput<'_>, end: CallEnd) -> Vec<String> {
    let arguments = selection.tables.arguments_of(input.tool());
    let lists = arguments
        .iter()
        .filter(|argument| argument.shape == ValueShape::List);
    // A single value may contain spaces, but not often one that has no effect.
    let may_have_spaces = end.result == CallResult::Succeeded && !end.is_silent;
    let lines = lists.filter_map(|argument| {
        let name = argument.name;
        let text = input.argument(name)?.as_str()?;
        let words = || list_items(text.split_whitespace()).filter(|_| !may_have_spaces);
        let items = split_list(text).or_else(words)?;
        let list = json!(items).to_string();
        let list = truncate_for_message(&list);
        Some(format!(
            "Argument '{name}' was taken as one value: for several, pass a list: {list}"
        ))
    });
    lines.collect()
}
