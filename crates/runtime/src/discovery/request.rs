//! Reads the arguments of the discovery suite. Everything that is wrong is told at once.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use climax_core::scalar;
use climax_core::words::fold;
use climax_input::fields::closest;
use serde_json::{Map, Value};

/// How many results there may be, and how many there are if nothing is said.
pub(crate) const RESULTS: RangeInclusive<usize> = 1..=50;
pub(super) const USUAL_RESULTS: usize = 10;
/// How many characters a query may have, and how many a name.
const LONGEST: usize = 1000;
const LONGEST_NAME: usize = 200;
/// How many names a request may have.
const MOST_NAMES: usize = 50;

/// The arguments of a request while they are read.
pub(super) struct Request {
    arguments: Map<String, Value>,
    /// What is wrong with them.
    pub(super) problems: Vec<String>,
    /// What could be done about it.
    pub(super) suggestions: Vec<String>,
}

impl Request {
    pub(super) fn new(arguments: Map<String, Value>) -> Self {
        Self {
            arguments,
            problems: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// An argument that is there; `null` is not.
    pub(super) fn value(&mut self, name: &str) -> Option<Value> {
        self.arguments.remove(name).filter(|value| !value.is_null())
    }

    /// Whether an argument was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arguments.contains_key(name)
    }

    /// What is looked for, which must be there. `what` is how messages call it.
    pub(super) fn query(&mut self, name: &str, what: &str) -> String {
        let text = match self.value(name) {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => {
                self.problems.push(format!(
                    "{what} must be text, not {}",
                    shortened(&other.to_string())
                ));
                return String::new();
            }
        };
        if text.trim().is_empty() {
            self.problems.push(format!("{what} cannot be empty"));
            self.suggestions.push(
                "Say in a few words what is to be done, for example what a tool reads or changes"
                    .to_owned(),
            );
        } else if text.chars().count() > LONGEST {
            self.problems
                .push(format!("{what} too long (max {LONGEST} characters)"));
            self.suggestions
                .push("Say in one sentence what is to be done".to_owned());
        }
        // Text may have lines.
        let is_odd = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\t');
        if text.contains(is_odd) {
            self.problems
                .push(format!("{what} contains control characters"));
            self.suggestions
                .push("Leave control characters out".to_owned());
        }
        text.trim().to_owned()
    }

    /// One of some words, if it is given. Case makes no difference, and nothing is no word.
    pub(super) fn choice(&mut self, name: &str, options: &[&str]) -> Option<String> {
        let value = self.value(name)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let wanted = fold(text.trim());
        if wanted.is_empty() {
            return None;
        }
        let mut known = options.iter().filter(|option| fold(option) == wanted);
        if let Some(option) = known.next() {
            return Some((*option).to_owned());
        }
        let (text, all) = (shortened(&text), options.join(", "));
        self.problems
            .push(format!("Invalid {name} '{text}'. Valid options: {all}"));
        if wanted.len() <= LONGEST_NAME
            && let Some(near) = closest(&wanted, options)
        {
            self.suggestions
                .push(format!("Did you mean {name} '{near}'?"));
        }
        None
    }

    /// How many results at most.
    pub(super) fn max_results(&mut self) -> usize {
        let Some(value) = self.value("max_results") else {
            return USUAL_RESULTS;
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
            .filter(|count| RESULTS.contains(count))
            .unwrap_or_else(|| {
                self.problems
                    .push("max_results must be between 1 and 50".to_owned());
                USUAL_RESULTS
            })
    }

    /// Whether something is wanted. It is unless it is said.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let value = self.value(name);
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

    /// Names, as a list, or one by itself.
    pub(super) fn names(&mut self, name: &str) -> Vec<String> {
        let values = match self.value(name) {
            None => return Vec::new(),
            Some(Value::Array(values)) => values,
            Some(other) => vec![other],
        };
        if values.len() > MOST_NAMES {
            self.problems
                .push(format!("{name} may have at most {MOST_NAMES} names"));
            return Vec::new();
        }
        let mut names = Vec::new();
        for value in values {
            match value {
                Value::String(text) if text.chars().count() > LONGEST_NAME => {
                    let problem = format!("{name} has a name of over {LONGEST_NAME} characters");
                    self.problems.push(problem);
                }
                Value::String(text) if !text.trim().is_empty() => names.push(text),
                other => {
                    let other = other.to_string();
                    let other = shortened(&other);
                    self.problems
                        .push(format!("{name} must be names, not {other}"));
                }
            }
        }
        names
    }
}

/// The beginning of a text, for an error that nobody needs all of it in.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}
