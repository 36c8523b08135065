//! Turns a call with mistakes into the call that it probably means.

use std::borrow::Cow;

use climax_catalog::facts::{ArgumentFacts, PlacementKind};
use climax_catalog::tables::ToolRow;
use climax_core::risk::{Risk, refuses_unknown_arguments};
use climax_core::scalar::{ArgumentType, ValueShape};
use climax_discovery::synonyms::{normalise_name, synonyms_of};
use climax_policy::limit::truncate_for_message;
use serde_json::{Map, Value, json};

use super::values::has_unexpanded_wildcard;
use crate::call::CallRequest;
use crate::call::argument_names::{ArgumentName, argument_names, boolean_word, meant_name};
use crate::call::joined_list::{joined_values, joined_words};
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;

/// Calls with more keys are not corrected, and further keys do not count.
const MAX_KEYS: usize = 40;
/// How many keys that fit no argument are named.
const MAX_NAMED_KEYS: usize = 8;
/// Longer calls are not repeated in an answer.
const MAX_CORRECTION_BYTES: usize = 2_000;

/// The call of a tool that a request probably means, as the arguments of `climax_call`. There is none unless every key fits
/// an argument by its name, a synonym or its flag, and the tool accepts the values. If the request names the tool, arguments
/// that are `null` are left out.
pub(super) fn corrected_call(
    selection: &Selection,
    tool: (u32, &ToolRow),
    request: &CallRequest,
) -> Option<String> {
    let arguments = corrected_arguments(selection, tool, request)?;
    let name = selection.text(tool.1.name);
    let call = json!({"tool_name": name, "args": arguments}).to_string();
    (call.len() <= MAX_CORRECTION_BYTES).then(|| format!("Corrected call: {call}"))
}

/// The keys and values of a call, inside and outside of its arguments.
pub(super) fn given_arguments(request: &CallRequest) -> impl Iterator<Item = (&String, &Value)> {
    let given = request.arguments.iter().chain(&request.unknown_parameters);
    given.take(MAX_KEYS)
}

/// Whether a key asks for a dry run. That says nothing about the tool that is meant.
pub(super) fn is_dry_run(key: &str) -> bool {
    let dry_run = ArgumentName::text("dry_run");
    meant_name(key, &Value::Null, &[dry_run]).is_some()
}

/// How many keys of a request an argument of a tool fits, and how many there are.
pub(super) fn fitting_keys(
    selection: &Selection,
    tool: &ToolRow,
    request: &CallRequest,
) -> (usize, usize) {
    let names = argument_names(selection, tool);
    let given = given_arguments(request).filter(|(key, _)| !is_dry_run(key));
    given.fold((0, 0), |(fitting, count), (key, value)| {
        let fits = meant_name(key, value, &names).is_some();
        (fitting + usize::from(fits), count + 1)
    })
}

/// A line with the keys of a request that no argument of several tools fits.
pub(super) fn unfitting_arguments(
    selection: &Selection,
    tools: &[&str],
    request: &CallRequest,
) -> Option<String> {
    let rows = tools.iter().filter_map(|name| selection.find_tool(name));
    let names: Vec<_> = rows
        .map(|(_, tool)| argument_names(selection, &tool))
        .collect();
    let fits = |key: &str, value| {
        let mut names = names.iter();
        names.any(|names| meant_name(key, value, names).is_some())
    };
    let keys = given_arguments(request).filter(|(key, value)| !fits(key, value));
    let keys = keys.map(|(key, _)| format!("'{}'", truncate_for_message(key)));
    let keys: Vec<String> = keys.take(MAX_NAMED_KEYS).collect();
    let subject = match tools {
        [tool] => format!("{tool} has no"),
        _ => "None of these tools has an".to_owned(),
    };
    (!keys.is_empty()).then(|| format!("{subject} argument {}", keys.join(", ")))
}

/// Whether a value switches something on.
pub(super) fn is_switch(value: &Value) -> bool {
    match value {
        Value::Bool(is_on) => *is_on,
        Value::String(text) => boolean_word(text) == Some(true),
        _ => false,
    }
}

