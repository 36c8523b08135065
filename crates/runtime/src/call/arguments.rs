//! Turns a call's JSON into typed values, and collects the errors in it.

use bumpalo::Bump;
use climax_catalog::rows::Rows;
use climax_catalog::tables::LimitRow;
use climax_core::scalar;
use climax_core::scalar::Number;
use climax_policy::limit::{self, LimitRef};
use serde_json::{Map, Value};

use crate::call::argv::{ArgvWord, IntoArgvWord};

/// Reads the arguments of one call. It does not stop at an error: it records the error and returns a
/// placeholder.
pub struct ArgumentReader<'a> {
    arguments: &'a Map<String, Value>,
    /// Owns the strings that coercion creates.
    arena: &'a Bump,
    limits: ArgumentLimits<'a>,
    missing: Vec<String>,
    invalid: Vec<String>,
    policy_violations: Vec<String>,
}

/// The limits that policies set for a tool's arguments.
#[derive(Clone, Copy, Default)]
pub(crate) struct ArgumentLimits<'a> {
    /// The limits; empty if there are none.
    pub(crate) rows: Rows<'a, LimitRow>,
    /// The catalog's text and automata, which the rows refer to.
    pub(crate) text: &'a str,
    pub(crate) automata: &'static [u8],
}

impl<'a> ArgumentLimits<'a> {
    /// The names of the arguments whose values may start with a dash: those whose limits all have a pattern that
    /// starts with a literal dash.
    pub(crate) fn allowing_leading_dash(self) -> Vec<&'a str> {
        let name = |limit: &LimitRow| limit.argument.of(self.text);
        let is_allowing = |limit: &LimitRow| {
            let rows = self.rows.iter();
            let mut rows = rows.filter(|other| name(other) == name(limit));
            rows.all(|row| row.begins_with_dash)
        };
        let allowing = self.rows.iter().filter(is_allowing);
        allowing.map(|limit| name(&limit)).collect()
    }
}

/// Why a call is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallRefusal {
    /// The arguments are invalid.
    Arguments(Vec<String>),
    /// A policy does not allow them.
    Policy(Vec<String>),
}

impl<'a> ArgumentReader<'a> {
    /// Creates a reader.
    pub(crate) fn new(
        arguments: &'a Map<String, Value>,
        arena: &'a Bump,
        limits: ArgumentLimits<'a>,
    ) -> Self {
        Self {
            arguments,
            arena,
            limits,
            missing: Vec::new(),
            invalid: Vec::new(),
            policy_violations: Vec::new(),
        }
    }

