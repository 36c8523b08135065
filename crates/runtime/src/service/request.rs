//! Turns the arguments of `climax_search` and `climax_call` into requests.

use serde_json::{Map, Value};

use climax_core::scalar;

use super::{Answer, Request};
use crate::call::answer::CallAnswer;
use crate::call::arguments::CallRefusal;
use crate::search::SearchQuery;

const DEFAULT_LIMIT: usize = 10;

/// Reads the arguments of `climax_search`. A value that is not a string is searched for as JSON text.
pub(crate) fn search_query(mut arguments: Map<String, Value>) -> SearchQuery {
    let limit = result_limit(arguments.get("limit"));
    let mut filter = |name: &str| match arguments.remove(name)? {
        Value::String(text) => Some(text),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    SearchQuery {
        text: filter("query"),
        category: filter("category"),
        cli: filter("cli"),
        limit,
    }
}

/// Reads the `limit` argument: `2`, `2.0` and `"2"` are 2, numbers below 1 are 0, anything else is the default.
fn result_limit(value: Option<&Value>) -> usize {
    let integer = match value {
        Some(Value::Number(number)) if number.is_f64() => number
            .as_f64()
            .filter(|float| float.fract() == 0.0)
            .map(saturating_integer),
        Some(Value::Number(number)) => number.as_i64().or(Some(i64::MAX)),
        Some(Value::String(text)) => scalar::parse_integer(text),
        _ => None,
    };
    match integer {
        Some(limit) => usize::try_from(limit).unwrap_or(0),
        None => DEFAULT_LIMIT,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn saturating_integer(whole: f64) -> i64 {
    whole as i64
}

/// Reads the arguments of `climax_call`.
///
/// # Errors
/// An answer that lists the problems with the arguments.
pub(super) fn call_request(mut arguments: Map<String, Value>) -> Result<Request, Answer> {
    let refuse =
        |reason: String| Err(CallAnswer::refusal(&CallRefusal::Arguments(vec![reason])).into());
    let call = |tool, arguments| Ok(Request::Call { tool, arguments });
    let name = match arguments.remove("tool_name") {
        Some(Value::String(name)) => name,
        None | Some(Value::Null) => {
            return refuse("Missing required argument 'tool_name'".to_owned());
        }
        Some(other) => {
            return refuse(format!(
                "Argument 'tool_name' must be a string, not {other}"
            ));
        }
    };
    match arguments.remove("args") {
        None | Some(Value::Null) => call(name, Map::new()),
        Some(Value::Object(arguments)) => call(name, arguments),
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => call(name, arguments),
            _ => refuse("Argument 'args' must be an object, not text".to_owned()),
        },
        Some(other) => refuse(format!(
            "Argument 'args' must be an object, not {}",
            match other {
                Value::Array(_) => "a list",
                Value::Bool(_) => "a boolean",
                _ => "a number",
            }
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registration::json_object;
    use serde_json::json;

    #[test]
    fn numbers_and_numeric_strings_are_limits_and_anything_else_is_the_default() {
        for (value, expected) in [
            (json!(2), 2),
            (json!(2.0), 2),
            (json!("2"), 2),
            (json!(0), 0),
            (json!(-5), 0),
            (json!(-1e30), 0),
            (json!(1e30), usize::try_from(i64::MAX).expect("64 bits")),
            (json!("many"), 10),
            (json!(null), 10),
            (json!([1]), 10),
            (json!(2.5), 10),
        ] {
            assert_eq!(result_limit(Some(&value)), expected, "{value}");
        }
        assert_eq!(result_limit(None), 10);
    }

    #[test]
    fn a_null_filter_is_absent() {
        let query = search_query(json_object(
            json!({"query": null, "cli": "git", "category": 5}),
        ));
        assert_eq!(query.text, None);
        assert_eq!(query.cli.as_deref(), Some("git"));
        assert_eq!(query.category.as_deref(), Some("5"));
    }

    /// The tool and arguments of the call, or the text of the refusal.
    fn read_call(arguments: Map<String, Value>) -> Result<(String, Map<String, Value>), String> {
        match call_request(arguments) {
            Ok(Request::Call { tool, arguments }) => Ok((tool, arguments)),
            Ok(_) => panic!("not a call"),
            Err(answer) => Err(answer.text),
        }
    }

    #[test]
    fn args_may_be_absent_or_a_string_with_a_json_object() {
        for args in [
            json!({"tool_name": "x"}),
            json!({"tool_name": "x", "args": null}),
        ] {
            assert_eq!(
                read_call(json_object(args)),
                Ok(("x".to_owned(), Map::new()))
            );
        }
        let text = json!({"tool_name": "x", "args": "{\"a\": 1}"});
        assert_eq!(
            read_call(json_object(text)),
            Ok(("x".to_owned(), json_object(json!({"a": 1}))))
        );
    }

    #[test]
    fn invalid_call_arguments_are_refused() {
        for (arguments, line) in [
            (json!({}), "Missing required argument 'tool_name'"),
            (
                json!({"tool_name": 5}),
                "Argument 'tool_name' must be a string, not 5",
            ),
            (
                json!({"tool_name": "x", "args": [1]}),
                "Argument 'args' must be an object, not a list",
            ),
            (
                json!({"tool_name": "x", "args": 7}),
                "Argument 'args' must be an object, not a number",
            ),
            (
                json!({"tool_name": "x", "args": "[1]"}),
                "Argument 'args' must be an object, not text",
            ),
        ] {
            assert_eq!(
                read_call(json_object(arguments)),
                Err(format!("Argument validation failed:\n  - {line}"))
            );
        }
    }
}
