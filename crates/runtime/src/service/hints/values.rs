//! Notes about values that a tool takes otherwise than an agent probably means them.

use climax_catalog::facts::ArgumentFacts;
use climax_catalog::tables::ToolRow;
use climax_core::risk::refuses_unknown_arguments;
use climax_core::scalar::ValueShape;
use serde_json::Value;

use crate::call::joined_list::{joined_values, joined_words, several_values_line};
use crate::catalog::selection::Selection;

/// Arguments that take patterns for names of files.
const GLOB_ARGUMENTS: [&str; 3] = ["glob", "include", "name"];

/// What a call did, as far as it says whether values were meant as the tool takes them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It failed, or was not run.
    Nothing,
    /// It succeeded and printed nothing.
    Silent,
    /// It succeeded and printed something: names may have spaces and wildcards.
    Visible,
}

/// A line for each value that was probably not meant as the tool takes it.
pub(super) fn value_notes(
    selection: &Selection,
    tool: &ToolRow,
    given: &[(&str, &Value)],
    effect: Effect,
) -> Vec<String> {
    // Many programs that change something print nothing.
    let may_have_spaces = effect == Effect::Visible
        || effect == Effect::Silent && refuses_unknown_arguments(tool.risk);
    let arguments = selection.tables.arguments_of(tool);
    let mut lines = Vec::new();
    for (name, value) in given {
        let Some(argument) = arguments.iter().find(|argument| argument.name == *name) else {
            continue;
        };
        lines.extend(list_note(argument, value, may_have_spaces));
        if effect != Effect::Visible && has_unexpanded_wildcard(argument, value) {
            let mut names = arguments.iter().map(|argument| argument.name);
            let for_globs = names.find(|name| GLOB_ARGUMENTS.contains(name));
            let advice = match for_globs {
                Some(name) => format!("use '{name}'"),
                None => "pass each file".to_owned(),
            };
            lines.push(format!(
                "Argument '{name}': no shell expands '*' and '?', so {advice}"
            ));
        }
    }
    lines
}

/// A line for a text that is taken as the only item of a list but looks like several, or for a list where one value is
/// expected.
fn list_note(argument: &ArgumentFacts<'_>, value: &Value, may_have_spaces: bool) -> Option<String> {
    let name = argument.name;
    match (argument.shape, value) {
        (ValueShape::List, Value::String(text)) => {
            let words = || joined_words(text).filter(|_| !may_have_spaces);
            let items = joined_values(text).or_else(words)?;
            Some(several_values_line(name, text, &items))
        }
        (ValueShape::Single, Value::Array(items)) if items.len() > 1 => {
            Some(format!("Argument '{name}' takes one value for each call"))
        }
        _ => None,
    }
}

/// Whether a value has a path with a wildcard, for an argument whose description does not offer globs.
pub(super) fn has_unexpanded_wildcard(argument: &ArgumentFacts<'_>, value: &Value) -> bool {
    let mut items = match value {
        Value::Array(items) => items.iter(),
        value => std::slice::from_ref(value).iter(),
    };
    let has_wildcard =
        items.any(|item| item.as_str().is_some_and(|text| text.contains(['*', '?'])));
    has_wildcard && argument.is_path && !argument.description.contains("glob")
}
