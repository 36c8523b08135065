//! Turns a call with mistakes into the call that it probably means.

use std::borrow::Cow;

use climax_catalog::facts::ArgumentFacts;
use climax_catalog::tables::ToolRow;
use climax_core::scalar::{ArgumentType, ValueShape};
use climax_input::fields::closest;
use serde_json::{Map, Value, json};

use crate::call::CallRequest;
use crate::call::argument_names::meant_name;
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;

/// Calls with more keys are not corrected, and further keys do not count.
const MAX_KEYS: usize = 40;
/// Longer calls are not repeated in an answer.
const MAX_CORRECTION_BYTES: usize = 2_000;

/// The call that a request for a tool probably means, as the arguments of `climax_call`. There is none if a key fits no
/// argument, or if the tool would refuse the arguments: nothing that the agent said is left out.
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

/// How many keys of a request an argument of a tool fits.
pub(super) fn fitting_keys(selection: &Selection, tool: &ToolRow, request: &CallRequest) -> usize {
    let arguments = selection.tables.arguments_of(tool);
    let names: Vec<&str> = arguments.iter().map(|argument| argument.name).collect();
    let keys = request.arguments.keys();
    let keys = keys.chain(request.unknown_parameters.keys()).take(MAX_KEYS);
    keys.filter(|key| meant_name(key, &names).is_some()).count()
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
    let names: Vec<&str> = arguments.iter().map(|argument| argument.name).collect();
    let given = request.arguments.iter().chain(&request.unknown_parameters);
    // `null` means the same as leaving the argument out.
    let given = given.filter(|(_, value)| !value.is_null());
    let mut corrected = Map::new();
    let mut unmatched = Vec::new();
    for (key, value) in given {
        let Some(name) = meant_name(key, &names) else {
            unmatched.push((key, value));
            continue;
        };
        let argument = arguments.iter().find(|argument| argument.name == name)?;
        let value = corrected_value(argument, value).into_owned();
        if corrected.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    let only_unmatched = unmatched.len() <= 1;
    for (key, value) in unmatched {
        let is_free = |argument: &&ArgumentFacts<'_>| !corrected.contains_key(argument.name);
        let free: Vec<&ArgumentFacts<'_>> = arguments.iter().filter(is_free).collect();
        let (argument, value) = if *value == json!(true) {
            choice_named(key, &free)?
        } else {
            let argument = only(free.into_iter().filter(|argument| argument.required))?;
            only_unmatched.then(|| (argument, corrected_value(argument, value).into_owned()))?
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

/// The only argument with a choice of this name, and that choice: `oneline: true` means `format: "oneline"`.
fn choice_named<'f, 'v>(
    key: &str,
    arguments: &[&'f ArgumentFacts<'v>],
) -> Option<(&'f ArgumentFacts<'v>, Value)> {
    let choice = key.replace('_', "-");
    let has_choice = |argument: &&&ArgumentFacts<'_>| {
        let mut choices = argument.choices.iter();
        choices.any(|known| known.to_string() == choice)
    };
    let argument = only(arguments.iter().filter(has_choice))?;
    Some((argument, json!(choice)))
}

/// The only item of an iterator.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// A value in the form that an argument takes: a list for text with commas, a boolean for "yes", the choice that is
/// spelt alike.
fn corrected_value<'v>(argument: &ArgumentFacts<'_>, value: &'v Value) -> Cow<'v, Value> {
    let corrected = match (argument.shape, value) {
        (ValueShape::List, Value::String(text)) => split_list(text).map(|items| json!(items)),
        (ValueShape::Single, Value::Array(items)) => match items.as_slice() {
            [item] => return corrected_value(argument, item),
            _ => None,
        },
        (ValueShape::Single, Value::String(text)) if argument.kind == ArgumentType::Boolean => {
            match text.trim().to_ascii_lowercase().as_str() {
                "yes" | "y" | "on" => Some(json!(true)),
                "no" | "n" | "off" => Some(json!(false)),
                _ => None,
            }
        }
        (ValueShape::Single, Value::String(text)) if !argument.choices.is_empty() => {
            let choices = argument.choices.iter().map(ToString::to_string);
            let choices: Vec<String> = choices.collect();
            let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
            closest(&text.to_lowercase(), &choices).map(|choice| json!(choice))
        }
        _ => None,
    };
    corrected.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// The items of a text that is a list with commas.
pub(super) fn split_list(text: &str) -> Option<Vec<&str>> {
    list_items(text.split(',').map(str::trim))
}

/// The parts of a text, if there are several and each could be an item of a list.
pub(super) fn list_items<'t>(parts: impl Iterator<Item = &'t str>) -> Option<Vec<&'t str>> {
    let items: Vec<&str> = parts.collect();
    let is_item = |item: &&str| !item.is_empty() && !item.starts_with(['-', '[', '{']);
    (items.len() > 1 && items.iter().all(is_item)).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_commas_is_a_list_unless_an_item_is_empty_or_an_option() {
        assert_eq!(split_list("a, b"), Some(vec!["a", "b"]));
        for text in ["a", "a,", "a,-f", "[\"a\",\"b\"]", ""] {
            assert_eq!(split_list(text), None, "{text}");
        }
    }
}