    /// The limits that values are checked against.
    pub(crate) fn limits(&self) -> ArgumentLimits<'a> {
        self.limits
    }

    /// Fails if there are errors: missing arguments first, then invalid ones in definition order, then
    /// `other_errors`. Policy violations are reported only if there are no other errors.
    pub(crate) fn finish(mut self, mut other_errors: Vec<String>) -> Result<(), CallRefusal> {
        self.missing.append(&mut self.invalid);
        self.missing.append(&mut other_errors);
        if !self.missing.is_empty() {
            Err(CallRefusal::Arguments(self.missing))
        } else if !self.policy_violations.is_empty() {
            Err(CallRefusal::Policy(self.policy_violations))
        } else {
            Ok(())
        }
    }

    /// A required value.
    #[inline(never)]
    pub fn required<T: ArgumentValue<'a>>(&mut self, name: &'static str) -> T {
        if self.get_non_null(name).is_none() {
            self.report_missing(name);
        }
        self.optional(name).unwrap_or(T::PLACEHOLDER)
    }

    /// An optional value.
    #[inline(never)]
    pub fn optional<T: ArgumentValue<'a>>(&mut self, name: &'static str) -> Option<T> {
        let value = self.get_non_null(name)?;
        self.coerced(name, value)
    }

    /// An optional value with a default.
    #[inline(never)]
    pub fn or<T: ArgumentValue<'a>>(&mut self, name: &'static str, default: T) -> T {
        self.optional(name).unwrap_or(default)
    }

    /// The index of a required enum value. `values` has one value per line, as the command line has them.
    pub fn required_choice(
        &mut self,
        name: &'static str,
        choice_type: ChoiceType,
        values: &'static str,
    ) -> usize {
        if self.get_non_null(name).is_none() {
            self.report_missing(name);
        }
        self.optional_choice(name, choice_type, values).unwrap_or(0)
    }

    /// The index of an optional enum value.
    pub fn optional_choice(
        &mut self,
        name: &'static str,
        choice_type: ChoiceType,
        values: &'static str,
    ) -> Option<usize> {
        let value = self.get_non_null(name)?;
        let mut known_values = values.split('\n');
        let index = match choice_type {
            ChoiceType::Text => {
                let text: &str = self.converted(name, value)?;
                known_values.position(|known| known == text)
            }
            ChoiceType::Integer => {
                let integer: i64 = self.converted(name, value)?;
                known_values.position(|known| known.parse() == Ok(integer))
            }
            ChoiceType::Number => {
                let number: Number = self.converted(name, value)?;
                let is_same = |known| {
                    scalar::parse_exact_number(known).is_some_and(|known| known.is_same(number))
                };
                known_values.position(is_same)
            }
        };
        match index {
            None => {
                let values = values.replace('\n', ", ");
                self.invalid
                    .push(format!("Argument '{name}' must be one of: {values}"));
            }
            // Limits apply to the enum's own text, because that is what the command gets.
            Some(index) if !self.limits.rows.is_empty() => {
                let text = choice_text(values, index);
                let number = match choice_type {
                    ChoiceType::Text => None,
                    ChoiceType::Integer | ChoiceType::Number => scalar::parse_exact_number(text),
                };
                self.check_limits(name, text, number);
            }
            Some(_) => {}
        }
        index
    }

    /// The index of an optional enum value with a default.
    pub fn choice_or(
        &mut self,
        name: &'static str,
        choice_type: ChoiceType,
        values: &'static str,
        default: usize,
    ) -> usize {
        self.optional_choice(name, choice_type, values)
            .unwrap_or(default)
    }

    /// `null` counts as absent.
    fn get_non_null(&self, name: &str) -> Option<&'a Value> {
        self.arguments.get(name).filter(|value| !value.is_null())
    }

    fn coerced<T: ArgumentValue<'a>>(&mut self, name: &'static str, value: &'a Value) -> Option<T> {
        let coerced = self.converted::<T>(name, value)?;
        if !self.limits.rows.is_empty()
            && let Some(word) = coerced.into_argv_word()
        {
            self.check_limits(name, &word.text(), word.number());
        }
        Some(coerced)
    }

    fn converted<T: ArgumentValue<'a>>(
        &mut self,
        name: &'static str,
        value: &'a Value,
    ) -> Option<T> {
        let converted = T::coerce(value, self.arena);
        if converted.is_none() {
            self.report_invalid(name, value, T::NAME);
        }
        converted
    }

    fn check_limits(&mut self, name: &str, text: &str, number: Option<Number>) {
        let limits = self.limits;
        for limit in limits.rows.iter() {
            if limit.argument.of(limits.text) == name {
                let limit_ref = LimitRef {
                    pattern: limit.pattern.map_or("", |piece| piece.of(limits.text)),
                    automaton: limit.automaton.of_bytes(limits.automata),
                    min: limit.min,
                    max: limit.max,
                };
                limit_ref.check(name, text, number, &mut self.policy_violations);
            }
        }
    }

    #[cold]
    fn report_missing(&mut self, name: &str) {
        self.missing
            .push(format!("Missing required argument '{name}'"));
    }

    #[cold]
    fn report_invalid(&mut self, name: &str, value: &Value, type_name: &str) {
        let is_rounded = value.is_f64() && type_name == <&str>::NAME;
        let help = if is_rounded {
            " exactly, because it is beyond 64 bits; send it as a string"
        } else {
            ""
        };
        let value = format_value(value);
        self.invalid.push(format!(
            "Argument '{name}': cannot convert '{value}' to {type_name}{help}"
        ));
    }
}

