//! Calls with the mistakes that agents make: misspelt names, other keys, calls through the wrong meta tool.

use climax_tests::{Folder, Server, ToolResponse, fixtures, text};
use serde_json::{Value, json};
use std::{env, fs};

fn start() -> Server {
    Server::start(&mut fixtures!())
}

/// Calls `climax_call` with these arguments.
fn call(server: &mut Server, arguments: &Value) -> ToolResponse {
    server.call_registered("climax_call", arguments)
}

fn assert_refused(response: &ToolResponse, lines: &[&str]) {
    let expected = format!("Argument validation failed:\n  - {}", lines.join("\n  - "));
    assert!(response.is_error, "{response:?}");
    assert_eq!(response.text, expected);
}

#[test]
fn other_spellings_of_an_argument_name_are_accepted() {
    let mut server = start();
    for key in ["dry_run", "dry-run", "dryRun", "DryRun", "DRY_RUN"] {
        let response = server.call("docker_rm", &json!({"container": "c", key: true}));
        assert_eq!(response.text, "docker rm c --dry-run", "{key}");
    }
    // Also for tools that ignore unknown arguments.
    let response = server.call("docker_ps", &json!({"allStates": true, "unknown": 1}));
    assert_eq!(response.text, "docker ps -a");
    // Names are mapped before values are checked.
    let response = server.call("docker_rm", &json!({"Container": "c", "dry-run": "maybe"}));
    assert_refused(
        &response,
        &["Argument 'dry_run': cannot convert 'maybe' to boolean"],
    );
}

#[test]
fn names_are_mapped_before_policies_apply() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    let text = "tools: {docker_rm: {args: {container: {pattern: \"web-.*\"}}}}\napproval: {global: none}\n";
    fs::write(&policy, text).expect("a file");
    let mut server = Server::start(fixtures!().arg("--policy").arg(&policy));
    let response = server.call("docker_rm", &json!({"Container": "db"}));
    let start = "Policy validation failed:\n  - Argument 'container'";
    assert!(
        response.is_error && response.text.starts_with(start),
        "{response:?}"
    );
    let response = server.call("docker_rm", &json!({"Container": "web-1"}));
    assert_eq!(response.text, "docker rm web-1");
}

#[test]
fn two_keys_for_one_argument_are_refused() {
    let mut server = start();
    let args = json!({"container": "c", "dry_run": true, "dryRun": false});
    assert_refused(
        &server.call("docker_rm", &args),
        &["Argument 'dry_run' is given twice: as 'dry_run' and 'dryRun'"],
    );
    let args = json!({"all_states": true, "all-states": false});
    assert_refused(
        &server.call("docker_ps", &args),
        &["Argument 'all_states' is given twice: as 'all_states' and 'all-states'"],
    );
}

#[test]
fn ignored_arguments_are_named_in_a_second_block() {
    let mut server = start();
    let response = server.call("docker_ps", &json!({"all_state": true, "x": 1}));
    assert!(!response.is_error);
    assert_eq!(response.text, "docker ps");
    let note = "Ignored:\n  - Unknown argument 'all_state': did you mean 'all_states'?\n  \
                - Unknown argument 'x': expected one of ";
    assert!(
        response.hint().is_some_and(|text| text.starts_with(note)),
        "{response:?}"
    );
    let flattened = json!({"tool_name": "docker_ps", "all_states": true});
    let response = call(&mut server, &flattened);
    assert_eq!(
        response.hint(),
        Some("Ignored:\n  - Unknown argument 'all_states': put it into 'args'")
    );
    let response = server.call("docker_ps", &json!({"all_states": true}));
    assert_eq!(response.hint(), None);
}

#[test]
fn a_search_accepts_other_spellings_and_names_ignored_arguments_in_a_second_block() {
    let mut server = start();
    let search =
        |server: &mut Server, arguments: &Value| server.call_registered("climax_search", arguments);
    let expected = search(&mut server, &json!({"query": "docker_rm"}));
    assert_eq!(expected.hint(), None);
    let response = search(&mut server, &json!({"Query": "docker_rm"}));
    assert_eq!(response, expected);
    let response = search(
        &mut server,
        &json!({"query": "docker_rm", "max_results": 3}),
    );
    assert_eq!(response.text, expected.text);
    let note = "Ignored:\n  - Unknown argument 'max_results': did you mean 'limit'?";
    assert_eq!(response.hint(), Some(note));
    let response = search(&mut server, &json!({"query": "a", "QUERY": "b"}));
    let line = "Argument 'query' is given twice: as 'query' and 'QUERY'";
    assert_refused(&response, &[line]);
}

