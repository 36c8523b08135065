//! Reads the arguments of a call as typed values, and collects the errors in them.

use bumpalo::Bump;
use climax_catalog::facts::LimitOrigin;
use climax_catalog::rows::Rows;
use climax_catalog::tables::LimitRow;
use climax_core::scalar::Number;
use climax_policy::limit::{LimitRef, LimitTarget, truncate_for_message};
use serde_json::{Map, Value};

use crate::argv::ArgvWord;
use crate::value::ArgumentValue;

/// Reads the arguments of one call. It does not stop at an error: it records the error and returns a
/// placeholder.
pub struct ArgumentReader<'a> {
    arguments: &'a Map<String, Value>,
    /// Owns the strings and lists that coercion creates.
    arena: &'a Bump,
    limits: ArgumentLimits<'a>,
    missing: Vec<String>,
    invalid: Vec<String>,
    policy_violations: Vec<String>,
}

/// The limits that the config and policies set for a tool's arguments.
#[derive(Clone, Copy, Default)]
pub struct ArgumentLimits<'a> {
    /// The limits; empty if there are none.
    pub rows: Rows<'a, LimitRow>,
    /// The catalog's text, which the rows refer to.
    pub text: &'a str,
}

impl<'a> ArgumentLimits<'a> {
    /// The names of the arguments whose values may start with a dash: those whose limits of values all have a
    /// pattern that starts with a literal dash.
    pub(crate) fn allowing_leading_dash(self) -> Vec<&'a str> {
        let name = |limit: &LimitRow| limit.argument.of(self.text);
        let of_values = || {
            let rows = self.rows.iter();
            rows.filter(|limit| limit.target == LimitTarget::Value)
        };
        let is_allowing = |limit: &LimitRow| {
            let mut rows = of_values().filter(|other| name(other) == name(limit));
            rows.all(|row| row.begins_with_dash)
        };
        let allowing = of_values().filter(is_allowing);
        allowing.map(|limit| name(&limit)).collect()
    }
}

/// Why a call is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum CallRefusal {
    /// The arguments are invalid.
    Arguments(Vec<String>),
    /// A policy does not allow them.
    Policy(Vec<String>),
}

impl<'a> ArgumentReader<'a> {
    /// Creates a reader.
    #[must_use]
    pub fn new(
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

    /// Fails if there are errors: missing arguments first, then invalid ones in definition order, then
    /// `other_errors`. Policy violations are reported only if there are no other errors.
    ///
    /// # Errors
    /// Why the call is refused.
    pub fn finish(mut self, mut other_errors: Vec<String>) -> Result<(), CallRefusal> {
        self.check_required_by_policies();
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
    pub fn required<T: ArgumentValue<'a>>(&mut self, name: &str) -> T {
        if self.get_non_null(name).is_none() {
            self.report_missing(name);
        }
        self.optional(name).unwrap_or(T::PLACEHOLDER)
    }

    /// An optional value.
    #[inline(never)]
    pub fn optional<T: ArgumentValue<'a>>(&mut self, name: &str) -> Option<T> {
        let value = self.get_non_null(name)?;
        self.coerced(name, value)
    }

