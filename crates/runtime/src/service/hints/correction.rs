//! Turns a call with mistakes into the call that it probably means.

use std::borrow::Cow;
use std::path::Path;

use climax_catalog::facts::{ArgumentFacts, PlacementKind};
use climax_catalog::tables::ToolRow;
use climax_core::scalar::{ArgumentType, ValueShape};
use climax_input::fields::closest;
use climax_policy::limit::truncate_for_message;
use serde_json::{Map, Value, json};

use super::values::has_unexpanded_wildcard;
use crate::call::CallRequest;
use crate::call::argument_names::{ArgumentName, argument_names, meant_name};
use crate::call::joined_list::{joined_values, joined_words};
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;

/// Calls with more keys are not corrected, and further keys do not count.
const MAX_KEYS: usize = 40;
/// How many keys that fit no argument are named.
const MAX_NAMED_KEYS: usize = 8;
/// Longer calls are not repeated in an answer.
const MAX_CORRECTION_BYTES: usize = 2_000;

/// What a correction may do with a key that no argument's name explains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnexplainedKey {
    /// Take it for the only missing required argument. For a tool that the agent named.
    PlaceIfUnambiguous,
    /// Give up. For a tool that was guessed: `{"delete": "v1"}` must not create the tag.
    GiveUp,
}

/// The call that a request for a tool probably means, as the arguments of `climax_call`. There is none if a key fits no
/// argument, or if the tool would refuse the arguments: nothing that the agent said is left out.
pub(super) fn corrected_call(
    selection: &Selection,
    tool: (u32, &ToolRow),
    request: &CallRequest,
    unexplained: UnexplainedKey,
) -> Option<String> {
    let arguments = corrected_arguments(selection, tool, request, unexplained)?;
    let name = selection.text(tool.1.name);
    let call = json!({"tool_name": name, "args": arguments}).to_string();
    (call.len() <= MAX_CORRECTION_BYTES).then(|| format!("Corrected call: {call}"))
}

/// The keys and values of a call, inside and outside of its arguments.
pub(super) fn given(request: &CallRequest) -> impl Iterator<Item = (&String, &Value)> {
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
    let given = given(request).filter(|(key, _)| !is_dry_run(key));
    given.fold((0, 0), |(fitting, count), (key, value)| {
        let fits = meant_name(key, value, &names).is_some();
        (fitting + usize::from(fits), count + 1)
    })
}

