//! The specification of the meta-tools: acceptance scenarios, edge cases, requirements and success criteria.
//! Test names begin with their numbers.

use std::fs;

use climax_tests::{Folder, Server, fixtures, text};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!())
}

fn start_classic() -> Server {
    Server::start(&mut fixtures!("--classic"))
}

// User story 1: an agent searches for tools.

#[test]
fn us1_1_fr_002_a_query_finds_tools_with_everything_needed_to_call_them() {
    let mut server = start();
    let response = server.search(&json!({"query": "commit", "cli": "git-tools"}));
    let found = response["results"].as_array().expect("results").iter();
    let commit = found
        .clone()
        .find(|result| result["tool_name"] == "git_commit");
    assert_eq!(
        commit.expect("git_commit"),
        &json!({
            "tool_name": "git_commit",
            "description": "Record changes to the repository",
            "cli_name": "git-tools",
            "category": "vcs",
            "tags": ["version-control", "commits"],
            "input_schema": {
                "type": "object",
                "properties": {"message": {"type": "string", "description": "Commit message"}},
                "required": ["message"],
            },
        })
    );
    let log = found
        .clone()
        .find(|result| result["tool_name"] == "git_log");
    assert_eq!(
        log.expect("git_log")["input_schema"]["properties"]["max_count"],
        json!({"type": "integer", "description": "How many", "default": 10})
    );
}

#[test]
fn us1_1_an_enum_is_in_the_schema_with_values_of_the_arguments_type() {
    let response = start().search(&json!({"query": "dump_kinds"}));
    let properties = &response["results"][0]["input_schema"]["properties"];
    assert_eq!(
        properties["format"]["enum"],
        json!(["json", "plain text", "csv"])
    );
    assert_eq!(properties["level"]["enum"], json!([1, 2, -3]));
    assert_eq!(properties["scale"]["enum"], json!([1, 2.5]));
}

#[test]
fn us1_2_a_category_limits_results_to_its_clis() {
    let response = start().search(&json!({"category": "vcs", "limit": 100}));
    let results = response["results"].as_array().expect("results");
    assert_eq!(results.len(), 10);
    assert!(results.iter().all(|result| result["category"] == "vcs"));
}

#[test]
fn us1_3_a_cli_limits_results_to_its_tools() {
    let response = start().search(&json!({"cli": "git-tools", "limit": 100}));
    let results = response["results"].as_array().expect("results");
    assert_eq!(results.len(), 10);
    assert!(
        results
            .iter()
            .all(|result| result["cli_name"] == "git-tools")
    );
}

#[test]
fn us1_4_all_filters_must_match() {
    let mut server = start();
    let both = server.matching_tools(&json!({"query": "commit", "category": "container"}));
    assert_eq!(both, ["docker_commit"]);
    let none = server.matching_tools(&json!({"query": "branch", "category": "container"}));
    assert_eq!(none, [""; 0]);
    let all =
        server.matching_tools(&json!({"query": "tag", "category": "vcs", "cli": "git-tools"}));
    assert_eq!(all[0], "git_tag");
}

#[test]
fn us1_5_a_limit_caps_results() {
    assert_eq!(
        start()
            .matching_tools(&json!({"category": "vcs", "limit": 3}))
            .len(),
        3
    );
}

#[test]
fn us1_6_fr_003_no_filter_gives_a_summary_of_the_clis() {
    let mut server = start();
    let response = server.search(&json!({}));
    assert_eq!(response["mode"], "summary");
    assert_eq!(response.get("results"), None);
    let summary = response["summary"].as_array().expect("a summary");
    let git = summary.iter().find(|cli| cli["name"] == "git-tools");
    assert_eq!(
        git.expect("git-tools"),
        &json!({
            "name": "git-tools",
            "description": "MCP tools for Git",
            "tool_count": 10,
            "category": "vcs",
            "tags": ["version-control", "commits"],
        })
    );
    let capped = server.search(&json!({"limit": 2}));
    assert_eq!(capped["summary"].as_array().expect("a summary").len(), 2);
}

