//! Reads and validates the arguments of discovery suite calls. All problems are reported together.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use climax_core::scalar;
use climax_core::words::fold;
use climax_input::fields::closest;
use serde_json::{Map, Value};

/// The valid values of `max_results`.
pub(super) const MAX_RESULTS_RANGE: RangeInclusive<usize> = 1..=50;
const DEFAULT_MAX_RESULTS: usize = 10;
const MAX_QUERY_CHARACTERS: usize = 1000;
const MAX_NAME_CHARACTERS: usize = 200;
/// The maximum length of a list of names.
const MAX_NAMES: usize = 50;

/// The arguments of a request that are not read yet, and the problems found so far.
pub(super) struct RequestArguments {
    arguments: Map<String, Value>,
    pub(super) problems: Vec<String>,
    /// How to fix the problems.
    pub(super) suggestions: Vec<String>,
}

impl RequestArguments {
    pub(super) fn new(arguments: Map<String, Value>) -> Self {
        Self {
            arguments,
            problems: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// Takes an argument. `null` counts as absent.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.arguments.remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.arguments.contains_key(name)
    }

    /// Reads a required query. Messages call it `label`.
    pub(super) fn query(&mut self, name: &str, label: &str) -> String {
        let text = match self.take(name) {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => {
                self.problems.push(format!(
                    "{label} must be a string, not {}",
                    excerpt(&other.to_string())
                ));
                return String::new();
            }
        };
        if text.trim().is_empty() {
            self.problems.push(format!("{label} cannot be empty"));
            self.suggestions.push(
                "Describe the task in a few words, for example what a tool should read or change"
                    .to_owned(),
            );
        } else if text.chars().count() > MAX_QUERY_CHARACTERS {
            self.problems.push(format!(
                "{label} too long (max {MAX_QUERY_CHARACTERS} characters)"
            ));
            self.suggestions
                .push("Describe the task in one sentence".to_owned());
        }
        // A query may have several lines.
        let is_forbidden =
            |character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t');
        if text.contains(is_forbidden) {
            self.problems
                .push(format!("{label} contains control characters"));
            self.suggestions
                .push("Remove the control characters".to_owned());
        }
        text.trim().to_owned()
    }

    /// Reads an optional choice, ignoring case. An empty string counts as absent.
    pub(super) fn choice(&mut self, name: &str, options: &[&str]) -> Option<String> {
        let value = self.take(name)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let folded = fold(text.trim());
        if folded.is_empty() {
            return None;
        }
        let mut matching = options.iter().filter(|option| fold(option) == folded);
        if let Some(option) = matching.next() {
            return Some((*option).to_owned());
        }
        let (text, all) = (excerpt(&text), options.join(", "));
        self.problems
            .push(format!("Invalid {name} '{text}'. Valid options: {all}"));
        if folded.len() <= MAX_NAME_CHARACTERS
            && let Some(closest) = closest(&folded, options)
        {
            self.suggestions
                .push(format!("Did you mean {name} '{closest}'?"));
        }
        None
    }

    /// Reads `max_results`.
    pub(super) fn max_results(&mut self) -> usize {
        let Some(value) = self.take("max_results") else {
            return DEFAULT_MAX_RESULTS;
        };
        let integer = match &value {
            Value::String(text) => scalar::parse_integer(text),
            Value::Number(number) => number
                .as_i64()
                .or_else(|| number.as_f64().and_then(scalar::integer_from_float)),
            _ => None,
        };
        let count = integer.and_then(|integer| usize::try_from(integer).ok());
        count
            .filter(|count| MAX_RESULTS_RANGE.contains(count))
            .unwrap_or_else(|| {
                self.problems
                    .push("max_results must be between 1 and 50".to_owned());
                DEFAULT_MAX_RESULTS
            })
    }

    /// Reads a boolean that is true by default.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let value = self.take(name);
        let flag = match &value {
            None => Some(true),
            Some(Value::Bool(flag)) => Some(*flag),
            Some(Value::String(text)) => scalar::parse_boolean(text),
            Some(_) => None,
        };
        flag.unwrap_or_else(|| {
            self.problems.push(format!("{name} must be true or false"));
            true
        })
    }

    /// Reads a list of names, or a single name.
    pub(super) fn names(&mut self, name: &str) -> Vec<String> {
        let values = match self.take(name) {
            None => return Vec::new(),
            Some(Value::Array(values)) => values,
            Some(other) => vec![other],
        };
        if values.len() > MAX_NAMES {
            self.problems
                .push(format!("{name} may have at most {MAX_NAMES} names"));
            return Vec::new();
        }
        let mut names = Vec::new();
        for value in values {
            match value {
                Value::String(text) if text.chars().count() > MAX_NAME_CHARACTERS => {
                    self.problems.push(format!(
                        "{name} contains a name longer than {MAX_NAME_CHARACTERS} characters"
                    ));
                }
                Value::String(text) if !text.trim().is_empty() => names.push(text),
                other => {
                    let other = other.to_string();
                    let other = excerpt(&other);
                    self.problems
                        .push(format!("{name} must contain names, not {other}"));
                }
            }
        }
        names
    }
}

/// Truncates a text for an error message.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUERY_CHARACTERS) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}
