//! Turns text into integers, numbers and booleans, and numbers into text.
//!
//! A default in a config is converted when the catalog is built, an argument when a tool is
//! called; both come through here.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text
    String,
    /// A whole number of 64 bits
    Integer,
    /// An integer or a float
    Number,
    /// `true` or `false`
    Boolean,
}

impl Kind {
    /// The name in configs and in JSON Schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// The name with its article, for messages.
    #[must_use]
    pub fn one(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
        }
    }
}

/// A JSON-like number that remembers whether it was an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number without a decimal point.
    Integer(i64),
    /// Any other finite number.
    Float(f64),
}

impl Number {
    /// Whether both are the same number, however it is written: 1 and 1.0.
    #[must_use]
    pub fn is_same(self, other: Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    /// Compares by value and without loss: an integer is not rounded to be compared with a float.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(&other)),
            (Self::Float(one), Self::Float(other)) => one.partial_cmp(&other),
            (Self::Integer(integer), Self::Float(float)) => compare(integer, float),
            (Self::Float(float), Self::Integer(integer)) => {
                compare(integer, float).map(Ordering::reverse)
            }
        }
    }

    /// The number as JSON.
    #[must_use]
    pub fn json(self) -> Value {
        match self {
            Self::Integer(integer) => integer.into(),
            Self::Float(float) => float.into(),
        }
    }

    /// As a float, which for integers beyond 2^53 is the nearest.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "that is what is said")]
    pub fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

fn compare(integer: i64, float: f64) -> Option<Ordering> {
    let whole = whole(float.floor());
    match whole {
        // The float lies between its floor and the next integer.
        Some(floor) => Some(integer.cmp(&floor).then(if float.fract() == 0.0 {
            Ordering::Equal
        } else {
            Ordering::Less
        })),
        None if float.is_nan() => None,
        None if float > 0.0 => Some(Ordering::Less),
        None => Some(Ordering::Greater),
    }
}

impl fmt::Display for Number {
    /// Prints as Python does: `3`, `3.0`, `0.0001`, `1e-05`, `1e+16`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(formatter),
            Self::Float(float) => fmt_float(*float, formatter),
        }
    }
}

fn fmt_float(float: f64, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let shortest = format!("{float:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = float.to_string();
        let point = if plain.contains('.') { "" } else { ".0" };
        write!(formatter, "{plain}{point}")
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(formatter, "{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    }
}

/// A value of one of the kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'s> {
    /// Text
    Text(Cow<'s, str>),
    /// A whole number
    Integer(i64),
    /// A number
    Number(Number),
    /// `true` or `false`
    Boolean(bool),
}

impl Scalar<'_> {
    /// The value as a word of a command line.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::Text(text) => text.clone().into_owned(),
            Self::Integer(integer) => integer.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }

    /// The value as a number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        match self {
            Self::Integer(integer) => Some(Number::Integer(*integer)),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Boolean(_) => None,
        }
    }

    /// Whether a call means the same with either.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.is_same(*other),
            _ => self == other,
        }
    }

    /// The value as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        match self {
            Self::Text(text) => text.as_ref().into(),
            Self::Integer(integer) => (*integer).into(),
            Self::Number(number) => number.json(),
            Self::Boolean(boolean) => (*boolean).into(),
        }
    }
}

/// Reads `42`, ` 42 ` or `+42`; not `3.0`, `1_000`, other digits than ASCII's, or beyond 64 bits.
#[must_use]
pub fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Reads any finite decimal number. Text is always a float: `3` becomes `3.0`.
#[must_use]
pub fn number(text: &str) -> Option<Number> {
    let float: f64 = text.trim().parse().ok()?;
    float.is_finite().then_some(Number::Float(float))
}

/// Reads what a config says or a number printed: `3` is an integer here.
#[must_use]
pub fn exact_number(text: &str) -> Option<Number> {
    integer(text).map(Number::Integer).or_else(|| number(text))
}

/// Reads `true` and `false` in any case.
#[must_use]
pub fn boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// The integer that a float stands for, if it is whole and fits: `3.0`, not `3.7`.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before the cast"
)]
pub fn whole(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (float.fract() == 0.0 && (-LIMIT..LIMIT).contains(&float)).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_python_prints_them() {
        for (float, text) in [
            (3.0, "3.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (3.25, "3.25"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (123_456_789.125, "123456789.125"),
        ] {
            assert_eq!(Number::Float(float).to_string(), text);
        }
        assert_eq!(Number::Integer(-3).to_string(), "-3");
    }

    #[test]
    fn integers_are_read_from_decimal_text_only() {
        for (text, value) in [("42", 42), (" 42 ", 42), ("+42", 42), ("-7", -7)] {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        for text in ["", "+", "3.0", "1_000", "٤٢", "0x10", "9223372036854775808"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_finite_floats() {
        assert_eq!(number("3"), Some(Number::Float(3.0)));
        assert_eq!(number(" 3.25 "), Some(Number::Float(3.25)));
        for text in ["nan", "inf", "-Infinity", "1e999", "1_000.5", "x", ""] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value_without_loss() {
        assert!(Number::Integer(1).is_same(Number::Float(1.0)));
        assert!(!Number::Integer(1).is_same(Number::Float(1.5)));
        let (large, larger) = (9_007_199_254_740_992, 9_007_199_254_740_993);
        assert!(!Number::Integer(larger).is_same(Number::Integer(large)));
        for (one, other, order) in [
            (
                Number::Integer(larger),
                Number::Float(9_007_199_254_740_992.0),
                Ordering::Greater,
            ),
            (Number::Integer(-9), Number::Float(-9.5), Ordering::Greater),
            (Number::Integer(-10), Number::Float(-9.5), Ordering::Less),
            (
                Number::Integer(i64::MAX),
                Number::Float(9_223_372_036_854_775_808.0),
                Ordering::Less,
            ),
            (
                Number::Integer(i64::MIN),
                Number::Float(-1e300),
                Ordering::Greater,
            ),
            (Number::Float(2.5), Number::Integer(2), Ordering::Greater),
        ] {
            assert_eq!(one.compare(other), Some(order), "{one} {other}");
            assert_eq!(other.compare(one), Some(order.reverse()), "{other} {one}");
        }
        assert_eq!(exact_number("3"), Some(Number::Integer(3)));
        assert_eq!(exact_number("3.0"), Some(Number::Float(3.0)));
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(whole(3.0), Some(3));
        assert_eq!(whole(-1e15), Some(-1_000_000_000_000_000));
        for float in [3.7, 1e19, 9_223_372_036_854_775_808.0, f64::NAN] {
            assert_eq!(whole(float), None);
        }
    }

    #[test]
    fn booleans_are_true_and_false_in_any_case() {
        assert_eq!(boolean("TRUE"), Some(true));
        assert_eq!(boolean("False"), Some(false));
        assert_eq!(boolean("yes"), None);
        assert_eq!(boolean(" true"), None);
    }
}
