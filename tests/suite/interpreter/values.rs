//! Converts JSON values of calls and configs to the types of arguments.

use std::cmp::Ordering;

use serde_json::Value;

use super::ArgumentDefinition;

/// A value after conversion to its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TypedValue {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

impl TypedValue {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(integer) => integer.to_string(),
            Self::Float(float) => python_float(*float),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the bounds are small")]
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            Self::Text(_) | Self::Boolean(_) => None,
        }
    }

    /// The numbers 1 and 1.0 are equal.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(one), Some(other)) => one.partial_cmp(&other) == Some(Ordering::Equal),
            _ => self == other,
        }
    }
}

/// A value of a call as a value of a type, if it can be converted.
pub(super) fn convert(value: &Value, type_name: &str) -> Option<TypedValue> {
    match type_name {
        "string" => to_text(value).map(TypedValue::Text),
        "integer" => to_integer(value).map(TypedValue::Integer),
        "number" => to_number(value),
        _ => to_boolean(value).map(TypedValue::Boolean),
    }
}

fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        Value::Number(number) if number.is_f64() => {
            // Beyond 64 bits, the number may be a rounded integer.
            let float = number
                .as_f64()
                .filter(|float| (-MAX / 2.0 < *float) && *float < MAX);
            float.map(python_float)
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// 2 to the power of 64.
const MAX: f64 = 18_446_744_073_709_551_616.0;

fn to_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(boolean) => Some((*boolean).into()),
        Value::String(text) => {
            let text = text.trim();
            let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'+' || byte == b'-';
            text.parse()
                .ok()
                .filter(|_: &i64| text.bytes().all(is_plain))
        }
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            format!("{float:.0}").parse().ok()
        }
        other => other.as_i64(),
    }
}

fn to_number(value: &Value) -> Option<TypedValue> {
    match value {
        Value::Bool(boolean) => Some(TypedValue::Float(f64::from(u8::from(*boolean)))),
        Value::String(text) => {
            let float = text.trim().parse().ok();
            float
                .filter(|float: &f64| float.is_finite())
                .map(TypedValue::Float)
        }
        Value::Number(number) if number.is_f64() => number.as_f64().map(TypedValue::Float),
        other => other.as_i64().map(TypedValue::Integer),
    }
}

fn to_boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(boolean) => Some(*boolean),
        Value::String(text) => text.to_ascii_lowercase().parse().ok(),
        Value::Number(number) if !number.is_f64() => Some(number.to_string() != "0"),
        _ => None,
    }
}

/// A value of a config. Text stays an integer if it looks like one.
fn configured(value: &Value, type_name: &str) -> TypedValue {
    let value = match value.as_str().and_then(|text| text.parse::<i64>().ok()) {
        Some(integer) if type_name == "number" => &Value::from(integer),
        _ => value,
    };
    convert(value, type_name).expect("the config is valid")
}

/// The values of `enum`.
pub(super) fn choices(definition: &ArgumentDefinition) -> Option<Vec<TypedValue>> {
    let choices = definition.choices.as_ref()?.iter();
    let type_name = definition.value_type();
    Some(choices.map(|value| configured(value, type_name)).collect())
}

/// The values of `default`.
pub(super) fn defaults(definition: &ArgumentDefinition) -> Vec<TypedValue> {
    let type_name = definition.value_type();
    let values = match &definition.default {
        Value::Null => &[],
        Value::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let values = values.iter();
    values.map(|value| configured(value, type_name)).collect()
}

/// A float as Python writes it. Rust changes to exponents at the same values, but writes them shorter.
pub(super) fn python_float(float: f64) -> String {
    let text = format!("{float:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// A value in a message: at most 200 characters.
pub(super) fn shorten(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(200).collect();
    let end = if characters.next().is_some() {
        "…"
    } else {
        ""
    };
    start + end
}
