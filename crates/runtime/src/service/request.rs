//! Turns the arguments of `climax_search` and `climax_call` into requests.

use std::borrow::Cow;

use climax_core::scalar;
use serde_json::{Map, Value};

use super::Answer;
use crate::call::CallRequest;
use crate::call::answer::CallAnswer;
use crate::call::argument_names::{
    ArgumentName, ignored_arguments_hint, resolve_names, unknown_argument, unknown_parameter,
};
use crate::search::SearchQuery;
use climax_arguments::reader::CallRefusal;

const DEFAULT_LIMIT: usize = 10;

/// The arguments of `climax_search`.
const SEARCH_ARGUMENTS: [&str; 4] = ["query", "category", "cli", "limit"];

/// A search as its client sent it.
pub(crate) struct SearchRequest {
    pub(crate) query: SearchQuery,
    /// Names the arguments that have no meaning.
    pub(crate) hint: Option<String>,
}

/// Reads the arguments of `climax_search`. A value that is not a string is searched for as JSON text.
///
/// # Errors
/// An answer that lists arguments that are given twice.
pub(crate) fn search_request(arguments: &Map<String, Value>) -> Result<SearchRequest, Answer> {
    let names = SEARCH_ARGUMENTS.map(ArgumentName::text);
    let resolved = resolve_names(arguments, &names);
    if !resolved.errors.is_empty() {
        return Err(refusal(resolved.errors));
    }
    let unknown = resolved.unknown.iter();
    let hint = ignored_arguments_hint(
        unknown.map(|(key, value)| unknown_argument(key, value, &names, &names)),
    );
    let filter = |name: &str| match resolved.arguments.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let query = SearchQuery {
        text: filter("query"),
        category: filter("category"),
        cli: filter("cli"),
        limit: result_limit(resolved.arguments.get("limit")),
    };
    Ok(SearchRequest { query, hint })
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

/// The names under which agents pass the name of a tool. All but the first are accepted if the first is absent.
const TOOL_KEYS: [&str; 3] = ["tool_name", "tool", "name"];

/// The names under which agents pass a tool's arguments. All but the first are accepted if the first is absent.
const ARGS_NAMES: [&str; 5] = ["args", "arguments", "parameters", "params", "input"];

/// Reads the arguments of `climax_call`.
///
/// # Errors
/// An answer that lists the problems with the arguments.
pub(super) fn call_request(mut arguments: Map<String, Value>) -> Result<CallRequest, Answer> {
    let named = resolve_names(&arguments, &["tool_name", "args"].map(ArgumentName::text));
    if !named.errors.is_empty() {
        return Err(refusal(named.errors));
    }
    let renamed = match named.arguments {
        Cow::Owned(renamed) => Some(renamed),
        Cow::Borrowed(_) => None,
    };
    arguments = renamed.unwrap_or(arguments);
    let refuse = |reason: String| Err(refusal(vec![reason]));
    let is_present = |name: &&str| arguments.get(*name).is_some_and(|value| !value.is_null());
    let tool_key = TOOL_KEYS.into_iter().find(is_present);
    let tool = match arguments.shift_remove(tool_key.unwrap_or(TOOL_KEYS[0])) {
        Some(Value::String(name)) => name,
        None | Some(Value::Null) => {
            let mut lines = vec!["Missing required argument 'tool_name'".to_owned()];
            let is_known = |name: &str| name == "args" || ARGS_NAMES.contains(&name);
            let unknown = arguments.iter().filter(|(name, _)| !is_known(name));
            lines.extend(unknown.map(|(name, value)| unknown_parameter(name, value, &[], &[])));
            return Err(refusal(lines));
        }
        Some(other) => {
            return refuse(format!(
                "Argument 'tool_name' must be a string, not {other}"
            ));
        }
    };
    let is_present = |name: &&str| arguments.get(*name).is_some_and(|value| !value.is_null());
    let args_name = ARGS_NAMES.into_iter().find(is_present).unwrap_or("args");
    let args = match arguments.shift_remove(args_name) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(args)) => args,
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(args)) => args,
            Ok(_) => {
                return refuse(format!(
                    "Argument '{args_name}' must be an object, not text"
                ));
            }
            Err(_) => {
                return refuse(format!(
                    "Argument '{args_name}' must be an object; this text is not valid JSON"
                ));
            }
        },
        Some(other) => {
            return refuse(format!(
                "Argument '{args_name}' must be an object, not {}",
                match other {
                    Value::Array(_) => "a list",
                    Value::Bool(_) => "a boolean",
                    _ => "a number",
                }
            ));
        }
    };
    arguments.shift_remove("args");
    Ok(CallRequest {
        tool,
        arguments: args,
        unknown_parameters: arguments,
    })
}

