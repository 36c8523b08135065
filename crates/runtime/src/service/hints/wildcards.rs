//! Finds paths with wildcards that no program expands.

use climax_catalog::facts::ArgumentFacts;
use climax_catalog::tables::ToolRow;
use serde_json::Value;

use crate::catalog::selection::Selection;

/// Arguments that take patterns for names of files.
const GLOB_ARGUMENTS: [&str; 3] = ["glob", "include", "name"];

/// A line for each path with a wildcard, unless the argument takes globs.
pub(super) fn wildcards<'v>(
    selection: &Selection,
    tool: &ToolRow,
    given: impl Iterator<Item = (&'v str, &'v Value)>,
) -> Vec<String> {
    let arguments = selection.tables.arguments_of(tool);
    let mut names = arguments.iter().map(|argument| argument.name);
    let for_globs = names.find(|name| GLOB_ARGUMENTS.contains(name));
    let advice = match for_globs {
        Some(name) => format!("use '{name}'"),
        None => "pass each file".to_owned(),
    };
    let lines = given.filter_map(|(name, value)| {
        let argument = arguments.iter().find(|argument| argument.name == name)?;
        has_unexpanded_wildcard(argument, value)
            .then(|| format!("Argument '{name}': no shell expands '*' and '?', so {advice}"))
    });
    lines.collect()
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
