//! `search_tools_by_capability`: matches, explanations and refusals.

use climax_tests::explore::{
    CAPABILITY, expect_refusal, expect_success, results, sorted_keys, texts,
};
use climax_tests::{Server, fixtures, text};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!("--explore"))
}

#[test]
fn required_parameters_match_by_name_case_or_synonym_and_all_must_match() {
    let mut server = start();
    for required in [
        json!(["message"]),
        json!("message"),
        json!(["Message"]),
        json!(["msg"]),
        json!(["COMMENT"]),
    ] {
        let arguments =
            json!({"capability_description": "record changes", "required_parameters": required});
        let response = expect_success(&mut server, CAPABILITY, &arguments);
        let best = &results(&response)[0];
        assert_eq!(best["tool_id"], "git_commit", "{required}");
        for result in results(&response) {
            let parameters = result["parameters"].as_array().expect("a list");
            assert!(
                parameters
                    .iter()
                    .any(|parameter| parameter["name"] == "message"),
                "{result}"
            );
        }
    }
    // A tool that has the parameters but does not match the description comes last.
    let arguments =
        json!({"capability_description": "zzzzqqqq", "required_parameters": ["max-count"]});
    let response = expect_success(&mut server, CAPABILITY, &arguments);
    assert_eq!(
        results(&response)
            .last()
            .map(|result| text(&result["tool_id"]))
            .as_deref(),
        Some("git_log")
    );
    let arguments =
        json!({"capability_description": "record changes", "required_parameters": ["nosuch"]});
    let response = expect_success(&mut server, CAPABILITY, &arguments);
    assert_eq!(response["results"], json!([]));
    assert_eq!(response["total_results"], 0);
    let both =
        json!({"capability_description": "words", "required_parameters": ["file", "number"]});
    let response = expect_success(&mut server, CAPABILITY, &both);
    assert_eq!(
        results(&response)[0]["tool_id"],
        "dump_positional",
        "{response}"
    );
}

#[test]
fn a_capability_search_explains_matched_and_unmatched_criteria() {
    let mut server = start();
    let arguments = json!({
        "capability_description": "record zzzzqqqq changes", "required_parameters": ["msg"],
        "preferred_complexity": "complex", "max_results": 3,
    });
    let response = expect_success(&mut server, CAPABILITY, &arguments);
    assert_eq!(
        sorted_keys(&response),
        [
            "capability_description",
            "results",
            "search_criteria",
            "success",
            "timestamp",
            "total_results",
            "version",
        ]
    );
    assert_eq!(
        response["search_criteria"],
        json!({"required_parameters": ["msg"], "preferred_complexity": "complex", "max_results": 3})
    );
    let best = &results(&response)[0];
    assert_eq!(best["tool_id"], "git_commit");
    assert_eq!(
        best["explanation"],
        json!({
            "matched": ["description has 'record'", "description has 'changes'", "has parameter 'message' for 'msg'"],
            "not_matched": ["nothing about 'zzzzqqqq'", "complexity is simple, not complex"],
        })
    );
    assert!(best["examples"].is_array() && best["input_schema"].is_object());
}

#[test]
fn a_tool_of_another_complexity_has_half_the_score() {
    let mut server = start();
    let mut score = |tool: &str, description: &str, preferred: Value| {
        let arguments = json!({
            "capability_description": description, "preferred_complexity": preferred, "max_results": 50,
        });
        let response = expect_success(&mut server, CAPABILITY, &arguments);
        let tool = results(&response)
            .iter()
            .find(|result| result["tool_id"] == tool)
            .expect("found");
        tool["score"].as_f64().expect("a number")
    };
    for (tool, description, complexity, other) in [
        (
            "dump_kinds",
            "one argument of each kind",
            "complex",
            "simple",
        ),
        (
            "git_commit",
            "record changes to the repository",
            "SIMPLE",
            "complex",
        ),
        (
            "dump_required",
            "two arguments that must be there",
            "moderate",
            "simple",
        ),
    ] {
        let any = score(tool, description, json!("any"));
        assert!(any > 0.01, "{tool}");
        for same in [json!(complexity), json!(null)] {
            assert!(
                (score(tool, description, same) - any).abs() < 1e-9,
                "{tool}"
            );
        }
        assert!(
            (score(tool, description, json!(other)) - any / 2.0).abs() < 1e-3,
            "{tool}"
        );
    }
}

#[test]
fn all_errors_of_a_capability_search_are_reported_together() {
    let mut server = start();
    let arguments = json!({
        "capability_description": "\u{7}", "required_parameters": ["a", 5],
        "preferred_complexity": "simpel", "max_results": 0,
    });
    let (problems, error) = expect_refusal(&mut server, CAPABILITY, &arguments);
    assert_eq!(
        problems,
        [
            "Capability description contains control characters",
            "required_parameters must contain names, not 5",
            "Invalid preferred_complexity 'simpel'. Valid options: simple, moderate, complex, any",
            "max_results must be between 1 and 50",
        ]
    );
    assert_eq!(error["context"], "\u{7}");
    let (problems, _) = expect_refusal(&mut server, CAPABILITY, &json!({}));
    assert_eq!(problems, ["Capability description cannot be empty"]);
    let long = json!({"capability_description": "a".repeat(1001)});
    let (problems, _) = expect_refusal(&mut server, CAPABILITY, &long);
    assert_eq!(
        problems,
        ["Capability description too long (max 1000 characters)"]
    );
}

#[test]
fn each_required_parameter_matches_a_different_parameter_and_exact_names_win() {
    let mut server = start();
    let mut explained = |required: &[&str]| {
        let arguments = json!({"capability_description": "takes words without flags", "required_parameters": required});
        let response = expect_success(&mut server, CAPABILITY, &arguments);
        let tool = results(&response)
            .iter()
            .find(|result| result["tool_id"] == "dump_positional")
            .cloned();
        tool.map(|tool| texts(&tool["explanation"]["matched"]))
    };
    assert!(
        explained(&["path", "number"])
            .is_some_and(|matched| matched.contains(&"has parameter 'path'".to_owned()))
    );
    assert_eq!(explained(&["path", "file"]), None);
}
