//! Maps the keys of a call to the argument names of its tool, and describes the keys that fit none.

use std::borrow::Cow;
use std::path::Path;

use climax_catalog::facts::PlacementKind;
use climax_catalog::tables::ToolRow;
use climax_core::scalar::{ArgumentType, ValueShape};
use climax_discovery::synonyms::{has_synonyms, normalise_name, synonyms_of};
use climax_input::fields::closest;
use climax_policy::limit::truncate_for_message;
use serde_json::{Map, Value};

use crate::catalog::selection::Selection;

/// The arguments of a call under the names that the tool defines.
#[derive(Debug)]
pub(crate) struct ResolvedArguments<'a> {
    pub(crate) arguments: Cow<'a, Map<String, Value>>,
    /// An error line for each argument that has two keys or holds broken JSON.
    pub(crate) errors: Vec<String>,
    /// The keys that fit no argument, with their values.
    pub(crate) unknown: Vec<(&'a str, &'a Value)>,
}

impl ResolvedArguments<'_> {
    /// Replaces text that holds a JSON list or object by that list or object, if the argument is one. Agents often
    /// quote nested JSON.
    pub(crate) fn parse_nested_json(&mut self, name: &str, shape: ValueShape) {
        let (first, shape_name) = match shape {
            ValueShape::Single => return,
            ValueShape::List => ('[', "list"),
            ValueShape::Map => ('{', "object"),
        };
        let Some(Value::String(text)) = self.arguments.get(name) else {
            return;
        };
        let Some(inner) = text.trim_start().strip_prefix(first) else {
            return;
        };
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            self.arguments.to_mut().insert(name.to_owned(), value);
        } else if inner.trim_start().starts_with('"') {
            let text = truncate_for_message(text);
            let line = format!("Argument '{name}': '{text}' is not a valid JSON {shape_name}");
            self.errors.push(line);
        }
    }
}

/// What a key of a call can name: an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArgumentName<'n> {
    pub(crate) name: &'n str,
    /// Its flag without dashes, if that is not its name; else empty.
    flag: &'n str,
    is_boolean: bool,
    is_directory: bool,
}

impl<'n> ArgumentName<'n> {
    pub(crate) const fn text(name: &'n str) -> Self {
        let flag = "";
        Self {
            name,
            flag,
            is_boolean: false,
            is_directory: false,
        }
    }

    /// Whether a key has the argument's flag. A single letter counts in the same case only.
    fn has_flag(&self, key: &str) -> bool {
        let key = key.trim_start_matches('-');
        match self.flag.len() {
            0 => false,
            1 => key == self.flag,
            _ => normalise_name(key) == normalise_name(self.flag),
        }
    }

    /// Whether the argument may be meant by a key with this value: a switch is no text, and `a.txt` no directory.
    fn may_take(&self, value: &Value) -> bool {
        match value {
            Value::Bool(_) => self.is_boolean,
            Value::String(text) if self.is_boolean => boolean_word(text).is_some(),
            Value::String(text) if self.is_directory => {
                boolean_word(text).is_none() && Path::new(text).extension().is_none()
            }
            Value::Null | Value::String(_) => true,
            Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                !self.is_boolean && !self.is_directory
            }
        }
    }
}

/// What a text means for a boolean argument.
pub(crate) fn boolean_word(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "y" | "on" | "true" => Some(true),
        "no" | "n" | "off" | "false" => Some(false),
        _ => None,
    }
}

/// The names of a tool's arguments.
pub(crate) fn argument_names(selection: &Selection, tool: &ToolRow) -> Vec<ArgumentName<'static>> {
    let rows = selection.tables.arguments.rows().slice(tool.arguments);
    let names = rows.iter().map(|row| ArgumentName {
        name: selection.text(row.name),
        flag: selection.text(row.flag),
        is_boolean: row.kind == ArgumentType::Boolean,
        is_directory: row.placement == PlacementKind::Directory,
    });
    names.collect()
}