#[test]
fn a_call_without_a_tool_name_says_which_key_may_be_meant() {
    let mut server = start();
    let response = call(&mut server, &json!({"function": "docker_rm", "args": {}}));
    assert_refused(
        &response,
        &[
            "Missing required argument 'tool_name'",
            "Unknown argument 'function': expected one of tool_name, args",
        ],
    );
    for key in ["tool", "name"] {
        let response = call(&mut server, &json!({key: "docker_ps", "args": {}}));
        assert_eq!(response.text, "docker ps", "{key}");
    }
}

#[test]
fn unknown_arguments_are_refused_where_the_tool_declares_a_risk() {
    let mut server = start();
    let args = json!({"repository": "r", "dryrun": true, "dry_run": "maybe"});
    assert_refused(
        &server.call("docker_rm", &args),
        &[
            "Missing required argument 'container'",
            "Argument 'dry_run': cannot convert 'maybe' to boolean",
            "Unknown argument 'repository': expected one of container, dry_run",
            "Unknown argument 'dryrun': did you mean 'dry_run'?",
        ],
    );
    assert_refused(
        &server.call("docker_commit", &json!({"message": "m"})),
        &["Unknown argument 'message': this tool takes no arguments"],
    );
    // Rule 4 of the contract holds for tools that only read, or declare no risk.
    for tool in ["docker_ps", "dump_nothing"] {
        let response = server.call(tool, &json!({"unknown": true}));
        assert!(!response.is_error, "{response:?}");
    }
    let mut classic = Server::start(&mut fixtures!("--classic"));
    assert_refused(
        &classic.call_registered("docker_rm", &json!({"container": "c", "dryrun": true})),
        &["Unknown argument 'dryrun': did you mean 'dry_run'?"],
    );
}

#[test]
fn schemas_of_tools_that_change_something_allow_no_additional_properties() {
    let tools = Server::start(&mut fixtures!("--classic")).tools();
    for (name, expected) in [
        ("docker_rm", Some(false)),
        ("docker_commit", Some(false)),
        ("docker_ps", None),
        ("dump_nothing", None),
    ] {
        let tool = tools.iter().find(|tool| tool["name"] == name);
        let schema = &tool.expect("a tool")["inputSchema"];
        let additional = schema.get("additionalProperties").and_then(Value::as_bool);
        assert_eq!(additional, expected, "{name}");
    }
}

#[test]
fn climax_call_accepts_other_names_for_args() {
    let mut server = start();
    for name in ["args", "arguments", "parameters", "params", "input"] {
        for value in [json!({"container": "c"}), json!("{\"container\": \"c\"}")] {
            let response = call(&mut server, &json!({"tool_name": "docker_rm", name: value}));
            assert_eq!(response.text, "docker rm c", "{name}");
        }
    }
}

#[test]
fn other_parameters_of_climax_call_are_refused_where_the_tool_declares_a_risk() {
    let mut server = start();
    let arguments = json!({
        "tool_name": "docker_rm", "args": {"container": "c"}, "dryRun": true, "arg": {}, "verbose": 1,
    });
    assert_refused(
        &call(&mut server, &arguments),
        &[
            "Unknown argument 'dry_run': put it into 'args'",
            "Unknown argument 'arg': 'args' can have container, dry_run",
            "Unknown argument 'verbose': 'args' can have container, dry_run",
        ],
    );
    let arguments = json!({"tool_name": "docker_ps", "verbose": 1});
    assert_eq!(call(&mut server, &arguments).text, "docker ps");
}

#[test]
fn an_unknown_tool_with_a_similar_name_gets_a_suggestion_in_a_second_block() {
    let mut server = start();
    for (name, suggestion) in [
        ("docker_sp", Some("Did you mean docker_ps?")),
        ("docker-rm", Some("Did you mean docker_rm?")),
        ("zzqx", None),
    ] {
        let response = server.call(name, &json!({}));
        assert!(response.is_error);
        assert_eq!(response.text, format!("Unknown tool: {name}"));
        assert_eq!(response.hint(), suggestion);
    }
}

#[test]
fn a_refusal_describes_the_tool_with_its_arguments() {
    let mut server = start();
    let details = "docker_rm (risk: destructive): Remove a container\n  \
                   - container (required)\n  - dry_run (boolean)";
    for arguments in [
        json!({"verbose": true}),
        json!({"dry_run": true}),
        json!({"container": "c", "dry_run": "maybe"}),
    ] {
        let response = server.call("docker_rm", &arguments);
        assert!(response.is_error, "{response:?}");
        assert_eq!(response.hints, [details], "{arguments}");
    }
    let response = server.call("docker_mr", &json!({}));
    assert_eq!(response.hints, ["Did you mean docker_rm?", details]);
    // A program that fails is not an argument error, but it may have run in the wrong directory.
    let directory = env::current_dir().expect("a directory");
    let hint = format!(
        "Argument 'where' was not given: the command ran in {}",
        directory.display()
    );
    assert_eq!(server.call("missing_program", &json!({})).hints, [hint]);
    let arguments = json!({"where": "/"});
    let response = server.call("missing_program", &arguments);
    assert!(
        response.is_error && response.hints.is_empty(),
        "{response:?}"
    );
}

