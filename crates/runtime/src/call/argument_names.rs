//! Maps the keys of a call to the argument names of its tool, and describes the keys that fit none.

use std::borrow::Cow;

use climax_core::scalar::ValueShape;
use climax_discovery::synonyms::{has_synonyms, normalise_name, synonyms_of};
use climax_input::fields::closest;
use climax_policy::limit::truncate_for_message;
use serde_json::{Map, Value};

/// The arguments of a call under the names that the tool defines.
#[derive(Debug)]
pub(crate) struct ResolvedArguments<'a> {
    pub(crate) arguments: Cow<'a, Map<String, Value>>,
    /// An error line for each argument that has two keys or holds broken JSON.
    pub(crate) errors: Vec<String>,
    /// The keys that fit no argument.
    pub(crate) unknown: Vec<&'a str>,
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

/// Renames keys that differ from an argument's name only in case, in `-` for `_`, or by camel case. Agents often
/// spell names that way. A key that fits several names is unknown.
pub(crate) fn resolve_names<'a>(
    arguments: &'a Map<String, Value>,
    names: &[&str],
) -> ResolvedArguments<'a> {
    let mut resolved = ResolvedArguments {
        arguments: Cow::Borrowed(arguments),
        errors: Vec::new(),
        unknown: Vec::new(),
    };
    let mut renamed: Vec<(&str, &str)> = Vec::new();
    for (key, value) in arguments {
        if names.contains(&key.as_str()) {
            continue;
        }
        let Some(name) = name_for_key(key, names) else {
            resolved.unknown.push(key);
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
pub(crate) fn unknown_parameter(key: &str, names: &[&str], free: &[&str]) -> String {
    if let Some(name) = name_for_key(key, names) {
        return format!("Unknown argument '{name}': put it into 'args'");
    }
    let shown = truncate_for_message(key);
    match synonym(key, free) {
        Some(name) => format!("Unknown argument '{shown}': put it into 'args' as '{name}'"),
        None if names.is_empty() => {
            let parameters = ["tool_name", "args"];
            unknown_argument(key, &parameters, &parameters)
        }
        None => format!(
            "Unknown argument '{shown}': 'args' can have {}",
            names.join(", ")
        ),
    }
}

/// A hint with the lines for arguments that have no meaning, if there are any.
pub(crate) fn ignored_arguments_hint(lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.map(|line| format!("  - {line}")).collect();
    (!lines.is_empty()).then(|| format!("Ignored:\n{}", lines.join("\n")))
}

/// Keys shorter than this get no suggestion: `ref` is close to `repo`, but means something else.
const MIN_SUGGESTED_KEY_BYTES: usize = 4;

/// The only name that means the same as a key.
fn synonym<'n>(key: &str, names: &[&'n str]) -> Option<&'n str> {
    let named_by = |synonyms: &[String]| {
        let mut fitting = names
            .iter()
            .filter(|name| synonyms.contains(&normalise_name(name)));
        (fitting.next().copied(), fitting.next())
    };
    match named_by(&synonyms_of(key)) {
        (Some(name), None) => Some(name),
        // A tool that works on no path, but in a directory.
        (None, _) if key == "path" => named_by(&synonyms_of("directory")).0,
        _ => None,
    }
}

/// The name that an unknown key probably means: a synonym, or one that is spelt alike.
pub(crate) fn suggestion<'n>(key: &str, names: &[&'n str]) -> Option<&'n str> {
    let key = key.to_lowercase();
    let similar = || {
        let name = closest(&key, names)?;
        // `force` is close to `source`, and `file` to `filter`, but they mean something else.
        let has_same_start = name.chars().next() == key.chars().next();
        let is_typo = has_same_start && key.len() >= MIN_SUGGESTED_KEY_BYTES;
        (is_typo && !has_synonyms(&key)).then_some(name)
    };
    synonym(&key, names).or_else(similar)
}

/// The name that a key means: itself in any spelling, or its only synonym. A typo is not corrected: `remove` is close to
/// `remote`.
pub(crate) fn meant_name<'n>(key: &str, names: &[&'n str]) -> Option<&'n str> {
    let exact = names.iter().find(|name| **name == key).copied();
    exact
        .or_else(|| name_for_key(key, names))
        .or_else(|| synonym(key, names))
}

/// The error line for an unknown key. `free` are the names that are not given by other keys.
pub(crate) fn unknown_argument(key: &str, names: &[&str], free: &[&str]) -> String {
    let shown = truncate_for_message(key);
    let without_separators = normalise_name(key);
    let mut names_of_key = names.iter();
    let spelt_alike = names_of_key.find(|name| normalise_name(name) == without_separators);
    match spelt_alike.copied().or_else(|| suggestion(key, free)) {
        Some(name) => format!("Unknown argument '{shown}': did you mean '{name}'?"),
        None if names.is_empty() => {
            format!("Unknown argument '{shown}': this tool takes no arguments")
        }
        None => format!(
            "Unknown argument '{shown}': expected one of {}",
            names.join(", ")
        ),
    }
}

/// The only name that a key may stand for.
fn name_for_key<'n>(key: &str, names: &[&'n str]) -> Option<&'n str> {
    let (folded_key, key_words) = (fold_separators(key), snake_case(key));
    let mut fitting = names
        .iter()
        .filter(|name| fold_separators(name) == folded_key || snake_case(name) == key_words);
    match (fitting.next(), fitting.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    }
}

fn fold_separators(name: &str) -> String {
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
        let names = ["directory", "max_count", "revision", "path"];
        for (key, name) in [
            ("cwd", "directory"),
            ("repoPath", "directory"),
            ("n", "max_count"),
            ("commit", "revision"),
            ("files", "path"),
        ] {
            let expected = format!("Unknown argument '{key}': did you mean '{name}'?");
            assert_eq!(unknown_argument(key, &names, &names), expected);
        }
        // Two arguments could be meant.
        let names = ["directory", "repo"];
        let line = unknown_argument("repository", &names, &names);
        assert_eq!(
            line,
            "Unknown argument 'repository': expected one of directory, repo"
        );
    }
    use crate::registration::json_object;
    use serde_json::json;

    const NAMES: [&str; 4] = ["dry_run", "max_count", "pathSpec", "URLPath"];

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
            let resolved = resolve_names(&arguments, &names);
            assert_eq!(resolved.unknown, [key]);
            assert_eq!(*resolved.arguments, arguments);
        }
        // An exact name is never renamed.
        let arguments = json_object(json!({"a_b": 1, "A_b": 2}));
        let resolved = resolve_names(&arguments, &["a_b", "A_b"]);
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
            assert_eq!(unknown_argument(key, names, names), expected);
        }
    }
}
