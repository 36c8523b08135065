//! Calls of the discovery tools, and access to their JSON responses.

use serde_json::Value;

use crate::{Server, text};

/// Searches tools by a query in plain words.
pub const SEARCH: &str = "search_mcp_tools";
/// Describes tools by name.
pub const DETAILS: &str = "get_tool_details";
/// Lists the categories.
pub const CATEGORIES: &str = "list_tool_categories";
/// Searches tools by what they can do and their parameters.
pub const CAPABILITY: &str = "search_tools_by_capability";

/// Calls a discovery tool and returns its response.
///
/// # Panics
/// The call fails.
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

/// Calls a discovery tool that must refuse the arguments. Returns the validation errors and the whole error.
///
/// # Panics
/// The call succeeds.
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

/// Checks for a timestamp like `2026-11-16 17:30:00 UTC`.
fn assert_timestamp(value: &Value) {
    let shape = text(value).replace(|character: char| character.is_ascii_digit(), "0");
    assert_eq!(shape, "0000-00-00 00:00:00 UTC");
}

/// The results of a search.
///
/// # Panics
/// The response has none.
#[must_use]
pub fn results(response: &Value) -> &Vec<Value> {
    response["results"].as_array().expect("results")
}

/// The names of the tools that a search finds.
///
/// # Panics
/// The search fails.
pub fn matching_tools(server: &mut Server, arguments: &Value) -> Vec<String> {
    let response = expect_success(server, SEARCH, arguments);
    tool_ids(&response)
}

/// The keys of an object, sorted.
///
/// # Panics
/// The value is not an object.
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

/// The strings in a JSON list.
///
/// # Panics
/// The value is not a list of strings.
#[must_use]
pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(text).collect()
}

/// Removes timestamps and durations, which differ between calls.
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

/// The names of the tools in a response.
#[must_use]
pub fn tool_ids(response: &Value) -> Vec<String> {
    results(response)
        .iter()
        .map(|result| text(&result["tool_id"]))
        .collect()
}

/// How many examples a tool should have: one with the required arguments, or with stdin if none is required,
/// and one with an optional argument. A directory argument does not count as optional.
///
/// # Panics
/// The value is not a response of `get_tool_details`.
#[must_use]
pub fn expected_examples(details: &Value) -> usize {
    let parameters = details["tool_details"]["parameters"]
        .as_array()
        .expect("a list");
    let guidance = texts(&details["usage_guidance"]["best_practices"]);
    let has_required = parameters
        .iter()
        .any(|parameter| parameter["required"] == true);
    let adds_example = |name: String| {
        let is_directory = guidance.contains(&format!("'{name}' is the working directory."));
        let is_read = guidance.contains(&format!("'{name}' is passed on standard input."));
        !is_directory && (has_required || !is_read)
    };
    let mut optional = parameters
        .iter()
        .filter(|parameter| parameter["required"] == false);
    1 + usize::from(optional.any(|parameter| adds_example(text(&parameter["name"]))))
}