/// A line with the keys of a request that no argument of a tool fits.
pub(super) fn unfitting_arguments(
    selection: &Selection,
    tool: &ToolRow,
    request: &CallRequest,
) -> Option<String> {
    let names = argument_names(selection, tool);
    let keys = given(request).filter(|(key, value)| meant_name(key, value, &names).is_none());
    let keys = keys.map(|(key, _)| format!("'{}'", truncate_for_message(key)));
    let keys: Vec<String> = keys.take(MAX_NAMED_KEYS).collect();
    let name = selection.text(tool.name);
    (!keys.is_empty()).then(|| format!("{name} has no argument {}", keys.join(", ")))
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
    unexplained: UnexplainedKey,
) -> Option<Map<String, Value>> {
    if request.arguments.len() + request.unknown_parameters.len() > MAX_KEYS {
        return None;
    }
    let arguments = selection.tables.arguments_of(tool);
    let names = argument_names(selection, tool);
    // `null` means the same as leaving the argument out.
    let given = given(request).filter(|(_, value)| !value.is_null());
    let mut directories = arguments.iter();
    let directory = directories.find(|argument| argument.placement == PlacementKind::Directory);
    let is_given = |name: &str| {
        let mut given = request.arguments.iter().chain(&request.unknown_parameters);
        given.any(|(key, value)| meant_name(key, value, &names) == Some(name))
    };
    let free_directory = directory.map(|argument| argument.name);
    let free_directory = free_directory.filter(|name| !is_given(name));
    let mut corrected = Map::new();
    let mut unmatched = Vec::new();
    for (key, value) in given {
        let Some(name) = meant_name(key, value, &names) else {
            unmatched.push((key, value));
            continue;
        };
        let argument = arguments.iter().find(|argument| argument.name == name)?;
        if may_join_values(argument, value) || has_unexpanded_wildcard(argument, value) {
            return None;
        }
        let value = corrected_value(argument, value).into_owned();
        let repository = repository(&value).filter(|_| !argument.required);
        let (name, value) = match (free_directory, repository) {
            (Some(directory), Some(repository)) => (directory, repository),
            _ => (name, value),
        };
        if corrected.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    let is_only = unmatched.len() <= 1;
    for (key, value) in unmatched {
        let is_free = |argument: &&ArgumentFacts<'_>| !corrected.contains_key(argument.name);
        let free: Vec<&ArgumentFacts<'_>> = arguments.iter().filter(is_free).collect();
        let (argument, value) = if is_switch(value) {
            format_named(key, &free)?
        } else if is_only && unexplained == UnexplainedKey::PlaceIfUnambiguous {
            let argument = only(free.into_iter().filter(|argument| argument.required))?;
            (argument, corrected_value(argument, value).into_owned())
        } else {
            return None;
        };
        corrected.insert(argument.name.to_owned(), value);
    }
    let request = CallRequest {
        tool: request.tool.clone(),
        arguments: corrected,
        unknown_parameters: Map::new(),
    };
    let is_valid = CallInput::new(selection, (number, tool), &request).is_valid();
    is_valid.then_some(request.arguments)
}

/// Whether a text for a list is either several values or one with spaces.
fn may_join_values(argument: &ArgumentFacts<'_>, value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let is_unclear = joined_values(text).is_none() && joined_words(text).is_some();
    argument.shape == ValueShape::List && is_unclear
}

/// The value, if it is the absolute path of a Git repository. Given as the `path` that limits a command, it probably means
/// the directory in which the command runs.
fn repository(value: &Value) -> Option<Value> {
    let value = match value {
        Value::Array(items) => only(items.iter())?,
        value => value,
    };
    let path = Path::new(value.as_str()?);
    (path.is_absolute() && path.join(".git").exists()).then(|| value.clone())
}

/// The format of this name: `oneline: true` means `format: "oneline"`. Only formats are switched on that way: `dev: true`
/// does not mean `omit: "dev"`.
fn format_named<'f, 'v>(
    key: &str,
    arguments: &[&'f ArgumentFacts<'v>],
) -> Option<(&'f ArgumentFacts<'v>, Value)> {
    let choice = key.replace('_', "-");
    let argument = arguments
        .iter()
        .find(|argument| argument.name == "format")?;
    let mut choices = argument.choices.iter();
    let has_choice = choices.any(|known| known.to_string() == choice);
    has_choice.then(|| (*argument, json!(choice)))
}

/// The only item of an iterator.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// A value in the form that an argument takes: a list for text with commas, JSON for an object, a boolean for "yes", the
/// choice that is spelt alike.
fn corrected_value<'v>(argument: &ArgumentFacts<'_>, value: &'v Value) -> Cow<'v, Value> {
    let corrected = match (argument.shape, value) {
        (ValueShape::List, Value::String(text)) => joined_values(text).map(|items| json!(items)),
        (ValueShape::Single, Value::Array(items)) => match items.as_slice() {
            [item] => return corrected_value(argument, item),
            _ => None,
        },
        (ValueShape::Single, Value::Object(_)) if argument.kind == ArgumentType::String => {
            Some(json!(value.to_string()))
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
    corrected.map_or(Cow::Borrowed(value), Cow::Owned)
}

fn boolean_word(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "y" | "on" | "true" => Some(true),
        "no" | "n" | "off" | "false" => Some(false),
        _ => None,
    }
}

/// The choice that is spelt alike, or the only one with which the text begins or ends: `TERM` for `SIGTERM`, `f` for
/// `file`.
fn similar_choice<'c>(text: &str, choices: &[&'c str]) -> Option<&'c str> {
    let text = text.to_lowercase();
    let folded: Vec<String> = choices.iter().map(|choice| choice.to_lowercase()).collect();
    let number_of = |found: &str| folded.iter().position(|choice| choice == found);
    let is_part = |choice: &&String| {
        !choice.is_empty() && (text.starts_with(*choice) || text.ends_with(*choice))
    };
    let names: Vec<&str> = folded.iter().map(String::as_str).collect();
    let exact = number_of(&text);
    let part = || number_of(only(folded.iter().filter(is_part))?);
    let similar = || number_of(closest(&text, &names)?);
    let number = exact.or_else(part).or_else(similar)?;
    choices.get(number).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_may_have_another_case_a_typo_or_more_letters() {
        for (text, choices, expected) in [
            ("JSON", &["json", "text"][..], Some("json")),
            ("jsn", &["json", "text"], Some("json")),
            ("SIGTERM", &["TERM", "KILL", "INT"], Some("TERM")),
            ("file", &["f", "d", "l"], Some("f")),
            ("fold", &["f", "d"], None),
            ("xml", &["json", "text"], None),
        ] {
            assert_eq!(similar_choice(text, choices), expected, "{text}");
        }
    }
}