// User story 2: an agent runs a tool.

#[test]
fn us2_1_fr_010_a_call_returns_the_output_of_the_command() {
    let response = start().call("git_status", &json!({}));
    assert_eq!(response.text, "git status");
    assert!(!response.is_error);
}

#[test]
fn us2_2_fr_009_arguments_reach_the_command() {
    let response = start().call("git_commit", &json!({"message": "first line"}));
    assert_eq!(response.text, "git commit -m first line");
}

#[test]
fn us2_3_a_missing_argument_is_reported_by_name() {
    let response = start().call("git_commit", &json!({}));
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "Argument validation failed:\n  - Missing required argument 'message'"
    );
}

#[test]
fn us2_4_fr_008_a_value_outside_an_enum_is_refused_with_the_allowed_values() {
    let args = json!({"message": "m", "count": 1, "format": "xml"});
    let response = start().call("dump_required", &args);
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "Argument validation failed:\n  - Argument 'format' must be one of: json, text, csv"
    );
}

#[test]
fn us2_5_fr_006_an_unknown_tool_is_an_error_that_names_it() {
    let mut server = start();
    for name in ["nonexistent_tool", "GIT_STATUS", "git_statu", ""] {
        let response = server.call(name, &json!({}));
        assert!(response.is_error);
        assert_eq!(response.text, format!("Unknown tool: {name}"));
    }
}

#[test]
fn us2_6_a_command_is_ended_at_its_timeout() {
    let response = start().call("behave_slow", &json!({"out": "so far", "err": "careful"}));
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "so far\n\n[stderr]\ncareful\nCommand timed out after 0.5s\n\n[exit code: -1]"
    );
}

// User story 3: progressive discovery is the default.

#[test]
fn us3_1_fr_011_sc_002_the_default_mode_registers_exactly_two_tools() {
    let names: Vec<String> = start()
        .tools()
        .iter()
        .map(|tool| text(&tool["name"]))
        .collect();
    assert_eq!(names, ["climax_search", "climax_call"]);
}

#[test]
fn us3_2_every_tool_is_reachable_through_climax_call() {
    let mut server = start();
    let names = server.matching_tools(&json!({"cli": "git-tools", "limit": 100}));
    assert_eq!(names.len(), 10);
    for name in names {
        let response = server.call(&name, &json!({"message": "m"}));
        assert!(!response.is_error, "{name}: {response:?}");
        assert!(response.text.starts_with("git "), "{name}: {response:?}");
    }
}

// User story 4: classic mode.

#[test]
fn us4_1_fr_012_classic_mode_registers_every_tool() {
    let mut classic = start_classic();
    let tools = classic.tools();
    let listed: Vec<String> = tools.iter().map(|tool| text(&tool["name"])).collect();
    let found = start().matching_tools(&json!({"query": "", "limit": 1000}));
    assert_eq!(listed, found, "every tool, in catalog order");
}

#[test]
fn us4_2_classic_mode_has_no_meta_tools() {
    let mut server = start_classic();
    let tools = server.tools();
    assert!(
        !tools
            .iter()
            .any(|tool| text(&tool["name"]).starts_with("climax_"))
    );
    for name in ["climax_search", "climax_call"] {
        let response = server.request("tools/call", &json!({"name": name, "arguments": {}}));
        assert_eq!(response["error"]["code"], -32602);
        assert_eq!(
            response["error"]["message"],
            format!("Unknown tool: {name}")
        );
    }
}

#[test]
fn us4_3_fr_013_fr_014_both_modes_offer_the_same_tools_with_the_same_schemas() {
    let found = start().search(&json!({"query": "", "limit": 1000}));
    let found = found["results"].as_array().expect("results");
    let listed = start_classic().tools();
    assert_eq!(found.len(), listed.len());
    for (entry, tool) in found.iter().zip(&listed) {
        assert_eq!(entry["tool_name"], tool["name"]);
        assert_eq!(entry["description"], tool["description"]);
        assert_eq!(entry["input_schema"], tool["inputSchema"]);
    }
}

