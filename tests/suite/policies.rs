//! The tools and values that policies allow. Most tests run with a baked policy and again with the same
//! policy given at the start.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use climax_tests::{Folder, Server, fixtures, guarded, run, text};
use serde_json::{Value, json};

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guarded.yaml");

/// The same policy, baked and given at the start.
fn both() -> [Command; 2] {
    [guarded!(), fixtures!("--policy", POLICY)]
}

fn write_policy(folder: &Folder, name: &str, policy: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, policy).expect("written");
    path
}

fn properties(tool: &Value, key: &str) -> Value {
    tool[key]["properties"].clone()
}

#[test]
fn disallowed_tools_are_not_listed_found_or_callable() {
    for mut command in both() {
        let mut classic = Server::start(command.arg("--classic"));
        let names: Vec<String> = classic
            .tools()
            .iter()
            .map(|tool| text(&tool["name"]))
            .collect();
        assert_eq!(
            names,
            [
                "dump_kinds",
                "dump_positional",
                "dump_defaults",
                "dump_directory",
                "dump_stdin",
                "git_log",
                "git_commit"
            ]
        );
        let params = json!({"name": "git_push", "arguments": {}});
        let response = classic.request("tools/call", &params);
        assert_eq!(response["error"]["message"], "Unknown tool: git_push");
    }
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let summary = server.search(&json!({}));
        let clis = summary["summary"].as_array().expect("a summary");
        let counts: Vec<(&str, &Value)> = clis
            .iter()
            .map(|cli| (cli["name"].as_str().unwrap_or_default(), &cli["tool_count"]))
            .collect();
        assert_eq!(
            counts,
            [("dump-tools", &json!(5)), ("git-tools", &json!(2))]
        );
        assert_eq!(server.matching_tools(&json!({"query": "push"})), [""; 0]);
        assert_eq!(
            server.matching_tools(&json!({"query": "git"})),
            ["git_log", "git_commit"]
        );
        assert_eq!(
            server.matching_tools(&json!({"cli": "docker-tools"})),
            [""; 0]
        );
        assert_eq!(
            server.call("git_push", &json!({})).text,
            "Unknown tool: git_push"
        );
    }
}

#[test]
fn a_tool_that_the_baked_policy_disallows_is_not_in_the_binary() {
    let has = |program: &str, text: &str| {
        let bytes = fs::read(program).expect("a program");
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    let excluded = "Replace the last one";
    assert!(has(env!("CARGO_BIN_EXE_fixtures"), excluded));
    assert!(!has(env!("CARGO_BIN_EXE_guarded"), excluded));
}

#[test]
fn a_description_from_a_policy_is_shown_and_searched() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        assert_eq!(
            server.matching_tools(&json!({"query": "little"})),
            ["dump_kinds"]
        );
        assert_eq!(
            server.matching_tools(&json!({"query": "takes little of"})),
            ["dump_kinds"]
        );
        assert_eq!(
            server.search(&json!({"query": "one argument"}))["match"],
            "ranked"
        );
        let found = server.search(&json!({"query": "little"}));
        assert_eq!(
            found["results"][0]["description"],
            "Takes little of each kind"
        );
    }
    for mut command in both() {
        let tools = Server::start(command.arg("--classic")).tools();
        assert_eq!(tools[0]["description"], "Takes little of each kind");
        assert_eq!(tools[1]["description"], "Takes words without flags");
    }
}

#[test]
fn the_schema_has_the_limits_of_the_policy() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let found = server.search(&json!({"query": "dump_kinds"}));
        let of_search = properties(&found["results"][0], "input_schema");
        assert_eq!(
            of_search["count"],
            json!({"type": "integer", "minimum": 1, "maximum": 10})
        );
        assert_eq!(of_search["text"]["pattern"], "^(?:[a-z]+)$");
        assert_eq!(
            of_search["ratio"],
            json!({"type": "number", "pattern": "^(?:-?0\\.[0-9]+)$", "minimum": -0.5, "maximum": 0.5})
        );
        drop(server);
        let tools = Server::start(command.arg("--classic")).tools();
        assert_eq!(properties(&tools[0], "inputSchema"), of_search);
    }
}