fn refusal(reasons: Vec<String>) -> Answer {
    CallAnswer::refusal(&CallRefusal::Arguments(reasons)).into()
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

    fn read_search(arguments: Value) -> Result<SearchRequest, String> {
        search_request(&json_object(arguments)).map_err(|answer| answer.text)
    }

    #[test]
    fn a_null_filter_is_absent() {
        let arguments = json!({"query": null, "cli": "git", "category": 5});
        let SearchRequest { query, hint } = read_search(arguments).expect("a search");
        assert_eq!(hint, None);
        assert_eq!(query.text, None);
        assert_eq!(query.cli.as_deref(), Some("git"));
        assert_eq!(query.category.as_deref(), Some("5"));
    }

    #[test]
    fn names_of_search_arguments_are_resolved_and_unknown_ones_are_named() {
        let arguments = json!({"Query": "a", "max_results": 3, "q": "b"});
        let request = read_search(arguments).expect("a search");
        assert_eq!(request.query.text.as_deref(), Some("a"));
        assert_eq!(request.query.limit, 10);
        let hint = "Ignored:\n  - Unknown argument 'max_results': did you mean 'limit'?\n  \
                    - Unknown argument 'q': did you mean 'query'?";
        assert_eq!(request.hint.as_deref(), Some(hint));
        let twice = read_search(json!({"query": "a", "Query": "b"})).err();
        let text = "Argument validation failed:\n  \
                    - Argument 'query' is given twice: as 'query' and 'Query'";
        assert_eq!(twice.as_deref(), Some(text));
    }

    /// The tool and arguments of the call, or the text of the refusal.
    fn read_call(arguments: Map<String, Value>) -> Result<(String, Map<String, Value>), String> {
        match call_request(arguments) {
            Ok(call) => Ok((call.tool, call.arguments)),
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
    fn other_names_for_tool_name_are_accepted_if_it_is_absent() {
        for key in ["tool", "name", "Tool_Name"] {
            let call = json_object(json!({key: "x", "args": {"a": 1}}));
            let expected = Ok(("x".to_owned(), json_object(json!({"a": 1}))));
            assert_eq!(read_call(call), expected, "{key}");
        }
        let both = json!({"tool_name": "x", "name": "y"});
        let call = call_request(json_object(both)).expect("a call");
        assert_eq!(call.tool, "x");
        assert_eq!(call.unknown_parameters, json_object(json!({"name": "y"})));
    }

    #[test]
    fn other_names_for_args_are_accepted_if_args_is_absent() {
        for name in ["args", "Args", "arguments", "parameters", "params", "input"] {
            for value in [json!({"a": 1}), json!("{\"a\": 1}")] {
                let call = json_object(json!({"tool_name": "x", "args": null, name: value}));
                let expected = if name == "Args" {
                    Err("Argument validation failed:\n  - Argument 'args' is given twice: as 'args' and 'Args'".to_owned())
                } else {
                    Ok(("x".to_owned(), json_object(json!({"a": 1}))))
                };
                assert_eq!(read_call(call), expected, "{name}");
            }
        }
        let both = json!({"toolName": "x", "args": {"a": 1}, "arguments": {"b": 2}, "c": 3});
        let call = call_request(json_object(both)).expect("a call");
        assert_eq!(call.arguments, json_object(json!({"a": 1})));
        let unknown = json!({"arguments": {"b": 2}, "c": 3});
        assert_eq!(call.unknown_parameters, json_object(unknown));
    }

    #[test]
    fn invalid_call_arguments_are_refused() {
        for (arguments, line) in [
            (json!({}), "Missing required argument 'tool_name'"),
            (
                json!({"function": "x", "args": {}}),
                "Missing required argument 'tool_name'\n  - \
                 Unknown argument 'function': expected one of tool_name, args",
            ),
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
            (
                json!({"tool_name": "x", "params": true}),
                "Argument 'params' must be an object, not a boolean",
            ),
        ] {
            assert_eq!(
                read_call(json_object(arguments)),
                Err(format!("Argument validation failed:\n  - {line}"))
            );
        }
    }
}
