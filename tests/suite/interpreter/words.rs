//! Makes the words of flags and global arguments.

use std::env;

use serde_json::Value;

use super::ArgumentDefinition;
use super::values::defaults;

/// A flag with its value.
pub(super) fn flag_words(
    definition: &ArgumentDefinition,
    value: String,
    is_text: bool,
) -> Vec<String> {
    let flag = flag(definition);
    let is_long = flag.len() > 2 && flag.starts_with("--");
    let is_short = flag.len() == 2 && flag.starts_with('-') && flag != "--";
    let looks_like_option = is_text && is_option(&value);
    if definition.joined || flag.ends_with('=') || (looks_like_option && is_short) {
        vec![flag + &value]
    } else if looks_like_option && is_long {
        vec![format!("{flag}={value}")]
    } else {
        vec![flag, value]
    }
}

/// The flag of a boolean, if there is one for its value.
pub(super) fn switch_words(definition: &ArgumentDefinition, boolean: bool) -> Vec<String> {
    let pair = &definition.flag;
    if pair.is_object() {
        let flag = pair[boolean.to_string()].as_str().map(str::to_owned);
        flag.into_iter().collect()
    } else if boolean {
        vec![flag(definition)]
    } else {
        Vec::new()
    }
}

/// The words of a global argument, unless its variable is not set.
pub(super) fn global_words(definition: &ArgumentDefinition) -> Vec<String> {
    let (value, is_set) = match &definition.default {
        Value::String(text) => expand(text),
        _ => (defaults(definition)[0].text(), true),
    };
    if definition.argument_type() == "boolean" {
        switch_words(definition, is_set && value == "true")
    } else if is_set && !value.is_empty() {
        flag_words(definition, value, false)
    } else {
        Vec::new()
    }
}

/// Expands the variables that the random configs use. Also returns whether all of them are set.
pub(super) fn expand(text: &str) -> (String, bool) {
    let Ok(home) = env::var("HOME") else {
        return (text.to_owned(), !text.contains('$'));
    };
    let text = text.replace("${HOME}", &home).replace("$HOME", &home);
    let is_set = !text.contains('$');
    (text, is_set)
}

/// Whether a command would read a word as an option. A single dash conventionally means standard input.
pub(super) fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

fn flag(definition: &ArgumentDefinition) -> String {
    let default = || format!("--{}", definition.name.replace('_', "-"));
    let flag = definition.flag.as_str().map(str::to_owned);
    flag.unwrap_or_else(default)
}