// Edge cases.

#[test]
fn edge_extra_keys_are_ignored() {
    let response = start().call("git_status", &json!({"no": "such", "argument": [1]}));
    assert_eq!(response.text, "git status");
}

#[test]
fn edge_compatible_types_are_coerced_and_incompatible_ones_refused() {
    let mut server = start();
    let response = server.call("git_log", &json!({"max_count": "42"}));
    assert_eq!(response.text, "git log -n 42");
    let response = server.call("git_log", &json!({"max_count": "hello"}));
    assert_eq!(
        response.text,
        "Argument validation failed:\n  - Argument 'max_count': cannot convert 'hello' to integer"
    );
}

#[test]
fn edge_no_match_is_an_empty_list_and_not_an_error() {
    let response = start().call_registered("climax_search", &json!({"query": "xyzzy"}));
    assert!(!response.is_error);
    assert_eq!(response.text, r#"{"mode":"search","results":[]}"#);
}

#[test]
fn edge_args_may_be_null_or_absent() {
    let mut server = start();
    for arguments in [
        json!({"tool_name": "git_status"}),
        json!({"tool_name": "git_status", "args": null}),
    ] {
        let response = server.call_registered("climax_call", &arguments);
        assert_eq!(response.text, "git status");
    }
}

#[test]
fn edge_fr_015_policy_limits_apply_to_climax_call() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    fs::write(
        &policy,
        "tools: {git_commit: {args: {message: {pattern: '^[a-z]+$'}}}}\n",
    )
    .expect("written");
    let mut server = Server::start(&mut fixtures!("--policy", &policy));
    let response = server.call("git_commit", &json!({"message": "INVALID123"}));
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "Policy validation failed:\n  \
         - Argument 'message': value 'INVALID123' does not match pattern '^[a-z]+$'"
    );
    let response = server.call("git_commit", &json!({"message": "valid"}));
    assert_eq!(response.text, "git commit -m valid");
}

#[test]
fn edge_a_tool_is_not_registered_under_its_own_name_in_default_mode() {
    let params = json!({"name": "git_status", "arguments": {}});
    let response = start().request("tools/call", &params);
    assert_eq!(response["error"]["code"], -32602);
    assert_eq!(response["error"]["message"], "Unknown tool: git_status");
}

// Requirements and success criteria beyond the scenarios.

#[test]
fn fr_001_fr_005_both_meta_tools_are_registered_as_the_contract_says() {
    let tools = start().tools();
    let part = |tool: &Value| {
        json!({
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": tool["inputSchema"],
        })
    };
    assert_eq!(
        part(&tools[0]),
        json!({
            "name": "climax_search",
            "description": "Search for available CLI tools by keyword, category, or CLI name. Call with no filters to get a summary of all available CLIs.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "Search keyword (matched against tool name, description, CLI name, category, tags)",
                    },
                    "category": {
                        "type": "string",
                        "description": "Filter by CLI category (exact match, case-insensitive)",
                    },
                    "cli": {
                        "type": "string",
                        "description": "Filter by CLI name (exact match, case-insensitive)",
                    },
                    "limit": {
                        "type": "integer",
                        "description": "Maximum number of results to return (default: 10)",
                        "default": 10,
                    },
                },
            },
        })
    );
    assert_eq!(
        part(&tools[1]),
        json!({
            "name": "climax_call",
            "description": "Execute a CLI tool by name. Use climax_search first to discover available tools and their argument schemas.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tool_name": {
                        "type": "string",
                        "description": "The exact name of the tool to execute (as returned by climax_search)",
                    },
                    "args": {
                        "type": "object",
                        "description": "Arguments to pass to the tool (see tool's input_schema from climax_search)",
                    },
                },
                "required": ["tool_name"],
            },
        })
    );
    for tool in &tools {
        assert!(tool["title"].is_string());
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true);
    }
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], false);
    assert_eq!(tools[1]["annotations"]["destructiveHint"], true);
}