fn corrected_arguments(
    selection: &Selection,
    (number, tool): (u32, &ToolRow),
    request: &CallRequest,
) -> Option<Map<String, Value>> {
    if request.arguments.len() + request.unknown_parameters.len() > MAX_KEYS {
        return None;
    }
    let arguments = selection.tables.arguments_of(tool);
    let names = argument_names(selection, tool);
    let is_called = selection.text(tool.name) == request.tool;
    let mut corrected = Map::new();
    for (key, value) in given_arguments(request) {
        // `null` means the same as leaving the argument out, but `delete: null` must not delete.
        if value.is_null() && is_called {
            continue;
        }
        let (name, value) = match meant_name(key, value, &names) {
            Some(name) => {
                let argument = arguments.iter().find(|argument| argument.name == name)?;
                let is_scope = key == "path" && argument.placement == PlacementKind::Directory;
                if is_scope && refuses_unknown_arguments(tool.risk) {
                    // A limit to a path is not the directory of the whole.
                    return None;
                }
                let value = corrected_value(tool.risk, argument, value)?;
                (name, value.into_owned())
            }
            None if is_switch(value) => format_named(key, &arguments)?,
            None => return None,
        };
        if corrected.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    let request = CallRequest {
        tool: request.tool.clone(),
        arguments: corrected,
        unknown_parameters: Map::new(),
    };
    let is_valid = CallInput::new(selection, (number, tool), &request).is_valid();
    is_valid.then_some(request.arguments)
}

/// The items of a text for a list: itself, or its parts between commas. There are none if it may be several values or one
/// with spaces. For a tool that changes something, no text is split: `a,b` may exist, and so may `a`.
fn list_items(risk: Option<Risk>, text: &str) -> Option<Vec<&str>> {
    match joined_values(text) {
        Some(items) => (!refuses_unknown_arguments(risk) && text.contains(',')).then_some(items),
        None => joined_words(text).is_none().then(|| vec![text]),
    }
}

/// The format of this name: `oneline: true` means `format: "oneline"`. Only formats are switched on that way: `dev: true`
/// does not mean `omit: "dev"`.
fn format_named<'f>(key: &str, arguments: &[ArgumentFacts<'f>]) -> Option<(&'f str, Value)> {
    let choice = key.replace('_', "-");
    let mut arguments = arguments.iter();
    let argument = arguments.find(|argument| argument.name == "format")?;
    let mut choices = argument.choices.iter();
    let has_choice = choices.any(|known| known.to_string() == choice);
    has_choice.then(|| (argument.name, json!(choice)))
}

/// A value in the form that an argument takes: a list for text with commas, JSON for an object, a boolean for "yes", the
/// choice that is spelt alike. There is none if the value may mean several things.
fn corrected_value<'v>(
    risk: Option<Risk>,
    argument: &ArgumentFacts<'_>,
    value: &'v Value,
) -> Option<Cow<'v, Value>> {
    if has_unexpanded_wildcard(argument, value) {
        return None;
    }
    let corrected = match (argument.shape, value) {
        (ValueShape::List, Value::String(text)) => {
            let items = list_items(risk, text)?;
            (items.len() > 1).then(|| json!(items))
        }
        (ValueShape::Single, Value::Array(items)) => match items.as_slice() {
            [item] => return corrected_value(risk, argument, item),
            _ => None,
        },
        (ValueShape::Single, Value::Object(_)) => {
            let is_content = synonyms_of("content").contains(&normalise_name(argument.name));
            return is_content.then(|| Cow::Owned(json!(value.to_string())));
        }
        (ValueShape::Single, Value::Bool(_)) if argument.kind != ArgumentType::Boolean => {
            return None;
        }
        (ValueShape::Single, Value::String(text)) if argument.kind == ArgumentType::Boolean => {
            boolean_word(text).map(Value::Bool)
        }
        (ValueShape::Single, Value::String(text)) if !argument.choices.is_empty() => {
            let choices = argument.choices.iter().map(ToString::to_string);
            let choices: Vec<String> = choices.collect();
            let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
            similar_choice(text, &choices).map(|choice| json!(choice))
        }
        _ => None,
    };
    Some(corrected.map_or(Cow::Borrowed(value), Cow::Owned))
}

/// The choice that differs in case and separators only, or that lacks `SIG`: `TERM` for `SIGTERM`.
fn similar_choice<'c>(text: &str, choices: &[&'c str]) -> Option<&'c str> {
    let text = normalise_name(text);
    let signal = text.strip_prefix("sig");
    let mut choices = choices.iter();
    let found = choices.find(|choice| {
        let choice = normalise_name(choice);
        !choice.is_empty() && (choice == text || Some(choice.as_str()) == signal)
    });
    found.copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_may_have_another_case_other_separators_or_the_prefix_of_signals() {
        for (text, choices, expected) in [
            ("JSON", &["json", "text"][..], Some("json")),
            ("one-line", &["one_line", "text"], Some("one_line")),
            ("SIGTERM", &["TERM", "KILL", "INT"], Some("TERM")),
            ("jsn", &["json", "text"], None),
            ("folder", &["f", "d"], None),
            ("ALRM", &["TERM", "KILL"], None),
            ("", &["", "a"], None),
        ] {
            assert_eq!(similar_choice(text, choices), expected, "{text}");
        }
    }
}
