//! A client of the discovery suite.

use serde_json::Value;

use crate::{Server, text};

/// The names of the four tools.
pub const SEARCH: &str = "search_mcp_tools";
/// See [`SEARCH`].
pub const DETAILS: &str = "get_tool_details";
/// See [`SEARCH`].
pub const CATEGORIES: &str = "list_tool_categories";
/// See [`SEARCH`].
pub const CAPABILITY: &str = "search_tools_by_capability";

/// Asks a tool of the suite, which has to answer.
///
/// # Panics
/// The answer is not so.
pub fn expect_success(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let response = server.call_registered(tool, arguments);
    assert!(!response.is_error, "{arguments}: {response:?}");
    assert!(!response.text.contains('\n'), "{}", response.text);
    let response = response.json();
    let responses = response
        .as_array()
        .cloned()
        .unwrap_or(vec![response.clone()]);
    for response in &responses {
        if response["success"] == true {
            assert_eq!(response["version"], "1.0", "{response}");
            assert_timestamp(&response["timestamp"]);
        }
    }
    response
}

/// What is wrong with a request, and the whole error.
///
/// # Panics
/// The answer is not so.
pub fn expect_refusal(server: &mut Server, tool: &str, arguments: &Value) -> (Vec<String>, Value) {
    let response = server.call_registered(tool, arguments);
    assert!(response.is_error, "{arguments}: {response:?}");
    let response = response.json();
    assert_eq!(response["success"], false, "{response}");
    let error = &response["error"];
    assert_eq!(error["tool"], tool);
    assert_timestamp(&error["timestamp"]);
    assert!(error["suggestions"].is_array(), "{error}");
    let message = text(&error["message"]);
    let problems = message.strip_prefix("Parameter validation errors: ");
    let problems = problems.unwrap_or(&message).split("; ").map(str::to_owned);
    (problems.collect(), error.clone())
}

/// `2026-11-16 17:30:00 UTC`.
fn assert_timestamp(value: &Value) {
    let moment = text(value);
    let shape: String = moment
        .chars()
        .map(|it| if it.is_ascii_digit() { '0' } else { it })
        .collect();
    assert_eq!(shape, "0000-00-00 00:00:00 UTC");
}

/// The results of a search.
///
/// # Panics
/// The answer is not so.
#[must_use]
pub fn results(response: &Value) -> &Vec<Value> {
    response["results"].as_array().expect("results")
}

/// The names of the tools that a search finds.
///
/// # Panics
/// The answer is not so.
pub fn matching_tools(server: &mut Server, arguments: &Value) -> Vec<String> {
    let response = expect_success(server, SEARCH, arguments);
    results(&response)
        .iter()
        .map(|it| text(&it["tool_id"]))
        .collect()
}

/// The keys of an object, sorted.
///
/// # Panics
/// The answer is not so.
#[must_use]
pub fn sorted_keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

/// A list of texts.
///
/// # Panics
/// The answer is not so.
#[must_use]
pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(text).collect()
}

/// An answer without what differs from time to time.
#[must_use]
pub fn without_times(mut response: Value) -> Value {
    for response in response
        .as_array_mut()
        .map_or(Vec::new(), |all| all.iter_mut().collect())
    {
        *response = without_times(response.take());
    }
    if let Some(object) = response.as_object_mut() {
        object.remove("timestamp");
        object.remove("execution_time");
    }
    response
}

/// The names of the tools in an answer.
#[must_use]
pub fn tool_ids(response: &Value) -> Vec<String> {
    results(response)
        .iter()
        .map(|it| text(&it["tool_id"]))
        .collect()
}

/// How many examples a tool has by its schema: one with what must be given, or what is read if nothing
/// must be, and one with more. Where it runs is no reason for another.
///
/// # Panics
/// These are no details of a tool.
#[must_use]
pub fn expected_examples(details: &Value) -> usize {
    let parameters = details["tool_details"]["parameters"]
        .as_array()
        .expect("a list");
    let guidance = texts(&details["usage_guidance"]["best_practices"]);
    let has_required = parameters.iter().any(|it| it["required"] == true);
    let is_more = |name: String| {
        let is_directory = guidance.contains(&format!("'{name}' says where it runs."));
        let is_read = guidance.contains(&format!("What it is to read goes into '{name}'."));
        !is_directory && (has_required || !is_read)
    };
    let mut optional = parameters.iter().filter(|it| it["required"] == false);
    1 + usize::from(optional.any(|it| is_more(text(&it["name"]))))
}