/// Calls as `TOOL ARGUMENTS => PART OF THE REFUSAL`. Without a refusal, the call is allowed.
const CALLS: &str = r#"
dump_kinds {"text": "abc", "count": 10, "ratio": -0.5} =>
dump_kinds {"text": "abc\n"} => does not match pattern '[a-z]+'
dump_kinds {"text": "ABC"} => does not match pattern '[a-z]+'
dump_kinds {"text": ""} => does not match pattern '[a-z]+'
dump_kinds {"text": 5} => 'text': value '5' does not match pattern
dump_kinds {"key": "größe x"} =>
dump_kinds {"key": "größer"} => 'key': value 'größer' does not match
dump_kinds {"count": 11} => 'count': value 11 exceeds maximum 10.0
dump_kinds {"count": "11"} => 'count': value 11 exceeds maximum 10.0
dump_kinds {"count": 0} => 'count': value 0 is below minimum 1.0
dump_kinds {"count": false} => 'count': value 0 is below minimum 1.0
dump_kinds {"count": true} =>
dump_kinds {"count": " 7 "} =>
dump_kinds {"ratio": 0.75} => 'ratio': value 0.75 exceeds maximum 0.5
dump_kinds {"ratio": "-0.6"} => 'ratio': value -0.6 is below minimum -0.5
dump_kinds {"ratio": 0} => 'ratio': value '0' does not match pattern
dump_kinds {"level": 2} => 'level': value 2 exceeds maximum 1.0
dump_kinds {"level": "-3"} =>
dump_kinds {"format": "plain text"} => does not match pattern 'json|csv'
dump_kinds {"format": "csv"} =>
dump_kinds {"verbose": "false"} => 'verbose': value 'false' does not match
dump_kinds {"verbose": 1} =>
dump_kinds {"text": null, "count": null} =>
dump_kinds {"scale": "2.5"} =>
dump_kinds {"scale": 1} =>
dump_kinds {"scale": "1"} =>
git_log {} =>
"#;

#[test]
fn values_outside_the_limits_of_a_policy_are_refused() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let mut assert_call = |tool: &str, arguments: &Value, refusal: &str| {
            let response = server.call(tool, arguments);
            assert_eq!(
                response.is_error,
                !refusal.is_empty(),
                "{arguments}: {response:?}"
            );
            if response.is_error {
                let begin = "Policy validation failed:\n  - Argument '";
                let is_expected =
                    response.text.starts_with(begin) && response.text.contains(refusal);
                assert!(is_expected, "{arguments}: {response:?}");
                assert!(response.text.len() < 1000, "{} bytes", response.text.len());
            }
        };
        for line in CALLS.trim().lines() {
            let (call, refusal) = line.split_once(" =>").expect("an arrow");
            let (tool, arguments) = call.split_once(' ').expect("a tool");
            let arguments = serde_json::from_str(arguments).expect("JSON");
            assert_call(tool, &arguments, refusal.trim());
        }
        let pattern = r"does not match pattern '\w{1,200}'";
        assert_call("git_commit", &json!({"message": "ä".repeat(150)}), "");
        assert_call(
            "git_commit",
            &json!({"message": "a".repeat(100_000)}),
            pattern,
        );
    }
}

#[test]
fn an_argument_that_a_policy_requires_must_be_given() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let found = server.search(&json!({"query": "dump_stdin"}));
        let schema = &found["results"][0]["input_schema"];
        assert_eq!(schema["required"], json!(["text"]));
        for arguments in [json!({}), json!({"text": null})] {
            let response = server.call("dump_stdin", &arguments);
            let expected = "Policy validation failed:\n  - Missing required argument 'text'";
            assert!(response.is_error, "{response:?}");
            assert_eq!(response.text, expected);
        }
        let response = server.call("dump_stdin", &json!({"text": "abc"}));
        assert!(!response.is_error, "{response:?}");
        // A server without the policy does not require it.
        let mut server = Server::start(&mut fixtures!());
        assert!(!server.call("dump_stdin", &json!({})).is_error);
    }
}

#[test]
fn a_required_argument_must_be_given_even_if_it_has_a_default() {
    let folder = Folder::new();
    let policy = "tools:\n  dump_defaults: {args: {count: {required: true}, path: {required: false}}}\n  \
                  dump_kinds: {args: {key: {required: true}}}\n";
    let policy = write_policy(&folder, "policy.yaml", policy);
    let mut server = Server::start(&mut fixtures!("--policy", policy));
    let line = "Policy validation failed:\n  - Missing required argument 'count'";
    assert_eq!(server.call("dump_defaults", &json!({})).text, line);
    assert!(!server.call("dump_defaults", &json!({"count": 3})).is_error);
    // Programs take an empty text for their default.
    let line = "Policy validation failed:\n  - Missing required argument 'key'";
    assert_eq!(server.call("dump_kinds", &json!({"key": ""})).text, line);
    assert!(!server.call("dump_kinds", &json!({"key": "a"})).is_error);
}

#[test]
fn invalid_arguments_are_reported_before_policy_violations() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let arguments = json!({"count": 11, "ratio": "nan", "level": 7});
        assert_eq!(
            server.call("dump_kinds", &arguments).text,
            "Argument validation failed:\n  \
             - Argument 'ratio': cannot convert 'nan' to number\n  \
             - Argument 'level' must be one of: 1, 2, -3"
        );
        let arguments = json!({"count": 11, "text": "A"});
        assert_eq!(
            server.call("dump_kinds", &arguments).text,
            "Policy validation failed:\n  \
             - Argument 'text': value 'A' does not match pattern '[a-z]+'\n  \
             - Argument 'count': value 11 exceeds maximum 10.0"
        );
    }
}

