//! Coerces JSON values to the types that arguments can have.

use bumpalo::Bump;
use climax_core::scalar;
use climax_core::scalar::Number;
use serde_json::Value;

use crate::argv::IntoArgvWords;

/// A type that an argument can have, with its coercion from JSON.
pub trait ArgumentValue<'a>: Copy + IntoArgvWords<'a> + 'a {
    /// The type's name in error messages.
    const NAME: &'static str;
    /// Returned for a missing or invalid value. The call is refused before it is used.
    const PLACEHOLDER: Self;

    /// Converts a JSON value, or returns `None` if that is not possible.
    fn coerce(value: &'a Value, arena: &'a Bump) -> Option<Self>;

    /// Parses the text of an enum value.
    fn from_choice(text: &'a str) -> Option<Self>;

    /// Whether the values are equal. The numbers 1 and 1.0 are.
    fn is_same(self, other: Self) -> bool;

    /// The value as a number, if it is one.
    fn number(self) -> Option<Number> {
        None
    }
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

    fn from_choice(text: &'a str) -> Option<Self> {
        Some(text)
    }

    fn is_same(self, other: Self) -> bool {
        self == other
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

    fn from_choice(text: &'a str) -> Option<Self> {
        text.parse().ok()
    }

    fn is_same(self, other: Self) -> bool {
        self == other
    }

    fn number(self) -> Option<Number> {
        Some(Number::Integer(self))
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

    fn from_choice(text: &'a str) -> Option<Self> {
        scalar::parse_exact_number(text)
    }

    fn is_same(self, other: Self) -> bool {
        Number::is_same(self, other)
    }

    fn number(self) -> Option<Number> {
        Some(self)
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

    fn from_choice(text: &'a str) -> Option<Self> {
        scalar::parse_boolean(text)
    }

    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

/// Whether a number may have been written as an integer that is too large for 64 bits. The JSON parser turns
/// such integers into the nearest float.
fn is_beyond_64_bits(float: f64) -> bool {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    float <= -TWO_TO_THE_63 || float >= 2.0 * TWO_TO_THE_63
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
}
