//! Parses text into integers, numbers and booleans, and formats them as text.
//!
//! Defaults of a config are converted when the catalog is built, arguments when a tool is called. Both use
//! these functions, so both follow the same rules.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// The type of an argument, as `type` declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentType {
    /// `string`
    String,
    /// `integer`: 64 bits, signed
    Integer,
    /// `number`: an integer or a float
    Number,
    /// `boolean`
    Boolean,
}

impl ArgumentType {
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

    /// The name with its indefinite article, for messages.
    #[must_use]
    pub fn with_article(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
        }
    }
}

/// Whether an argument has one value or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    /// One value
    Single,
    /// A list of values: `array`
    List,
    /// A map from text to text: `object`
    Map,
}

impl ValueShape {
    /// The name in JSON Schema of the type of arguments with this shape, whose values have the type `item_type`.
    #[must_use]
    pub fn type_name(self, item_type: ArgumentType) -> &'static str {
        match self {
            Self::Single => item_type.name(),
            Self::List => "array",
            Self::Map => "object",
        }
    }
}

/// A finite number that keeps the distinction between `3` and `3.0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Written without a decimal point.
    Integer(i64),
    /// Any other finite number.
    Float(f64),
}

impl Number {
    /// Whether the values are equal. 1 and 1.0 are.
    #[must_use]
    pub fn is_same(self, other: Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    /// Compares the exact values: integers are not rounded to floats. `None` if one is NaN.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(&other)),
            (Self::Float(one), Self::Float(other)) => one.partial_cmp(&other),
            (Self::Integer(integer), Self::Float(float)) => compare_with_float(integer, float),
            (Self::Float(float), Self::Integer(integer)) => {
                compare_with_float(integer, float).map(Ordering::reverse)
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

    /// The nearest float. Integers beyond 2^53 are rounded.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "documented")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

fn compare_with_float(integer: i64, float: f64) -> Option<Ordering> {
    match integer_from_float(float.floor()) {
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
    /// Formats as Python does: `3`, `3.0`, `0.0001`, `1e-05`, `1e+16`.
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

/// A value of one of the argument types.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'s> {
    /// A value of the type `string`
    Text(Cow<'s, str>),
    /// A value of the type `integer`
    Integer(i64),
    /// A value of the type `number`
    Number(Number),
    /// A value of the type `boolean`
    Boolean(bool),
}

impl Scalar<'_> {
    /// The value as a number, if it is an integer or a number.
    #[must_use]
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Self::Integer(integer) => Some(Number::Integer(*integer)),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Boolean(_) => None,
        }
    }

    /// Whether the values are equal. The numbers 1 and 1.0 are.
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

impl fmt::Display for Scalar<'_> {
    /// Formats the value as it is written in a command line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => text.fmt(formatter),
            Self::Integer(integer) => integer.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Boolean(boolean) => boolean.fmt(formatter),
        }
    }
}

/// Parses `42`, ` 42 ` or `+42`. Refuses `3.0`, `1_000`, non-ASCII digits, and values beyond 64 bits.
#[must_use]
pub fn parse_integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Parses a finite decimal number, always as a float: `3` becomes `3.0`, as in Python.
#[must_use]
pub fn parse_number(text: &str) -> Option<Number> {
    let float: f64 = text.trim().parse().ok()?;
    float.is_finite().then_some(Number::Float(float))
}

/// Parses a finite decimal number and keeps integers: `3` stays `3`. The inverse of formatting a [`Number`].
#[must_use]
pub fn parse_exact_number(text: &str) -> Option<Number> {
    parse_integer(text)
        .map(Number::Integer)
        .or_else(|| parse_number(text))
}

/// Parses `true` and `false` in any case.
#[must_use]
pub fn parse_boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Converts a float that is a whole number within 64 bits: `3.0`, not `3.7`.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before the cast"
)]
pub fn integer_from_float(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (float.fract() == 0.0 && (-LIMIT..LIMIT).contains(&float)).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_formatted_as_in_python() {
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
    fn integers_are_parsed_from_decimal_text_only() {
        for (text, value) in [("42", 42), (" 42 ", 42), ("+42", 42), ("-7", -7)] {
            assert_eq!(parse_integer(text), Some(value), "{text}");
        }
        for text in ["", "+", "3.0", "1_000", "٤٢", "0x10", "9223372036854775808"] {
            assert_eq!(parse_integer(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_parsed_as_finite_floats() {
        assert_eq!(parse_number("3"), Some(Number::Float(3.0)));
        assert_eq!(parse_number(" 3.25 "), Some(Number::Float(3.25)));
        for text in ["nan", "inf", "-Infinity", "1e999", "1_000.5", "x", ""] {
            assert_eq!(parse_number(text), None, "{text}");
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
        assert_eq!(parse_exact_number("3"), Some(Number::Integer(3)));
        assert_eq!(parse_exact_number("3.0"), Some(Number::Float(3.0)));
    }

    #[test]
    fn whole_floats_convert_to_integers() {
        assert_eq!(integer_from_float(3.0), Some(3));
        assert_eq!(integer_from_float(-1e15), Some(-1_000_000_000_000_000));
        for float in [3.7, 1e19, 9_223_372_036_854_775_808.0, f64::NAN] {
            assert_eq!(integer_from_float(float), None);
        }
    }

    #[test]
    fn booleans_are_parsed_in_any_case() {
        assert_eq!(parse_boolean("TRUE"), Some(true));
        assert_eq!(parse_boolean("False"), Some(false));
        assert_eq!(parse_boolean("yes"), None);
        assert_eq!(parse_boolean(" true"), None);
    }
}