/// Renames keys that differ from an argument's name only in case, in `-` for `_`, or by camel case. Agents often
/// spell names that way. A key that fits several names is unknown.
pub(crate) fn resolve_names<'a>(
    arguments: &'a Map<String, Value>,
    names: &[ArgumentName<'_>],
) -> ResolvedArguments<'a> {
    let mut resolved = ResolvedArguments {
        arguments: Cow::Borrowed(arguments),
        errors: Vec::new(),
        unknown: Vec::new(),
    };
    let mut renamed: Vec<(&str, &str)> = Vec::new();
    for (key, value) in arguments {
        if names.iter().any(|argument| argument.name == key) {
            continue;
        }
        let Some(name) = name_for_key(key, names) else {
            resolved.unknown.push((key, value));
            continue;
        };
        let first = arguments
            .get_key_value(name)
            .map(|(key, _)| key.as_str())
            .or_else(|| {
                let mut renamed = renamed.iter();
                renamed
                    .find(|(known, _)| *known == name)
                    .map(|(_, key)| *key)
            });
        if let Some(first) = first {
            let keys = [first, key].map(truncate_for_message);
            let line = format!(
                "Argument '{name}' is given twice: as '{}' and '{}'",
                keys[0], keys[1]
            );
            resolved.errors.push(line);
            continue;
        }
        renamed.push((name, key));
        let map = resolved.arguments.to_mut();
        map.shift_remove(key);
        map.insert(name.to_owned(), value.clone());
    }
    resolved
}

/// The error line for a parameter of `climax_call` that has no meaning. `names` are the tool's arguments, and `free`
/// those that are not given.
pub(crate) fn unknown_parameter(
    key: &str,
    value: &Value,
    names: &[ArgumentName<'_>],
    free: &[ArgumentName<'_>],
) -> String {
    if let Some(name) = name_for_key(key, names) {
        return format!("Unknown argument '{name}': put it into 'args'");
    }
    let shown = truncate_for_message(key);
    match synonym(key, value, free) {
        Some(name) => format!("Unknown argument '{shown}': put it into 'args' as '{name}'"),
        None if names.is_empty() => {
            let parameters = ["tool_name", "args"].map(ArgumentName::text);
            unknown_argument(key, value, &parameters, &parameters)
        }
        None => format!(
            "Unknown argument '{shown}': 'args' can have {}",
            joined(names)
        ),
    }
}

/// A hint with the lines for arguments that have no meaning, if there are any.
pub(crate) fn ignored_arguments_hint(lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.map(|line| format!("  - {line}")).collect();
    (!lines.is_empty()).then(|| format!("Ignored:\n{}", lines.join("\n")))
}

/// Longer keys fit no argument.
pub(crate) const MAX_KEY_BYTES: usize = 64;
/// Keys shorter than this get no suggestion: `ref` is close to `repo`, but means something else.
const MIN_SUGGESTED_KEY_BYTES: usize = 4;

fn joined(names: &[ArgumentName<'_>]) -> String {
    let names: Vec<&str> = names.iter().map(|argument| argument.name).collect();
    names.join(", ")
}

/// The only name that means the same as a key and may have the value: that of the argument with this flag, or else a
/// synonym.
fn synonym<'n>(key: &str, value: &Value, names: &[ArgumentName<'n>]) -> Option<&'n str> {
    if key.len() > MAX_KEY_BYTES {
        return None;
    }
    let normalised = normalise_name(key);
    let mut same = names.iter();
    let same = same.find(|argument| normalise_name(argument.name) == normalised);
    if let Some(same) = same {
        return same.may_take(value).then_some(same.name);
    }
    let names = || names.iter().filter(|argument| argument.may_take(value));
    let mut with_flag = names().filter(|argument| argument.has_flag(key));
    if let (Some(argument), None) = (with_flag.next(), with_flag.next()) {
        return Some(argument.name);
    }
    let named_by = |synonyms: &[String]| {
        let names = names().map(|argument| argument.name);
        let mut fitting = names.filter(|name| synonyms.contains(&normalise_name(name)));
        (fitting.next(), fitting.next())
    };
    match named_by(&synonyms_of(key)) {
        (Some(name), None) => Some(name),
        // A tool that works on no path, but in a directory.
        (None, _) if key == "path" => {
            let mut directories = names().filter(|argument| argument.is_directory);
            directories.next().map(|argument| argument.name)
        }
        _ => None,
    }
}

