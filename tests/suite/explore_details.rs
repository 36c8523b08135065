//! `get_tool_details` and `list_tool_categories`: sections, guidance, examples and categories.

use climax_tests::explore::{
    CATEGORIES, DETAILS, expect_refusal, expect_success, expected_examples, sorted_keys, texts,
};
use climax_tests::{Server, fixtures, guarded, text};
use serde_json::{Map, Value, json};

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guarded.yaml");

fn start() -> Server {
    Server::start(&mut fixtures!("--explore"))
}

#[test]
fn details_have_exactly_the_requested_sections() {
    let mut server = start();
    let sections = [
        ("schema", "parameter_schema"),
        ("examples", "usage_examples"),
        ("relationships", "relationships"),
        ("usage_guidance", "usage_guidance"),
    ];
    for combination in 0..16 {
        let mut arguments = Map::new();
        arguments.insert("tool_id".to_owned(), "git_commit".into());
        let mut expected = vec![
            "included_sections",
            "success",
            "timestamp",
            "tool_details",
            "tool_id",
            "version",
        ];
        let mut included = Map::new();
        for (number, (section, field)) in sections.iter().enumerate() {
            let is_requested = combination >> number & 1 == 1;
            arguments.insert(format!("include_{section}"), is_requested.into());
            included.insert((*section).to_owned(), is_requested.into());
            expected.extend(is_requested.then_some(*field));
        }
        expected.sort_unstable();
        let response = expect_success(&mut server, DETAILS, &arguments.into());
        assert_eq!(sorted_keys(&response), expected);
        assert_eq!(response["included_sections"], Value::from(included));
    }
    let all = expect_success(&mut server, DETAILS, &json!({"tool_id": " git_commit "}));
    assert_eq!(all["tool_id"], "git_commit");
    let called = expect_success(&mut server, DETAILS, &json!({"tool_name": "git_commit"}));
    assert_eq!(
        called["tool_id"], "git_commit",
        "as the other tools call it"
    );
    assert_eq!(
        all["tool_details"]["when_to_use"],
        "Record changes to the repository. Needs 'message'."
    );
    assert_eq!(
        all["parameter_schema"]["properties"]["message"]["description"],
        "Commit message"
    );
    assert_eq!(
        all["usage_examples"][0]["command_line"],
        "echo git commit -m 'Fix a typo'"
    );
    assert_eq!(
        sorted_keys(&all["relationships"]),
        ["alternatives", "complementary", "prerequisites"]
    );
    assert_eq!(
        all["usage_guidance"],
        json!({
            "best_practices": ["Always provide 'message' (string)."],
            "common_pitfalls": ["Times out after 30 seconds."],
        })
    );
}

#[test]
fn usage_guidance_states_the_rules_of_config_and_policies() {
    let mut server = start();
    let mut guidance = |tool: &str| {
        let details = expect_success(&mut server, DETAILS, &json!({"tool_id": tool}));
        let guidance = &details["usage_guidance"];
        [
            texts(&guidance["best_practices"]),
            texts(&guidance["common_pitfalls"]),
        ]
        .concat()
    };
    let kinds = guidance("dump_kinds");
    assert!(
        kinds.contains(&"No argument is required.".to_owned()),
        "{kinds:?}"
    );
    assert!(
        kinds.contains(&"'format' must be one of 'json', 'plain text', 'csv'.".to_owned()),
        "{kinds:?}"
    );
    let positional = guidance("dump_positional");
    assert!(
        positional.contains(&"Values of 'path' must not begin with '-'.".to_owned()),
        "{positional:?}"
    );
    let defaults = guidance("dump_defaults");
    assert!(
        defaults.contains(&"'count' defaults to 10.".to_owned()),
        "{defaults:?}"
    );
    assert!(
        defaults.contains(&"'path' defaults to '.'.".to_owned()),
        "{defaults:?}"
    );
    for mut server in [
        Server::start(&mut guarded!("--explore")),
        Server::start(&mut fixtures!("--explore", "--policy", POLICY)),
    ] {
        let details = expect_success(&mut server, DETAILS, &json!({"tool_id": "dump_kinds"}));
        let pitfalls = texts(&details["usage_guidance"]["common_pitfalls"]);
        for expected in [
            "'text' must match [a-z]+ (policy).",
            "'count' must be from 1 to 10 (policy).",
            "'level' must be at most 1 (policy).",
        ] {
            assert!(pitfalls.contains(&expected.to_owned()), "{pitfalls:?}");
        }
    }
}