#[test]
fn a_pattern_that_begins_with_a_dash_allows_values_like_options() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let response = server
            .call("dump_positional", &json!({"path": "-xy"}))
            .json();
        assert_eq!(response["argv"], json!(["go", "-xy"]));
        let response = server.call("dump_positional", &json!({"path": "--output=x"}));
        assert!(
            response.text.starts_with("Policy validation failed"),
            "{response:?}"
        );
    }
}

#[test]
fn values_like_options_need_a_dash_pattern_in_every_policy() {
    let folder = Folder::new();
    let option = json!({"path": "-xy", "yes_or_no": true});
    let start = |command: &mut Command, policies: &[&str]| {
        for (number, policy) in policies.iter().enumerate() {
            let policy = format!("tools: {{dump_positional: {{args: {policy}}}}}\n");
            let path = write_policy(&folder, &format!("{number}.yaml"), &policy);
            command.arg("--policy").arg(path);
        }
        Server::start(command).call("dump_positional", &option)
    };
    let dashed = "{path: {pattern: '-.*'}}";
    let any = "{path: {pattern: '.*'}}";
    assert!(!start(&mut fixtures!(), &[dashed]).is_error);
    for policies in [&[any][..], &[any, dashed], &[dashed, any]] {
        let response = start(&mut fixtures!(), policies);
        assert!(
            response.text.contains("would be read as an option"),
            "{response:?}"
        );
    }
    assert!(!start(&mut guarded!(), &[dashed]).is_error);
    let response = start(&mut guarded!(), &[any]);
    assert!(
        response.text.contains("would be read as an option"),
        "{response:?}"
    );
}

#[test]
fn the_schema_lists_only_the_allowed_enum_values() {
    for mut command in both() {
        let mut server = Server::start(&mut command);
        let found = server.search(&json!({"query": "dump_kinds"}));
        let properties = properties(&found["results"][0], "input_schema");
        assert_eq!(properties["format"]["enum"], json!(["json", "csv"]));
        assert_eq!(properties["level"]["enum"], json!([1, -3]));
    }
}

#[test]
fn character_classes_match_the_same_characters_as_in_python() {
    let folder = Folder::new();
    for (pattern, allowed, refused) in [
        (r"\w+", "aß9_²½漢", "e\u{301}"),
        (r"\w+", "ʰ", "a\u{200d}"),
        (r"\S+", "ab", "a\u{1c}b"),
        (r"[^\s;]+", "ab", "a\u{1f}b"),
        (r"\W", "-", "½"),
        (r"[\w.-]+", "a.b-c", "a/b"),
        (r"[^\W\d]+", "abc", "a1"),
        ("a{,}", "aaa", "a{,}"),
    ] {
        let policy = json!({"tools": {"git_commit": {"args": {"message": {"pattern": pattern}}}}});
        let policy = write_policy(&folder, "policy.yaml", &policy.to_string());
        let mut server = Server::start(&mut fixtures!("--policy", policy));
        let mut is_allowed = |message| {
            !server
                .call("git_commit", &json!({"message": message}))
                .is_error
        };
        assert!(is_allowed(allowed), "{pattern} {allowed}");
        assert!(!is_allowed(refused), "{pattern} {refused}");
    }
}

#[test]
fn a_large_pattern_is_matched_within_bounds() {
    let folder = Folder::new();
    let policy =
        "tools: {git_commit: {args: {message: {pattern: '(?:.*[ab].{0,3000}\\b){3}c'}}}}\n";
    let policy = write_policy(&folder, "policy.yaml", policy);
    let mut server = Server::start(&mut fixtures!("--policy", policy));
    let message = "aé".repeat(40_000);
    let response = server.call("git_commit", &json!({"message": message}));
    assert!(
        response.text.starts_with("Policy validation failed"),
        "{response:?}"
    );
}

#[test]
fn a_pattern_prone_to_catastrophic_backtracking_is_matched_in_linear_time() {
    let folder = Folder::new();
    let policy = "tools: {git_commit: {args: {message: {pattern: '(a+)+$'}}}}\n";
    let policy = write_policy(&folder, "policy.yaml", policy);
    let mut server = Server::start(&mut fixtures!("--policy", policy));
    let message = "a".repeat(100_000);
    assert!(
        !server
            .call("git_commit", &json!({"message": message}))
            .is_error
    );
    let response = server.call("git_commit", &json!({"message": message + "!"}));
    assert!(
        response.text.starts_with("Policy validation failed"),
        "{response:?}"
    );
}