/// The name that an unknown key probably means: a synonym, or one that is spelt alike.
pub(crate) fn suggestion<'n>(
    key: &str,
    value: &Value,
    names: &[ArgumentName<'n>],
) -> Option<&'n str> {
    let similar = || {
        if key.len() > MAX_KEY_BYTES {
            return None;
        }
        let key = key.to_lowercase();
        let names = names.iter().filter(|argument| argument.may_take(value));
        let names: Vec<&str> = names.map(|argument| argument.name).collect();
        let name = closest(&key, &names)?;
        // `force` is close to `source`, and `file` to `filter`, but they mean something else.
        let has_same_start = name.chars().next() == key.chars().next();
        let is_typo = has_same_start && key.len() >= MIN_SUGGESTED_KEY_BYTES;
        (is_typo && !has_synonyms(&key)).then_some(name)
    };
    synonym(key, value, names).or_else(similar)
}

/// The name that a key means: itself in any spelling, the only argument with this flag, or its only synonym. Typos are
/// not corrected: `remove` is close to `remote`.
pub(crate) fn meant_name<'n>(
    key: &str,
    value: &Value,
    names: &[ArgumentName<'n>],
) -> Option<&'n str> {
    let exact = names.iter().find(|argument| argument.name == key);
    let exact = exact.map(|argument| argument.name);
    exact
        .or_else(|| name_for_key(key, names))
        .or_else(|| synonym(key, value, names))
}

/// The error line for an unknown key. `free` are the names that are not given by other keys.
pub(crate) fn unknown_argument(
    key: &str,
    value: &Value,
    names: &[ArgumentName<'_>],
    free: &[ArgumentName<'_>],
) -> String {
    let shown = truncate_for_message(key);
    let without_separators = normalise_name(key);
    let mut names_of_key = names.iter().map(|argument| argument.name);
    let spelt_alike = names_of_key.find(|name| normalise_name(name) == without_separators);
    match spelt_alike.or_else(|| suggestion(key, value, free)) {
        Some(name) => format!("Unknown argument '{shown}': did you mean '{name}'?"),
        None if names.is_empty() => {
            format!("Unknown argument '{shown}': this tool takes no arguments")
        }
        None => format!(
            "Unknown argument '{shown}': expected one of {}",
            joined(names)
        ),
    }
}

/// The only name that a key may stand for.
fn name_for_key<'n>(key: &str, names: &[ArgumentName<'n>]) -> Option<&'n str> {
    if key.len() > MAX_KEY_BYTES {
        return None;
    }
    let (folded_key, key_words) = (fold_separators(key), snake_case(key));
    let names = names.iter().map(|argument| argument.name);
    let mut fitting =
        names.filter(|name| fold_separators(name) == folded_key || snake_case(name) == key_words);
    match (fitting.next(), fitting.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    }
}

