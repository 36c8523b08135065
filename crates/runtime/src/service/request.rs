//! Turns the arguments of `climax_search` and `climax_call` into requests.

use serde_json::{Map, Value};

use climax_core::scalar;

use super::{Answer, Request};
use crate::call::answer::CallAnswer;
use crate::call::arguments::CallRefusal;
use crate::search::Query;

const DEFAULT_LIMIT: usize = 10;

/// Reads the arguments of a search. What is not text is searched for as JSON.
pub(crate) fn search_query(mut arguments: Map<String, Value>) -> Query {
    let limit = limit(arguments.get("limit"));
    let mut text = |name: &str| match arguments.remove(name)? {
        Value::String(text) => Some(text),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    Query {
        text: text("query"),
        category: text("category"),
        cli: text("cli"),
        limit,
    }
}

/// `2`, `2.0` and `"2"` are 2; below 1 is none; junk is the default.
fn limit(value: Option<&Value>) -> usize {
    let integer = match value {
        Some(Value::Number(number)) if number.is_f64() => number
            .as_f64()
            .filter(|float| float.fract() == 0.0)
            .map(saturated),
        Some(Value::Number(number)) => number.as_i64().or(Some(i64::MAX)),
        Some(Value::String(text)) => scalar::integer(text),
        _ => None,
    };
    match integer {
        Some(limit) => usize::try_from(limit).unwrap_or(0),
        None => DEFAULT_LIMIT,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
fn saturated(whole: f64) -> i64 {
    whole as i64
}

/// The call that the arguments of `climax_call` ask for, or an answer that says what is wrong with them.
pub(super) fn target(mut arguments: Map<String, Value>) -> Result<Request, Answer> {
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
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn a_limit_is_read_from_what_agents_send() {
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
            assert_eq!(limit(Some(&value)), expected, "{value}");
        }
        assert_eq!(limit(None), 10);
    }

    #[test]
    fn a_filter_that_is_null_is_absent() {
        let query = search_query(object(json!({"query": null, "cli": "git", "category": 5})));
        assert_eq!(query.text, None);
        assert_eq!(query.cli.as_deref(), Some("git"));
        assert_eq!(query.category.as_deref(), Some("5"));
    }

    /// What is to be called, or the words of the refusal.
    fn taken(arguments: Map<String, Value>) -> Result<(String, Map<String, Value>), String> {
        match target(arguments) {
            Ok(Request::Call { tool, arguments }) => Ok((tool, arguments)),
            Ok(_) => panic!("not a call"),
            Err(answer) => Err(answer.text),
        }
    }

    #[test]
    fn arguments_of_a_call_may_be_absent_or_an_object_in_text() {
        for args in [
            json!({"tool_name": "x"}),
            json!({"tool_name": "x", "args": null}),
        ] {
            assert_eq!(taken(object(args)), Ok(("x".to_owned(), Map::new())));
        }
        let text = json!({"tool_name": "x", "args": "{\"a\": 1}"});
        assert_eq!(
            taken(object(text)),
            Ok(("x".to_owned(), object(json!({"a": 1}))))
        );
    }

    #[test]
    fn what_cannot_be_a_call_is_refused() {
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
                taken(object(arguments)),
                Err(format!("Argument validation failed:\n  - {line}"))
            );
        }
    }
}