#[test]
fn fr_004_search_responses_have_exactly_the_keys_of_the_contract() {
    let mut server = start();
    let keys = |value: &Value| -> Vec<String> {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect()
    };
    let search = server.search(&json!({"query": "git_commit"}));
    assert_eq!(keys(&search), ["mode", "results"]);
    assert_eq!(
        keys(&search["results"][0]),
        [
            "tool_name",
            "description",
            "cli_name",
            "category",
            "tags",
            "input_schema"
        ]
    );
    let summary = server.search(&json!({"limit": 100}));
    assert_eq!(keys(&summary), ["mode", "summary"]);
    assert_eq!(
        keys(&summary["summary"][0]),
        ["name", "description", "tool_count", "category", "tags"]
    );
}

#[test]
fn fr_007_all_errors_of_a_call_are_reported_together() {
    let response = start().call("dump_required", &json!({"count": "many", "format": "xml"}));
    assert_eq!(
        response.text,
        "Argument validation failed:\n  \
         - Missing required argument 'message'\n  \
         - Argument 'format' must be one of: json, text, csv\n  \
         - Argument 'count': cannot convert 'many' to integer"
    );
}

#[test]
fn fr_017_a_config_field_that_climax_for_python_does_not_have_is_refused() {
    let source = climax_input::source::Source {
        path: "x.yaml".to_owned(),
        stem: "x".to_owned(),
        file_name: "x.yaml".to_owned(),
        text:
            "command: x\ncategory: y\nshell: true\ntools: [{name: a, description: b, retries: 3}]\n"
                .to_owned(),
        invalid_utf8_offset: None,
    };
    let compiled = climax_codegen::compile(&vec![source].into());
    let messages: Vec<&str> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "a config has no field `shell`",
            "a tool has no field `retries`"
        ]
    );
}

#[test]
fn sc_001_finding_and_running_a_tool_takes_two_calls() {
    let mut server = start();
    let search = server.search(&json!({"query": "history"}));
    let tool = &search["results"][0];
    let response = server.call(&text(&tool["tool_name"]), &json!({}));
    assert_eq!(response.text, "git log -n 10");
}

#[test]
fn sc_004_both_modes_give_the_same_results() {
    let mut default = start();
    let mut classic = start_classic();
    for (tool, args) in [
        ("git_status", json!({})),
        ("git_commit", json!({"message": "m"})),
        ("git_commit", json!({})),
        ("git_log", json!({"max_count": "x"})),
        ("git_log", json!({"max_count": "7", "extra": 1})),
        (
            "dump_kinds",
            json!({"count": "7", "verbose": "true", "format": "csv"}),
        ),
        ("dump_positional", json!({"path": "--output=x"})),
        ("behave_exit", json!({"code": 3, "out": "o", "err": "e"})),
        ("behave_exit", json!({"code": 0})),
        ("behave_slow", json!({"out": "o"})),
        ("missing_program", json!({})),
    ] {
        assert_eq!(
            default.call(tool, &args),
            classic.call_registered(tool, &args),
            "{tool} {args}"
        );
    }
}

#[test]
fn sc_005_an_error_says_what_would_be_valid() {
    let mut server = start();
    for (args, needed) in [
        (json!({}), "'message'"),
        (
            json!({"message": "m", "count": 1, "format": 5}),
            "json, text, csv",
        ),
        (
            json!({"message": "m", "count": "x", "format": "csv"}),
            "to integer",
        ),
        (
            json!({"message": ["m"], "count": 1, "format": "csv"}),
            "to string",
        ),
    ] {
        let response = server.call("dump_required", &args);
        assert!(
            response.is_error && response.text.contains(needed),
            "{args}: {response:?}"
        );
    }
}
