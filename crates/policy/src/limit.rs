//! Checks values of an argument against the limit that a policy sets.

use std::cmp::Ordering;

use climax_core::scalar::{Number, Scalar};

use crate::pattern::{Pattern, is_match};

/// The values that are allowed for an argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Must match the whole text of the value.
    pub pattern: Option<Pattern>,
    /// The smallest allowed number.
    pub min: Option<Number>,
    /// The largest allowed number.
    pub max: Option<Number>,
    /// Whether a call must give a value. Set by policies; in a config, the argument itself is required.
    pub is_required: bool,
}

/// What a limit applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitTarget {
    /// A value: of a list, each item; of a map, each key with its value, as the command gets it.
    #[default]
    Value,
    /// Each key of a map.
    Key,
    /// The number of items of a list.
    Count,
}

impl LimitTarget {
    /// Formats a bound for messages. Bounds of values are floats, as in CLImax for Python.
    fn format_bound(self, bound: Number) -> String {
        match self {
            Self::Count => bound.to_string(),
            Self::Value | Self::Key => Number::Float(bound.to_f64()).to_string(),
        }
    }
}

/// A borrowed limit, which checks values.
#[derive(Clone, Copy)]
pub struct LimitRef<'l> {
    /// What it applies to.
    pub target: LimitTarget,
    /// The source of the pattern; empty if there is none.
    pub pattern: &'l str,
    /// The smallest allowed number.
    pub min: Option<Number>,
    /// The largest allowed number.
    pub max: Option<Number>,
}

impl Limit {
    /// Borrows the limit for checking.
    #[must_use]
    pub fn borrowed(&self) -> LimitRef<'_> {
        LimitRef {
            target: LimitTarget::Value,
            pattern: self.pattern.as_ref().map_or("", |pattern| &pattern.text),
            min: self.min,
            max: self.max,
        }
    }
}

impl LimitRef<'_> {
    /// Whether a value is allowed.
    #[must_use]
    pub fn allows(&self, value: &Scalar<'_>) -> bool {
        let mut errors = Vec::new();
        self.check("", &value.to_string(), value.as_number(), &mut errors);
        errors.is_empty()
    }

    /// Adds an error for each limit that a value violates. `number` is the value if it is a number.
    pub fn check(
        &self,
        argument: &str,
        text: &str,
        number: Option<Number>,
        errors: &mut Vec<String>,
    ) {
        let Self {
            target, pattern, ..
        } = *self;
        let subject = match target {
            LimitTarget::Value => "value",
            LimitTarget::Key => "key",
            LimitTarget::Count => "number of items",
        };
        if !pattern.is_empty() && !is_match(pattern, text) {
            let value = truncate_for_message(text);
            errors.push(format!(
                "Argument '{argument}': {subject} '{value}' does not match pattern '{pattern}'"
            ));
        }
        let Some(value) = number else { return };
        if let Some(min) = self.min
            && !matches!(
                value.compare(min),
                Some(Ordering::Greater | Ordering::Equal)
            )
        {
            let min = target.format_bound(min);
            errors.push(format!(
                "Argument '{argument}': {subject} {value} is below minimum {min}"
            ));
        }
        if let Some(max) = self.max
            && !matches!(value.compare(max), Some(Ordering::Less | Ordering::Equal))
        {
            let max = target.format_bound(max);
            errors.push(format!(
                "Argument '{argument}': {subject} {value} exceeds maximum {max}"
            ));
        }
    }
}

/// Shortens a long value for a message.
#[must_use]
pub fn truncate_for_message(text: &str) -> String {
    const MAX_MESSAGE_CHARACTERS: usize = 200;
    match text.char_indices().nth(MAX_MESSAGE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(limit: &Limit, text: &str, number: Option<Number>) -> Vec<String> {
        let mut errors = Vec::new();
        limit.borrowed().check("x", text, number, &mut errors);
        errors
    }

    fn pattern(text: &str) -> Limit {
        Limit {
            pattern: Some(Pattern::parse(text).expect("a valid pattern")),
            ..Limit::default()
        }
    }

    #[test]
    fn a_pattern_is_matched_in_full() {
        let limit = pattern("^[a-z]+$");
        assert_eq!(errors(&limit, "abc", None), [""; 0]);
        for wrong in ["", "abc\n", "\nabc", "abc1", "INVALID123", "äbc"] {
            assert_eq!(
                errors(&limit, wrong, None),
                [format!(
                    "Argument 'x': value '{wrong}' does not match pattern '^[a-z]+$'"
                )]
            );
        }
        assert!(!errors(&pattern("a|ab"), "abc", None).is_empty());
        assert!(errors(&pattern("a|ab"), "ab", None).is_empty());
    }

    #[test]
    fn number_limits_are_exact_and_reported_like_climax_for_python() {
        let limit = Limit {
            min: Some(Number::Integer(1)),
            max: Some(Number::Float(9_007_199_254_740_992.0)),
            ..Limit::default()
        };
        let number_errors = |number: Number| errors(&limit, &number.to_string(), Some(number));
        assert_eq!(number_errors(Number::Integer(1)), [""; 0]);
        assert_eq!(
            number_errors(Number::Integer(9_007_199_254_740_992)),
            [""; 0]
        );
        assert_eq!(
            number_errors(Number::Integer(0)),
            ["Argument 'x': value 0 is below minimum 1.0"]
        );
        assert_eq!(
            number_errors(Number::Float(0.5)),
            ["Argument 'x': value 0.5 is below minimum 1.0"]
        );
        assert_eq!(
            number_errors(Number::Integer(9_007_199_254_740_993)),
            ["Argument 'x': value 9007199254740993 exceeds maximum 9007199254740992.0"]
        );
        assert_eq!(number_errors(Number::Float(f64::NAN)).len(), 2);
    }
}