#[test]
fn several_tools_give_a_list_and_unknown_ones_give_similar_names() {
    let mut server = start();
    let arguments = json!({"tool_id": ["git_log", "git_comit", "git_tag"]});
    let response = expect_success(&mut server, DETAILS, &arguments);
    let responses = response.as_array().expect("a list");
    assert_eq!(responses.len(), 3);
    assert_eq!(responses[0]["tool_id"], "git_log");
    assert_eq!(responses[2]["tool_id"], "git_tag");
    assert_eq!(responses[1]["success"], false);
    assert_eq!(
        responses[1]["error"]["message"],
        "Tool 'git_comit' not found"
    );
    let one = expect_success(&mut server, DETAILS, &json!({"tool_id": ["git_log"]}));
    assert_eq!(one.as_array().map(Vec::len), Some(1));

    let (problems, error) = expect_refusal(&mut server, DETAILS, &json!({"tool_id": "git_comit"}));
    assert_eq!(problems, ["Tool 'git_comit' not found"]);
    assert_eq!(error["context"], "git_comit");
    let suggestions = texts(&error["suggestions"]);
    assert_eq!(suggestions.len(), 3);
    assert!(
        suggestions.contains(&r#"get_tool_details {"tool_id":"git_commit"}"#.to_owned()),
        "{suggestions:?}"
    );
    let (_, error) = expect_refusal(&mut server, DETAILS, &json!({"tool_id": "zzzzqqqq"}));
    assert_eq!(
        error["suggestions"],
        json!(["Find a tool with search_mcp_tools"])
    );

    for none in [json!({}), json!({"tool_id": null}), json!({"tool_id": []})] {
        let (problems, _) = expect_refusal(&mut server, DETAILS, &none);
        assert_eq!(problems, ["tool_id cannot be empty"]);
    }
    let (problems, _) = expect_refusal(
        &mut server,
        DETAILS,
        &json!({"tool_id": [5, " "], "include_schema": 3}),
    );
    assert_eq!(
        problems,
        [
            "tool_id must contain names, not 5",
            "tool_id must contain names, not \" \"",
            "include_schema must be true or false"
        ]
    );
    let many = vec!["git_log"; 51];
    let (problems, _) = expect_refusal(&mut server, DETAILS, &json!({"tool_id": many}));
    assert_eq!(problems, ["tool_id may have at most 50 names"]);
    let nothing = server.call_registered(DETAILS, &json!({"tool_id": ["nope", "neither"]}));
    assert!(nothing.is_error);
    assert_eq!(nothing.json().as_array().map(Vec::len), Some(2));
}

#[test]
fn categories_have_a_description_a_count_clis_and_three_representative_tools() {
    let mut server = start();
    let response = expect_success(&mut server, CATEGORIES, &json!({}));
    let categories = response["categories"].as_array().expect("a list");
    assert_eq!(response["total_categories"], categories.len());
    assert_eq!(response["total_tools"], 43);
    let sum: u64 = categories
        .iter()
        .filter_map(|category| category["tool_count"].as_u64())
        .sum();
    assert_eq!(sum, 43);
    let vcs = categories
        .iter()
        .find(|category| category["name"] == "vcs")
        .expect("there");
    assert_eq!(
        sorted_keys(vcs),
        [
            "clis",
            "description",
            "name",
            "representative_tools",
            "tool_count"
        ]
    );
    assert_eq!(vcs["description"], "git-tools: MCP tools for Git");
    assert_eq!(vcs["tool_count"], 10);
    assert_eq!(vcs["clis"], json!(["git-tools"]));
    let tools = vcs["representative_tools"].as_array().expect("a list");
    assert_eq!(tools.len(), 3);
    for tool in tools {
        assert!(text(&tool["tool_id"]).starts_with("git_"), "{tool}");
        assert!(tool["description"].is_string());
    }
    assert!(
        categories
            .iter()
            .any(|category| category["name"] == "uncategorized"),
        "{response}"
    );
    // The representative tools share their words with most others.
    assert!(
        tools.iter().any(|tool| tool["tool_id"] == "git_commit"),
        "{vcs}"
    );
    let mut one = Server::start(&mut fixtures!("git", "--explore"));
    let response = expect_success(&mut one, CATEGORIES, &json!({}));
    assert_eq!(response["total_categories"], 1);
}

#[test]
fn every_example_is_a_valid_call_that_becomes_its_command_line() {
    let mut server = start();
    let all = server.matching_tools(&json!({"query": "", "limit": 100}));
    assert_eq!(all.len(), 43);
    let mut run_examples = 0;
    for tool in all {
        let details = expect_success(&mut server, DETAILS, &json!({"tool_id": tool}));
        let examples = details["usage_examples"].as_array().expect("a list");
        assert_eq!(examples.len(), expected_examples(&details), "{details}");
        for example in examples {
            assert_eq!(example["tool"], "climax_call");
            assert_eq!(example["arguments"]["tool_name"], tool);
            // The tools of other CLIs wait, fail or write floods of output.
            if details["tool_details"]["cli_name"] != "dump-tools"
                || example.get("directory").is_some()
            {
                continue;
            }
            let response = server.call_registered("climax_call", &example["arguments"]);
            assert!(!response.is_error, "{example}: {response:?}");
            let dumped = response.json();
            let words = texts(&dumped["argv"]).join(" ");
            let line = text(&example["command_line"]).replace('\'', "");
            assert_eq!(
                line.trim_start_matches("argdump").trim_start(),
                words,
                "{example}"
            );
            assert_eq!(
                dumped["stdin"],
                example.get("stdin").cloned().unwrap_or("".into())
            );
            run_examples += 1;
        }
    }
    assert!(run_examples > 15, "{run_examples}");
}