#[test]
fn a_refusal_ends_with_the_call_that_is_probably_meant() {
    let mut server = start();
    let remove = |args: Value| json!({"tool_name": "docker_rm", "args": args});
    for (arguments, expected) in [
        // Beside `args`, misspelt, a boolean in words, `null` for nothing.
        (
            json!({"tool_name": "docker_rm", "container": "c", "dryrun": "yes", "force": null}),
            remove(json!({"container": "c", "dry_run": true})),
        ),
        (
            json!({"tool_name": "Docker-RM", "container": ["c"]}),
            remove(json!({"container": "c"})),
        ),
        // A choice as a key, and one in another case.
        (
            json!({"tool_name": "dump_required", "args": {"msg": "m", "n": 1, "csv": true}}),
            json!({"tool_name": "dump_required", "args": {"message": "m", "count": 1, "format": "csv"}}),
        ),
        (
            json!({"tool_name": "dump_required", "args": {"msg": "m", "count": 1, "format": "JSON"}}),
            json!({"tool_name": "dump_required", "args": {"message": "m", "count": 1, "format": "json"}}),
        ),
    ] {
        let response = call(&mut server, &arguments);
        assert!(response.is_error, "{arguments}");
        assert_eq!(response.correction(), Some(expected.clone()), "{arguments}");
        let corrected = call(&mut server, &expected);
        assert!(!corrected.is_error, "{corrected:?}");
    }
}

#[test]
fn a_corrected_call_leaves_nothing_out() {
    let mut server = start();
    for arguments in [
        json!({"tool_name": "docker_rm", "args": {"container": "c", "keep_logs": true}}),
        json!({"tool_name": "docker_rm", "args": {"container": "c", "verbose": false}}),
        json!({"tool_name": "docker_rm", "args": {"container": "c", "Container ": "d"}}),
        json!({"tool_name": "docker_rm", "args": {"first": "c", "second": "d"}}),
        json!({"tool_name": "docker_rm", "args": {"keep": "c"}}),
        json!({"tool_name": "docker_rm", "args": {"id": "c"}}),
        // A destructive tool is not a typo's meaning.
        json!({"tool_name": "docker_rn", "args": {"container": "c"}}),
        json!({"tool_name": "docker_rn", "args": {"container": "c", "keep_logs": true}}),
        json!({"tool_name": "docker_rm", "args": {"id": "c".repeat(3_000)}}),
    ] {
        let response = call(&mut server, &arguments);
        assert!(response.is_error, "{arguments}");
        assert_eq!(response.correction(), None, "{arguments}");
    }
}

#[test]
fn an_ignored_argument_gets_the_call_that_is_probably_meant() {
    let mut server = start();
    let flattened = json!({"tool_name": "docker_ps", "all_states": true});
    let response = call(&mut server, &flattened);
    assert!(!response.is_error, "{response:?}");
    let expected = json!({"tool_name": "docker_ps", "args": {"all_states": true}});
    assert_eq!(response.correction(), Some(expected));
}

#[test]
fn a_flood_of_unknown_arguments_gets_a_short_answer() {
    let mut server = start();
    let arguments = (0..5_000).map(|number| (format!("remove{number}"), json!(1)));
    let arguments: serde_json::Map<String, Value> = arguments.collect();
    let response = server.call("docker_rm", &arguments.into());
    assert!(
        response.text.ends_with("- 4980 more unknown arguments"),
        "{response:?}"
    );
    let bytes: usize = response.hints.iter().map(String::len).sum();
    assert!(response.text.len() + bytes < 4_000, "{response:?}");
}

#[test]
fn an_argument_beside_args_is_named_as_the_tool_calls_it() {
    let response = call(
        &mut start(),
        &json!({"tool_name": "git_log", "limit": 3, "repo": "r"}),
    );
    let hint = "Ignored:\n  - Unknown argument 'limit': put it into 'args' as 'max_count'\n  \
                - Unknown argument 'repo': 'args' can have max_count";
    assert_eq!(response.hint(), Some(hint));
}

#[test]
fn an_unknown_tool_gets_tools_for_what_its_name_says_in_a_second_block() {
    let response = start().call("list_container", &json!({}));
    assert_eq!(response.text, "Unknown tool: list_container");
    let hint = response.hint().expect("a hint");
    assert!(hint.starts_with("Related tools: docker_ps"), "{hint}");
}

