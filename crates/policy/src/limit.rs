//! Limits of an argument: whether a value is allowed.

use std::cmp::Ordering;

use climax_core::scalar::{Number, Scalar};

use crate::pattern::{Pattern, is_match};

/// What values of an argument are allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Their text matches this in full.
    pub pattern: Option<Pattern>,
    /// They are not below it.
    pub min: Option<Number>,
    /// They are not above it.
    pub max: Option<Number>,
}

/// A limit as it is checked: its parts may be baked into a binary.
#[derive(Clone, Copy)]
pub struct Bounds<'l> {
    /// The pattern as written; empty if there is none.
    pub pattern: &'l str,
    /// What was baked for it, if something was.
    pub automaton: &'static [u8],
    /// The least value.
    pub min: Option<Number>,
    /// The greatest value.
    pub max: Option<Number>,
}

impl Limit {
    /// The same, to be checked.
    #[must_use]
    pub fn bounds(&self) -> Bounds<'_> {
        Bounds {
            pattern: self.pattern.as_ref().map_or("", |pattern| &pattern.text),
            automaton: &[],
            min: self.min,
            max: self.max,
        }
    }
}

impl Bounds<'_> {
    /// Whether a value is allowed.
    #[must_use]
    pub fn allows(&self, value: &Scalar<'_>) -> bool {
        let mut errors = Vec::new();
        self.check("", &value.to_string(), value.as_number(), &mut errors);
        errors.is_empty()
    }

    /// Adds what is wrong with a value, which is given as text, and as a number if it is one.
    pub fn check(
        &self,
        argument: &str,
        text: &str,
        number: Option<Number>,
        errors: &mut Vec<String>,
    ) {
        let Self { pattern, .. } = *self;
        if !pattern.is_empty() && !is_match(pattern, self.automaton, text) {
            let shown = shown(text);
            errors.push(format!(
                "Argument '{argument}': value '{shown}' does not match pattern '{pattern}'"
            ));
        }
        let Some(value) = number else { return };
        if let Some(min) = self.min
            && !matches!(
                value.compare(min),
                Some(Ordering::Greater | Ordering::Equal)
            )
        {
            let min = Number::Float(min.to_f64());
            errors.push(format!(
                "Argument '{argument}': value {value} is below minimum {min}"
            ));
        }
        if let Some(max) = self.max
            && !matches!(value.compare(max), Some(Ordering::Less | Ordering::Equal))
        {
            let max = Number::Float(max.to_f64());
            errors.push(format!(
                "Argument '{argument}': value {value} exceeds maximum {max}"
            ));
        }
    }
}

/// A value for a message, which need not be all of it.
#[must_use]
pub fn shown(text: &str) -> String {
    const ENOUGH: usize = 200;
    match text.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(limit: &Limit, text: &str, number: Option<Number>) -> Vec<String> {
        let mut errors = Vec::new();
        limit.bounds().check("x", text, number, &mut errors);
        errors
    }

    fn pattern(text: &str) -> Limit {
        Limit {
            pattern: Some(Pattern::parse(text).expect("a pattern")),
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
    fn limits_of_numbers_are_exact_and_told_as_climax_does() {
        let limit = Limit {
            min: Some(Number::Integer(1)),
            max: Some(Number::Float(9_007_199_254_740_992.0)),
            ..Limit::default()
        };
        let of = |number: Number| errors(&limit, &number.to_string(), Some(number));
        assert_eq!(of(Number::Integer(1)), [""; 0]);
        assert_eq!(of(Number::Integer(9_007_199_254_740_992)), [""; 0]);
        assert_eq!(
            of(Number::Integer(0)),
            ["Argument 'x': value 0 is below minimum 1.0"]
        );
        assert_eq!(
            of(Number::Float(0.5)),
            ["Argument 'x': value 0.5 is below minimum 1.0"]
        );
        assert_eq!(
            of(Number::Integer(9_007_199_254_740_993)),
            ["Argument 'x': value 9007199254740993 exceeds maximum 9007199254740992.0"]
        );
        assert_eq!(of(Number::Float(f64::NAN)).len(), 2);
    }
}