/// Converts a name to lower case, with `_` for `-`.
pub(crate) fn fold_separators(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// `dryRun`, `DryRun` and `dry-run` become `dry_run`.
fn snake_case(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, character) in characters.iter().enumerate() {
        let previous = index.checked_sub(1).map(|previous| characters[previous]);
        let next = characters.get(index + 1);
        let follows_word = previous.is_some_and(|previous| {
            // `URLPath` is `url_path`: the last capital of a run begins the next word.
            previous.is_lowercase()
                || previous.is_ascii_digit()
                || (previous.is_uppercase() && next.is_some_and(|next| next.is_lowercase()))
        });
        if character.is_uppercase() && follows_word {
            snake.push('_');
        }
        match character {
            '-' => snake.push('_'),
            other => snake.extend(other.to_lowercase()),
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_the_same_is_suggested() {
        let names = ["directory", "max_count", "revision", "path"].map(ArgumentName::text);
        for (key, name) in [
            ("cwd", "directory"),
            ("repoPath", "directory"),
            ("n", "max_count"),
            ("commit", "revision"),
            ("files", "path"),
        ] {
            let expected = format!("Unknown argument '{key}': did you mean '{name}'?");
            assert_eq!(unknown_argument(key, &json!("x"), &names, &names), expected);
        }
        // Two arguments could be meant.
        let names = ["directory", "repo"].map(ArgumentName::text);
        let line = unknown_argument("repository", &json!("x"), &names, &names);
        assert_eq!(
            line,
            "Unknown argument 'repository': expected one of directory, repo"
        );
    }

    #[test]
    fn the_flag_of_an_argument_suggests_it() {
        let names = [("keep_file", "cached"), ("follow", "L"), ("sort", "S")];
        let names = names.map(|(name, flag)| ArgumentName {
            name,
            flag,
            is_boolean: true,
            is_directory: false,
        });
        for (key, name) in [
            ("cached", Some("keep_file")),
            ("--Cached", Some("keep_file")),
            ("L", Some("follow")),
            ("-S", Some("sort")),
            ("s", None),
            ("", None),
        ] {
            assert_eq!(suggestion(key, &json!(true), &names), name, "{key}");
        }
    }

    #[test]
    fn an_argument_is_not_suggested_for_a_value_that_it_cannot_have() {
        let directory = ArgumentName {
            is_directory: true,
            ..ArgumentName::text("directory")
        };
        let suggested = |key, value| suggestion(key, &value, &[directory]);
        assert_eq!(suggested("directories", json!("a")), Some("directory"));
        for value in [json!(true), json!("yes"), json!(["a"]), json!(1)] {
            assert_eq!(suggested("directories", value), None);
        }
        assert_eq!(suggested("path", json!("a")), Some("directory"));
        assert_eq!(suggested("path", json!("a.txt")), None);
    }
    use crate::registration::json_object;
    use serde_json::json;

    const NAMES: [ArgumentName<'_>; 4] = [
        ArgumentName::text("dry_run"),
        ArgumentName::text("max_count"),
        ArgumentName::text("pathSpec"),
        ArgumentName::text("URLPath"),
    ];

    #[test]
    fn keys_in_another_case_or_with_other_separators_are_renamed() {
        for (key, name) in [
            ("dry-run", "dry_run"),
            ("dryRun", "dry_run"),
            ("DryRun", "dry_run"),
            ("DRY_RUN", "dry_run"),
            ("Dry-Run", "dry_run"),
            ("maxCount", "max_count"),
            ("pathspec", "pathSpec"),
            ("path_spec", "pathSpec"),
            ("url_path", "URLPath"),
            ("url-path", "URLPath"),
        ] {
            let arguments = json_object(json!({key: 1}));
            let resolved = resolve_names(&arguments, &NAMES);
            assert_eq!(resolved.arguments.get(name), Some(&json!(1)), "{key}");
            assert!(resolved.unknown.is_empty(), "{key}");
        }
    }

    #[test]
    fn keys_that_fit_no_name_or_several_stay_unknown() {
        for (key, names) in [
            ("dryrun", ["dry_run", "other"]),
            ("dry run", ["dry_run", "other"]),
            ("a-b", ["a_b", "A_b"]),
            ("", ["a", "b"]),
        ] {
            let arguments = json_object(json!({key: 1}));
            let resolved = resolve_names(&arguments, &names.map(ArgumentName::text));
            assert_eq!(resolved.unknown, [(key, &json!(1))]);
            assert_eq!(*resolved.arguments, arguments);
        }
        // An exact name is never renamed.
        let arguments = json_object(json!({"a_b": 1, "A_b": 2}));
        let resolved = resolve_names(&arguments, &["a_b", "A_b"].map(ArgumentName::text));
        assert!(matches!(resolved.arguments, Cow::Borrowed(_)));
        assert!(resolved.unknown.is_empty() && resolved.errors.is_empty());
    }

    #[test]
    fn two_keys_for_one_argument_are_an_error() {
        for (arguments, keys) in [
            (
                json!({"dry_run": true, "dry-run": false}),
                ["dry_run", "dry-run"],
            ),
            (
                json!({"dryRun": true, "dry_run": false}),
                ["dry_run", "dryRun"],
            ),
            (
                json!({"dryRun": true, "dry-run": false}),
                ["dryRun", "dry-run"],
            ),
        ] {
            let arguments = json_object(arguments);
            let resolved = resolve_names(&arguments, &NAMES);
            let [first, second] = keys;
            let line = format!("Argument 'dry_run' is given twice: as '{first}' and '{second}'");
            assert_eq!(resolved.errors, [line]);
        }
    }

    #[test]
    fn an_unknown_argument_gets_a_suggestion_or_the_list_of_names() {
        for (key, names, line) in [
            ("dryrun", &NAMES[..2], "did you mean 'dry_run'?"),
            ("MaxCuont", &NAMES[..2], "did you mean 'max_count'?"),
            ("dry", &NAMES[..2], "expected one of dry_run, max_count"),
            (
                "repository",
                &NAMES[..2],
                "expected one of dry_run, max_count",
            ),
            ("x", &[], "this tool takes no arguments"),
        ] {
            let expected = format!("Unknown argument '{key}': {line}");
            let value = json!(1);
            assert_eq!(unknown_argument(key, &value, names, names), expected);
        }
    }
}
