//! The two tools of the default mode: how they are registered, and how their arguments are read.

use serde_json::{Map, Value};

use climax_core::scalar;

use crate::call::answer::Answer;
use crate::call::arguments::Refusal;
use crate::search::Query;

/// The name of the search tool.
pub(crate) const SEARCH: &str = "climax_search";
/// The name of the tool that calls others.
pub(crate) const CALL: &str = "climax_call";

const DEFAULT_LIMIT: usize = 10;

/// Both tools as `tools/list` shows them. Clients that hide tools until they are asked for must not
/// hide the way to ask for them, hence `alwaysLoad`.
pub(crate) const REGISTRATION: &str = concat!(
    r#"[{"name":"climax_search","title":"Search CLI tools","#,
    r#""description":"Search for available CLI tools by keyword, category, or CLI name. "#,
    r#"Call with no filters to get a summary of all available CLIs.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""query":{"type":"string","description":"Search keyword (matched against tool name, description, CLI name, category, tags)"},"#,
    r#""category":{"type":"string","description":"Filter by CLI category (exact match, case-insensitive)"},"#,
    r#""cli":{"type":"string","description":"Filter by CLI name (exact match, case-insensitive)"},"#,
    r#""limit":{"type":"integer","description":"Maximum number of results to return (default: 10)","default":10}}},"#,
    r#""annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"#,
    r#""_meta":{"anthropic/alwaysLoad":true}},"#,
    r#"{"name":"climax_call","title":"Call a CLI tool","#,
    r#""description":"Execute a CLI tool by name. Use climax_search first to discover available tools and their argument schemas.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""tool_name":{"type":"string","description":"The exact name of the tool to execute (as returned by climax_search)"},"#,
    r#""args":{"type":"object","description":"Arguments to pass to the tool (see tool's input_schema from climax_search)"}},"#,
    r#""required":["tool_name"]},"#,
    r#""annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true},"#,
    r#""_meta":{"anthropic/alwaysLoad":true}}]"#,
);

/// Reads the arguments of a search. What is not text is searched for as JSON.
pub(crate) fn query(mut arguments: Map<String, Value>) -> Query {
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

/// Reads the arguments of a call: the tool's name, and the tool's own arguments.
pub(crate) fn target(
    mut arguments: Map<String, Value>,
) -> Result<(String, Map<String, Value>), Answer> {
    let refuse = |reason: String| Err(Answer::refusal(&Refusal::Arguments(vec![reason])));
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
        None | Some(Value::Null) => Ok((name, Map::new())),
        Some(Value::Object(arguments)) => Ok((name, arguments)),
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => Ok((name, arguments)),
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
    fn the_registration_is_json() {
        let tools: Value = serde_json::from_str(REGISTRATION).expect("valid JSON");
        assert_eq!(tools[0]["name"], SEARCH);
        assert_eq!(tools[1]["name"], CALL);
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
        let query = query(object(json!({"query": null, "cli": "git", "category": 5})));
        assert_eq!(query.text, None);
        assert_eq!(query.cli.as_deref(), Some("git"));
        assert_eq!(query.category.as_deref(), Some("5"));
    }

    /// What is to be called, or the words of the refusal.
    fn taken(arguments: Map<String, Value>) -> Result<(String, Map<String, Value>), String> {
        target(arguments).map_err(|refusal| refusal.text)
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
