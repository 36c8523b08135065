//! Limits of an argument: whether a value is allowed, and how the schema says it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use climax_core::scalar::Number;
use serde_json::{Map, Value, json};

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

    /// A property of a JSON Schema that says what is allowed, made from one that does not. What the
    /// property says already goes on to hold.
    #[must_use]
    pub fn property(&self, property: &str) -> String {
        let Ok(mut property) = serde_json::from_str::<Map<String, Value>>(property) else {
            return property.to_owned();
        };
        if let Some(pattern) = &self.pattern {
            match &pattern.schema {
                None => describe(&mut property, &pattern.text),
                Some(schema) if property.contains_key("pattern") => {
                    let all = property.entry("allOf").or_insert_with(|| json!([]));
                    if let Value::Array(all) = all {
                        all.push(json!({"pattern": schema}));
                    }
                }
                Some(schema) => {
                    property.insert("pattern".to_owned(), schema.as_str().into());
                }
            }
        }
        if let Some(Value::Array(values)) = property.get_mut("enum") {
            values.retain(|value| self.bounds().allows(value));
        }
        narrow(&mut property, "minimum", self.min, Ordering::Greater);
        narrow(&mut property, "maximum", self.max, Ordering::Less);
        Value::from(property).to_string()
    }
}

/// An input schema that says what limits allow, made from one that does not.
#[must_use]
pub fn constrained(schema: &str, limits: &BTreeMap<String, Limit>) -> String {
    let Ok(mut schema) = serde_json::from_str::<Value>(schema) else {
        return schema.to_owned();
    };
    for (argument, limit) in limits {
        if let Some(property) = schema["properties"].get_mut(argument) {
            let narrowed = serde_json::from_str(&limit.property(&property.to_string()));
            *property = narrowed.unwrap_or_default();
        }
    }
    schema.to_string()
}

/// JSON Schema knows no flags, so a pattern that has some is told in words.
fn describe(property: &mut Map<String, Value>, pattern: &str) {
    let text = property.get("description").and_then(Value::as_str);
    let text = text.map_or(String::new(), |text| format!("{text} "));
    let text = format!("{text}(must match {pattern})");
    property.insert("description".to_owned(), text.into());
}

/// The stricter one of what is there and what comes.
fn narrow(property: &mut Map<String, Value>, key: &str, limit: Option<Number>, stricter: Ordering) {
    let Some(limit) = limit else { return };
    let old = property.get(key).and_then(number);
    if old.is_none_or(|old| limit.compare(old) == Some(stricter)) {
        property.insert(key.to_owned(), json_number(limit));
    }
}

/// A value of a schema as a word of a command line, and as a number if it is one.
pub(crate) fn word(value: &Value) -> (String, Option<Number>) {
    let number = number(value);
    let text = match (number, value) {
        (Some(number), _) => number.to_string(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    };
    (text, number)
}

/// The number that JSON holds, if it is one.
fn number(value: &Value) -> Option<Number> {
    let integer = value.as_i64().map(Number::Integer);
    integer.or_else(|| value.as_f64().map(Number::Float))
}

fn json_number(number: Number) -> Value {
    match number {
        Number::Integer(integer) => integer.into(),
        Number::Float(float) => float.into(),
    }
}

impl Bounds<'_> {
    /// Whether a value of a schema is allowed.
    #[must_use]
    pub fn allows(&self, value: &Value) -> bool {
        let (text, number) = word(value);
        let mut errors = Vec::new();
        self.check("", &text, number, &mut errors);
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
            let min = Number::Float(min.float());
            errors.push(format!(
                "Argument '{argument}': value {value} is below minimum {min}"
            ));
        }
        if let Some(max) = self.max
            && !matches!(value.compare(max), Some(Ordering::Less | Ordering::Equal))
        {
            let max = Number::Float(max.float());
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

    #[test]
    fn the_schema_says_what_is_allowed() {
        let property = r#"{"type":"integer","default":3,"minimum":2}"#;
        let limit = Limit {
            pattern: Some(Pattern::parse("[0-9]").expect("a pattern")),
            min: Some(Number::Integer(1)),
            max: Some(Number::Float(4.5)),
        };
        let once = limit.property(property);
        assert_eq!(
            once,
            r#"{"type":"integer","default":3,"minimum":2,"pattern":"^(?:[0-9])$","maximum":4.5}"#
        );
        assert_eq!(
            pattern("^1$").property(&once),
            r#"{"type":"integer","default":3,"minimum":2,"pattern":"^(?:[0-9])$","maximum":4.5,"allOf":[{"pattern":"^1$"}]}"#
        );
        assert_eq!(
            pattern("(?i)a").property(r#"{"type":"string"}"#),
            r#"{"type":"string","description":"(must match (?i)a)"}"#
        );
    }
}