/// Formats a value for an error message: strings without quotes, everything else as JSON; cut off if it is
/// long.
fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => limit::truncate_for_message(text),
        other => limit::truncate_for_message(&other.to_string()),
    }
}

/// Whether a number may have been written as an integer that is too large for 64 bits. The JSON parser turns
/// such integers into the nearest float.
fn is_beyond_64_bits(float: f64) -> bool {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    float <= -TWO_TO_THE_63 || float >= 2.0 * TWO_TO_THE_63
}

/// The type of an enum's values.
#[derive(Clone, Copy)]
pub enum ChoiceType {
    /// `string`
    Text,
    /// `integer`
    Integer,
    /// `number`
    Number,
}

/// An enum value as a word of a command line.
///
/// # Panics
/// If the enum has no value at `index`.
#[must_use]
pub fn choice(choice_type: ChoiceType, values: &'static str, index: usize) -> ArgvWord<'static> {
    let text = choice_text(values, index);
    match choice_type {
        ChoiceType::Text => ArgvWord::Text(text),
        ChoiceType::Integer | ChoiceType::Number => ArgvWord::Literal(text),
    }
}

/// An enum value as text.
///
/// # Panics
/// If the enum has no value at `index`.
#[must_use]
pub fn choice_text(values: &'static str, index: usize) -> &'static str {
    let value = values.split('\n').nth(index);
    value.expect("an enum has a value for each variant")
}

/// A type that an argument can have, with its coercion from JSON.
pub trait ArgumentValue<'a>: Copy + IntoArgvWord<'a> {
    /// The type's name in error messages.
    const NAME: &'static str;
    /// Returned for a missing or invalid value. The call is refused before it is used.
    const PLACEHOLDER: Self;

    /// Converts a JSON value, or returns `None` if that is not possible.
    fn coerce(value: &'a Value, arena: &'a Bump) -> Option<Self>;
}

impl<'a> ArgumentValue<'a> for &'a str {
    const NAME: &'static str = "string";
    const PLACEHOLDER: Self = "";

    fn coerce(value: &'a Value, arena: &'a Bump) -> Option<Self> {
        match value {
            Value::String(text) => Some(text),
            Value::Bool(true) => Some("true"),
            Value::Bool(false) => Some("false"),
            Value::Number(number) => {
                let text = match number.as_f64() {
                    Some(float) if number.is_f64() && is_beyond_64_bits(float) => return None,
                    Some(float) if number.is_f64() => Number::Float(float).to_string(),
                    _ => number.to_string(),
                };
                Some(arena.alloc_str(&text))
            }
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl<'a> ArgumentValue<'a> for i64 {
    const NAME: &'static str = "integer";
    const PLACEHOLDER: Self = 0;

    fn coerce(value: &'a Value, _: &'a Bump) -> Option<Self> {
        match value {
            Value::Number(number) if number.is_f64() => {
                number.as_f64().and_then(scalar::integer_from_float)
            }
            Value::Number(number) => number.as_i64(),
            Value::Bool(boolean) => Some((*boolean).into()),
            Value::String(text) => scalar::parse_integer(text),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl<'a> ArgumentValue<'a> for Number {
    const NAME: &'static str = "number";
    const PLACEHOLDER: Self = Number::Integer(0);

    fn coerce(value: &'a Value, _: &'a Bump) -> Option<Self> {
        match value {
            Value::Number(number) if number.is_f64() => number.as_f64().map(Number::Float),
            // As for integers: a number that does not fit is refused, not rounded.
            Value::Number(number) => number.as_i64().map(Number::Integer),
            Value::Bool(boolean) => Some(Number::Float((*boolean).into())),
            Value::String(text) => scalar::parse_number(text),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl<'a> ArgumentValue<'a> for bool {
    const NAME: &'static str = "boolean";
    const PLACEHOLDER: Self = false;

    fn coerce(value: &'a Value, _: &'a Bump) -> Option<Self> {
        match value {
            Value::Bool(boolean) => Some(*boolean),
            Value::String(text) => scalar::parse_boolean(text),
            Value::Number(number) if !number.is_f64() => Some(number.as_i64() != Some(0)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn coerce<T: for<'a> ArgumentValue<'a> + 'static>(value: &Value) -> Option<T> {
        let arena = Bump::new();
        // `T` is 'static, so it borrows nothing from the arena.
        T::coerce(value, &arena)
    }

    #[test]
    fn integers_come_from_whole_numbers_text_and_booleans() {
        for (value, integer) in [
            (json!(42), 42),
            (json!(3.0), 3),
            (json!(true), 1),
            (json!("42"), 42),
            (json!(" 42 "), 42),
            (json!("+42"), 42),
            (json!(i64::MIN), i64::MIN),
        ] {
            assert_eq!(coerce::<i64>(&value), Some(integer), "{value}");
        }
        for value in [
            json!(3.7),
            json!("3.0"),
            json!("1_000"),
            json!("٤٢"),
            json!(u64::MAX),
            json!(1e19),
            json!([]),
            json!({}),
        ] {
            assert_eq!(coerce::<i64>(&value), None, "{value}");
        }
    }

    #[test]
    fn numbers_keep_whether_they_are_integers() {
        for (value, text) in [
            (json!(3), "3"),
            (json!(3.0), "3.0"),
            (json!("3"), "3.0"),
            (json!("3.14"), "3.14"),
            (json!(true), "1.0"),
            (json!(1e16), "1e+16"),
            (json!("1e-5"), "1e-05"),
        ] {
            let number = coerce::<Number>(&value).map(|number| number.to_string());
            assert_eq!(number.as_deref(), Some(text), "{value}");
        }
        for value in [
            json!("nan"),
            json!("inf"),
            json!("x"),
            json!([1]),
            json!(u64::MAX),
        ] {
            assert_eq!(coerce::<Number>(&value), None, "{value}");
        }
    }

    #[test]
    fn booleans_come_from_text_and_integers() {
        for (value, boolean) in [
            (json!(true), true),
            (json!("TRUE"), true),
            (json!("false"), false),
            (json!(2), true),
            (json!(0), false),
        ] {
            assert_eq!(coerce::<bool>(&value), Some(boolean), "{value}");
        }
        for value in [json!("yes"), json!(1.0), json!([]), json!("")] {
            assert_eq!(coerce::<bool>(&value), None, "{value}");
        }
    }

    #[test]
    fn strings_come_from_numbers_and_booleans_but_not_from_lists() {
        let arena = Bump::new();
        for (value, text) in [
            (json!("x"), "x"),
            (json!(5), "5"),
            (json!(5.0), "5.0"),
            (json!(1e16), "1e+16"),
            (json!(true), "true"),
        ] {
            assert_eq!(<&str>::coerce(&value, &arena), Some(text));
        }
        for value in [json!(["x"]), json!({"a": 1})] {
            assert_eq!(<&str>::coerce(&value, &arena), None);
        }
    }

    #[test]
    fn missing_arguments_are_reported_before_invalid_ones_and_null_is_absent() {
        let arguments = json!({"count": "many", "gone": null, "list": [1, 2], "extra": 1});
        let arena = Bump::new();
        let arguments = arguments.as_object().expect("an object");
        let mut reader = ArgumentReader::new(arguments, &arena, ArgumentLimits::default());
        let _: i64 = reader.required("count");
        let _: &str = reader.required("gone");
        let _: Option<&str> = reader.optional("list");
        assert_eq!(reader.or("absent", 7), 7);
        let reasons = [
            "Missing required argument 'gone'",
            "Argument 'count': cannot convert 'many' to integer",
            "Argument 'list': cannot convert '[1,2]' to string",
            "one more",
        ];
        assert_eq!(
            reader.finish(vec!["one more".to_owned()]),
            Err(CallRefusal::Arguments(reasons.map(str::to_owned).into()))
        );
    }

    #[test]
    fn a_long_value_is_cut_off_in_the_message() {
        let text = format_value(&json!("ä".repeat(1000)));
        assert_eq!(text.chars().count(), 201);
    }
}