    /// An optional value with a default.
    #[inline(never)]
    pub fn or<T: ArgumentValue<'a>>(&mut self, name: &str, default: T) -> T {
        self.optional(name).unwrap_or(default)
    }

    /// The index of a required enum value. `values` has one value per line, as the command line has them.
    pub fn required_choice(
        &mut self,
        name: &str,
        choice_type: ChoiceType,
        values: &'a str,
    ) -> usize {
        if self.get_non_null(name).is_none() {
            self.report_missing(name);
        }
        self.optional_choice(name, choice_type, values).unwrap_or(0)
    }

    /// The index of an optional enum value.
    pub fn optional_choice(
        &mut self,
        name: &str,
        choice_type: ChoiceType,
        values: &'a str,
    ) -> Option<usize> {
        let value = self.get_non_null(name)?;
        match choice_type {
            ChoiceType::Text => self.choice::<&str>(name, value, values)?.0,
            ChoiceType::Integer => self.choice::<i64>(name, value, values)?.0,
            ChoiceType::Number => self.choice::<Number>(name, value, values)?.0,
        }
        .into()
    }

    /// The index of an optional enum value with a default.
    pub fn choice_or(
        &mut self,
        name: &str,
        choice_type: ChoiceType,
        values: &'a str,
        default: usize,
    ) -> usize {
        self.optional_choice(name, choice_type, values)
            .unwrap_or(default)
    }

    /// The items of a required list. An empty list counts as missing. `choices` has one allowed item per line;
    /// `None` allows any.
    #[inline(never)]
    pub fn required_list<T: ArgumentValue<'a>>(
        &mut self,
        name: &str,
        choices: Option<&'a str>,
    ) -> &'a [T] {
        if self.is_absent_list(name) {
            self.report_missing(name);
            return &[];
        }
        self.list(name, choices)
    }

    /// The items of an optional list; empty if it is absent. A value that is not a list counts as its only item.
    #[inline(never)]
    pub fn list<T: ArgumentValue<'a>>(&mut self, name: &str, choices: Option<&'a str>) -> &'a [T] {
        let value = self.get_non_null(name);
        let Some(value) = value.filter(|_| !self.is_absent_list(name)) else {
            return &[];
        };
        let values = match value {
            Value::Array(values) => values.as_slice(),
            single => std::slice::from_ref(single),
        };
        self.check_count(name, values.len());
        let items: Vec<T> = values
            .iter()
            .filter_map(|value| match choices {
                None => self.coerced(name, value),
                Some(choices) => self.choice(name, value, choices).map(|(_, choice)| choice),
            })
            .collect();
        self.arena.alloc_slice_copy(&items)
    }

    /// The items of an optional list with a default.
    #[inline(never)]
    pub fn list_or<T: ArgumentValue<'a>>(
        &mut self,
        name: &str,
        choices: Option<&'a str>,
        default: &'a [T],
    ) -> &'a [T] {
        if self.is_absent_list(name) {
            default
        } else {
            self.list(name, choices)
        }
    }

    /// The entries of a required map. An empty map counts as missing. `sign` stands between key and value on the
    /// command line.
    pub fn required_map(&mut self, name: &str, sign: &str) -> &'a [&'a str] {
        if self.is_absent_map(name) {
            self.report_missing(name);
            return &[];
        }
        self.map(name, sign)
    }

    /// The entries of an optional map, each as the command line has it: the key, `sign` and the value. Without the
    /// argument, there are none.
    pub fn map(&mut self, name: &str, sign: &str) -> &'a [&'a str] {
        let Some(value) = self.get_non_null(name) else {
            return &[];
        };
        let Value::Object(entries) = value else {
            self.report_invalid(name, value, "object");
            return &[];
        };
        let mut texts: Vec<&'a str> = Vec::new();
        for (key, value) in entries {
            if key.is_empty() || key.contains(sign) {
                let key = truncate_for_message(key);
                self.invalid.push(format!(
                    "Argument '{name}': key '{key}' must not be empty or contain '{sign}'"
                ));
                continue;
            }
            self.check_limits(name, LimitTarget::Key, key, None);
            if let Some(value) = self.converted::<&str>(name, value) {
                let text = self.arena.alloc_str(&format!("{key}{sign}{value}"));
                self.check_limits(name, LimitTarget::Value, text, None);
                texts.push(text);
            }
        }
        self.arena.alloc_slice_copy(&texts)
    }

    /// `null` counts as absent.
    fn get_non_null(&self, name: &str) -> Option<&'a Value> {
        self.arguments.get(name).filter(|value| !value.is_null())
    }

    /// Whether a list is absent or empty.
    fn is_absent_list(&self, name: &str) -> bool {
        match self.get_non_null(name) {
            Some(Value::Array(items)) => items.is_empty(),
            other => other.is_none(),
        }
    }

    /// Whether a map is absent or empty.
    fn is_absent_map(&self, name: &str) -> bool {
        match self.get_non_null(name) {
            Some(Value::Object(entries)) => entries.is_empty(),
            other => other.is_none(),
        }
    }

    /// The enum value that equals a JSON value, with its index.
    fn choice<T: ArgumentValue<'a>>(
        &mut self,
        name: &str,
        value: &'a Value,
        values: &'a str,
    ) -> Option<(usize, T)> {
        let given: T = self.converted(name, value)?;
        let mut choices = values.split('\n').enumerate();
        let found = choices.find_map(|(index, text)| {
            let known = T::from_choice(text).filter(|known| known.is_same(given))?;
            Some((index, text, known))
        });
        let Some((index, text, known)) = found else {
            let values = values.replace('\n', ", ");
            self.invalid
                .push(format!("Argument '{name}' must be one of: {values}"));
            return None;
        };
        // Limits apply to the enum's own text, because that is what the command gets.
        self.check_limits(name, LimitTarget::Value, text, ArgumentValue::number(known));
        Some((index, known))
    }

    fn coerced<T: ArgumentValue<'a>>(&mut self, name: &str, value: &'a Value) -> Option<T> {
        let coerced = self.converted::<T>(name, value)?;
        if !self.limits.rows.is_empty() {
            for word in coerced.into_argv_words() {
                self.check_limits(name, LimitTarget::Value, &word.text(), word.number());
            }
        }
        Some(coerced)
    }

    fn converted<T: ArgumentValue<'a>>(&mut self, name: &str, value: &'a Value) -> Option<T> {
        let converted = T::coerce(value, self.arena);
        if converted.is_none() {
            self.report_invalid(name, value, T::NAME);
        }
        converted
    }

    fn check_count(&mut self, name: &str, count: usize) {
        let count = Number::Integer(count.try_into().unwrap_or(i64::MAX));
        self.check_limits(name, LimitTarget::Count, "", Some(count));
    }

    fn check_limits(
        &mut self,
        name: &str,
        target: LimitTarget,
        text: &str,
        number: Option<Number>,
    ) {
        let limits = self.limits;
        for limit in limits.rows.iter() {
            if limit.target != target || limit.argument.of(limits.text) != name {
                continue;
            }
            let limit_ref = LimitRef {
                target,
                pattern: limit.pattern.map_or("", |piece| piece.of(limits.text)),
                min: limit.min,
                max: limit.max,
            };
            let errors = match limit.origin {
                LimitOrigin::Config => &mut self.invalid,
                LimitOrigin::Policy => &mut self.policy_violations,
            };
            limit_ref.check(name, text, number, errors);
        }
    }

    /// Adds a violation for each argument that policies require and the call does not give. An empty text counts as
    /// missing, because programs take it for their default.
    fn check_required_by_policies(&mut self) {
        let limits = self.limits;
        let required = limits.rows.iter().filter(|limit| limit.is_required);
        for limit in required {
            let name = limit.argument.of(limits.text);
            let is_empty = self.get_non_null(name) == Some(&Value::String(String::new()));
            if is_empty || self.is_absent_list(name) || self.is_absent_map(name) {
                let line = format!("Missing required argument '{name}'");
                if !self.policy_violations.contains(&line) {
                    self.policy_violations.push(line);
                }
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
        Value::String(text) => truncate_for_message(text),
        other => truncate_for_message(&other.to_string()),
    }
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
pub fn choice(choice_type: ChoiceType, values: &str, index: usize) -> ArgvWord<'_> {
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
pub fn choice_text(values: &str, index: usize) -> &str {
    let value = values.split('\n').nth(index);
    value.expect("an enum has a value for each variant")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    fn read_list(
        arguments: &Value,
        read: impl for<'a> FnOnce(&mut ArgumentReader<'a>) -> &'a [&'a str],
    ) -> Result<Vec<String>, CallRefusal> {
        let arena = Bump::new();
        let arguments = arguments.as_object().expect("an object");
        let mut reader = ArgumentReader::new(arguments, &arena, ArgumentLimits::default());
        let items = read(&mut reader).iter().map(|item| (*item).to_owned());
        let items = items.collect();
        reader.finish(Vec::new()).map(|()| items)
    }

    #[test]
    fn an_empty_map_is_no_empty_list_and_an_empty_list_no_empty_map() {
        let refused = |line: &str| Err(CallRefusal::Arguments(vec![line.to_owned()]));
        let (list, map) = (json!({"x": []}), json!({"x": {}}));
        let missing = "Missing required argument 'x'";
        let no_text = "Argument 'x': cannot convert '{}' to string";
        let no_map = "Argument 'x': cannot convert '[]' to object";
        assert_eq!(
            read_list(&list, |reader| reader.required_list("x", None)),
            refused(missing)
        );
        assert_eq!(
            read_list(&map, |reader| reader.required_list("x", None)),
            refused(no_text)
        );
        assert_eq!(
            read_list(&map, |reader| reader.list_or("x", None, &["a"])),
            refused(no_text)
        );
        assert_eq!(
            read_list(&map, |reader| reader.required_map("x", "=")),
            refused(missing)
        );
        assert_eq!(
            read_list(&list, |reader| reader.required_map("x", "=")),
            refused(no_map)
        );
    }

    #[test]
    fn a_list_whose_only_choice_is_empty_allows_nothing_else() {
        let read = |value: &str| {
            let arguments = json!({"x": [value]});
            read_list(&arguments, |reader| reader.list("x", Some("")))
        };
        assert_eq!(read(""), Ok(vec![String::new()]));
        let line = "Argument 'x' must be one of: ".to_owned();
        assert_eq!(read("-x"), Err(CallRefusal::Arguments(vec![line])));
    }

    #[test]
    fn a_long_value_is_cut_off_in_the_message() {
        let text = format_value(&json!("ä".repeat(1000)));
        assert_eq!(text.chars().count(), 201);
    }
}