#[test]
fn a_policy_at_the_start_can_only_narrow_the_baked_one() {
    let folder = Folder::new();
    let policy = "default: enabled\n\
                  approval: {global: none}\n\
                  tools:\n\
                  \x20 dump_kinds: {args: {count: {min: 5, max: 100}, text: {pattern: 'a.*'}}}\n";
    let policy = write_policy(&folder, "policy.yaml", policy);
    let mut server = Server::start(&mut guarded!("--policy", policy));
    assert_eq!(
        server.matching_tools(&json!({"query": "git"})),
        ["git_log", "git_commit"]
    );
    let found = server.search(&json!({"query": "dump_kinds"}));
    let properties = properties(&found["results"][0], "input_schema");
    assert_eq!(
        properties["count"],
        json!({"type": "integer", "minimum": 5, "maximum": 10})
    );
    assert_eq!(properties["text"]["pattern"], "^(?:[a-z]+)$");
    assert_eq!(
        properties["text"]["allOf"],
        json!([{"pattern": "^(?:a.*)$"}])
    );
    for (arguments, refusal) in [
        (json!({"count": 3}), "'count': value 3 is below minimum 5.0"),
        (
            json!({"count": 11}),
            "'count': value 11 exceeds maximum 10.0",
        ),
        (json!({"text": "bc"}), "does not match pattern 'a.*'"),
        (json!({"text": "aB"}), "does not match pattern '[a-z]+'"),
    ] {
        let response = server.call("dump_kinds", &arguments);
        assert!(response.text.contains(refusal), "{response:?}");
    }
    assert!(
        !server
            .call("dump_kinds", &json!({"count": 5, "text": "ab"}))
            .is_error
    );
}

#[test]
fn several_policies_apply_together() {
    let folder = Folder::new();
    let one =
        "tools: {git_log: {description: First, args: {max_count: {max: 50}}}, git_status: {}}\n";
    let other =
        "tools: {git_log: {description: Second, args: {max_count: {min: 5}}}, git_tag: {}}\n";
    let (one, other) = (
        write_policy(&folder, "one.yaml", one),
        write_policy(&folder, "other.yaml", other),
    );
    let mut command = fixtures!("--policy", &one, "--policy", &other);
    let mut server = Server::start(&mut command);
    assert_eq!(server.matching_tools(&json!({"query": ""})), ["git_log"]);
    let found = server.search(&json!({"query": "log"}));
    assert_eq!(found["results"][0]["description"], "Second");
    for (count, is_allowed) in [(4, false), (5, true), (50, true), (51, false)] {
        let response = server.call("git_log", &json!({"max_count": count}));
        assert_eq!(!response.is_error, is_allowed, "{response:?}");
    }
    let nothing = write_policy(&folder, "nothing.yaml", "tools: {git_push: {}}\n");
    let output = run(&mut fixtures!("--policy", &one, "--policy", &nothing));
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("[CLX057]: no tool is allowed by all policies"),
        "{stderr}"
    );
}

#[test]
fn cli_selection_and_policies_apply_together() {
    let names = |arguments: &[&str]| {
        let output = run(fixtures!("list", "--json", "--policy", POLICY).args(arguments));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, stderr)
    };
    let (output, _) = names(&["git"]);
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(list["tools"].as_array().map(Vec::len), Some(2));
    let (output, stderr) = names(&["docker"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr, "error: the policy allows no tool of `docker`\n");
}

#[test]
fn a_policy_that_matches_no_tool_is_refused_without_advice_to_enable_everything() {
    let folder = Folder::new();
    let path = folder.path().join("policy.yaml");
    std::fs::write(&path, "tools: {terraform_plan: {}}\n").expect("written");
    let output = run(&mut fixtures!("--policy", &path));
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("none of the tools that this policy allows exists"),
        "{stderr}"
    );
    assert!(!stderr.contains("default: enabled"), "{stderr}");
}

#[test]
fn list_shows_the_tools_and_limits_that_a_policy_leaves() {
    for command in both() {
        let output = run(Command::new(command.get_program())
            .arg("list")
            .args(command.get_args()));
        let table = String::from_utf8_lossy(&output.stdout);
        for part in [
            "git-tools (2 tools)",
            "[max_count:..100=10]",
            "[text:/^(?:[a-z]+)$/]",
            "7 tools in all",
        ] {
            assert!(table.contains(part), "{part} is not in:\n{table}");
        }
        assert!(!table.contains("git_push"), "{table}");
    }
}

#[test]
fn a_missing_policy_file_prevents_the_start() {
    let output = run(&mut fixtures!("--policy", "no/such.yaml"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("error[CLX001]: cannot read `no/such.yaml`"),
        "{stderr}"
    );
}