/// Names and annotations of the registered tools that call others.
fn call_tools(server: &mut Server) -> Vec<(String, Value)> {
    let tools = server.tools().into_iter();
    let tools = tools.filter(|tool| tool["name"] != "climax_search");
    let tools = tools.map(|tool| {
        let hints = &tool["annotations"];
        let hints = json!([hints["readOnlyHint"], hints["destructiveHint"]]);
        (text(&tool["name"]), hints)
    });
    tools.collect()
}

#[test]
fn annotations_of_climax_call_follow_from_the_offered_tools() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    let annotations = |tools: &str| {
        let text = format!("tools: {tools}\napproval: {{global: none}}\n");
        fs::write(&policy, text).expect("a file");
        call_tools(&mut Server::start(fixtures!().arg("--policy").arg(&policy)))
    };
    let call = |read_only: bool, destructive: bool| {
        vec![("climax_call".to_owned(), json!([read_only, destructive]))]
    };
    assert_eq!(annotations("{docker_ps: {}}"), call(true, false));
    assert_eq!(
        annotations("{docker_ps: {}, docker_commit: {}}"),
        call(false, false)
    );
    assert_eq!(annotations("{docker_rm: {}}"), call(false, true));
    // A tool without a risk counts as destructive.
    assert_eq!(
        annotations("{docker_ps: {}, git_status: {}}"),
        call(false, true)
    );
    // Names on the command line narrow what is offered, too.
    let mut server = Server::start(&mut fixtures!("dump"));
    assert_eq!(call_tools(&mut server), call(false, true));
}

#[test]
fn split_calls_registers_a_call_tool_for_each_offered_risk() {
    let mut server = Server::start(&mut fixtures!("--split-calls", "docker"));
    let expected = [
        ("climax_read", json!([true, false])),
        ("climax_write", json!([false, false])),
        ("climax_destructive", json!([false, true])),
    ];
    let expected = expected.map(|(name, hints)| (name.to_owned(), hints));
    assert_eq!(call_tools(&mut server), expected);
    let mut server = Server::start(&mut fixtures!("--split-calls", "dump"));
    assert_eq!(call_tools(&mut server).len(), 1);
    let params = json!({"name": "climax_read", "arguments": {"tool_name": "dump_nothing"}});
    let error = &server.request("tools/call", &params)["error"];
    assert_eq!(error["message"], "Unknown tool: climax_read");
    let params = json!({"name": "climax_call", "arguments": {"tool_name": "dump_nothing"}});
    assert_eq!(
        server.request("tools/call", &params)["error"]["code"],
        -32602
    );
}

#[test]
fn a_split_call_tool_refuses_a_higher_risk_and_names_the_right_tool() {
    let mut server = Server::start(&mut fixtures!("--split-calls"));
    let mut call = |name: &str, tool: &str| {
        let arguments = json!({"tool_name": tool, "args": {"container": "c"}});
        server.call_registered(name, &arguments)
    };
    for (name, tool, text) in [
        ("climax_read", "docker_ps", "docker ps"),
        ("climax_write", "docker_ps", "docker ps"),
        ("climax_destructive", "docker_rm", "docker rm c"),
    ] {
        assert_eq!(call(name, tool).text, text);
    }
    for (name, tool, text) in [
        (
            "climax_read",
            "docker_commit",
            "Tool 'docker_commit' has risk 'write': call it with climax_write",
        ),
        (
            "climax_write",
            "docker_rm",
            "Tool 'docker_rm' has risk 'destructive': call it with climax_destructive",
        ),
        (
            "climax_read",
            "dump_nothing",
            "Tool 'dump_nothing' declares no risk: call it with climax_destructive",
        ),
    ] {
        let response = call(name, tool);
        assert!(response.is_error);
        assert_eq!(response.text, text);
    }
}

#[test]
fn examples_of_the_discovery_suite_name_the_split_call_tool() {
    let mut server = Server::start(&mut fixtures!("--split-calls", "--explore", "docker"));
    for (tool, expected) in [
        ("docker_ps", "climax_read"),
        ("docker_rm", "climax_destructive"),
    ] {
        let response = server.call_registered("get_tool_details", &json!({"tool_id": tool}));
        let examples = &response.json()["usage_examples"];
        assert_eq!(examples[0]["tool"], expected, "{examples}");
    }
}

#[test]
fn long_names_of_tools_and_methods_are_cut_in_errors() {
    let mut server = Server::start(&mut fixtures!());
    let long = "ä".repeat(100_000);
    let cut = "ä".repeat(200) + "…";
    let response = server.call(&long, &json!({}));
    assert_eq!(response.text, format!("Unknown tool: {cut}"));
    let response = server.request("tools/call", &json!({"name": long}));
    assert_eq!(response["error"]["message"], format!("Unknown tool: {cut}"));
    let response = server.request(&long, &json!({}));
    assert_eq!(
        response["error"]["message"],
        format!("Method not found: {cut}")
    );
}
