//! Behaviours of CLImax for Python that no other test covers. `inherited.md` has the whole list.

use std::fs;
use std::path::{Path, PathBuf};

use climax_catalog::build;
use climax_catalog::schema::input_schema;
use climax_codegen::check::check;
use climax_codegen::compile;
use climax_codegen::facts::facts;
use climax_codegen::model::{ArgumentPlacement, CliModel, Risk};
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::draw::render;
use climax_input::source::{Source, Sources, read};
use climax_tests::{
    Folder, Server, fixtures, one_call_session, run, run_with_input, text, tool_response,
};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!())
}

fn source(name: &str, text: &str) -> Source {
    Source {
        path: format!("{name}.yaml"),
        stem: name.to_owned(),
        file_name: format!("{name}.yaml"),
        text: text.to_owned(),
        invalid_utf8_offset: None,
    }
}

/// A valid config.
struct Accepted {
    cli: CliModel,
    code: String,
    /// Its warnings.
    diagnostics: Vec<Diagnostic>,
}

fn accepted(text: &str) -> Accepted {
    let sources = Sources::from(vec![source("config", text)]);
    let mut compiled = compile(&sources);
    // These tests are about other warnings.
    compiled
        .diagnostics
        .retain(|diagnostic| diagnostic.code != Code::NoCategory);
    let code = compiled.source;
    let code = code.unwrap_or_else(|| panic!("{}", render(&compiled.diagnostics, &sources.all)));
    Accepted {
        cli: models(&sources).remove(0),
        code,
        diagnostics: compiled.diagnostics,
    }
}

/// The models of the configs.
fn models(sources: &Sources) -> Vec<CliModel> {
    let mut diagnostics = Vec::new();
    let configs = climax_codegen::read_configs(&sources.all, &mut diagnostics);
    check(configs, &mut diagnostics).0
}

/// The errors of reading paths that cannot be read.
fn read_errors(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    let errors = read(root, paths, None).err().expect("an error");
    errors.into_iter().map(|error| error.message).collect()
}

// Configs.

#[test]
fn a_missing_config_is_reported_by_path() {
    let folder = Folder::new();
    let messages = read_errors(folder.path(), &["nope.yaml".into()]);
    assert_eq!(messages.len(), 1);
    assert!(messages[0].contains("`nope.yaml`"), "{messages:?}");
}

#[test]
fn an_empty_list_or_folder_of_configs_is_refused() {
    let folder = Folder::new();
    assert_eq!(
        read_errors(folder.path(), &[]),
        ["no configs are specified"]
    );
    assert_eq!(
        read_errors(folder.path(), &[".".into()]),
        ["the folder `.` contains no configs"]
    );
}

#[test]
fn one_invalid_config_fails_the_build_and_only_it_is_reported() {
    let sources = Sources::from(vec![
        source(
            "right",
            "command: x\ncategory: y\ntools: [{name: a, description: A tool}]\n",
        ),
        source("wrong", "tools: [{name: b, description: Another}]\n"),
    ]);
    let compiled = compile(&sources);
    assert!(compiled.source.is_none());
    let report = render(&compiled.diagnostics, &sources.all);
    assert!(report.contains("wrong.yaml:1:1"), "{report}");
    assert!(!report.contains("right.yaml"), "{report}");
}

#[test]
fn the_default_timeout_is_thirty_seconds() {
    let accepted = accepted(
        "command: x
tools:
  - {name: slow, description: Takes long, timeout: 120}
  - {name: fast, description: Does not}
",
    );
    let tools = accepted.cli.tools.iter();
    let timeouts: Vec<u64> = tools.map(|tool| tool.timeout_ms).collect();
    assert_eq!(timeouts, [120_000, 30_000]);
}

#[test]
fn category_and_tags_are_independent() {
    for (field, written) in [
        ("category: devops", r#""category":"devops","tags":[]"#),
        (
            "tags: [automation, ci]",
            r#""category":null,"tags":["automation","ci"]"#,
        ),
    ] {
        let config = format!("command: x\n{field}\ntools: [{{name: a, description: A tool}}]\n");
        let clis = [accepted(&config).cli];
        let baked = build(&facts(&clis)).text;
        // Once in the summary, once in each tool's entry.
        assert_eq!(baked.matches(written).count(), 2, "{baked}");
    }
}

#[test]
fn the_flag_of_a_cwd_argument_is_ignored() {
    let accepted = accepted(
        "command: x
tools:
  - name: a
    description: A tool
    args: [{name: workdir, flag: --workdir, cwd: true}]
",
    );
    assert_eq!(
        accepted.cli.tools[0].arguments[0].placement,
        ArgumentPlacement::Directory
    );
    assert!(!accepted.code.contains("--workdir"));
}

#[test]
fn a_boolean_flag_may_be_a_bare_word() {
    let accepted = accepted(
        "command: x
tools:
  - name: files
    description: A tool
    args: [{name: total, type: boolean, flag: total}]
",
    );
    let code = accepted.code;
    assert!(
        code.contains(r#"argv.switch("total", self.total);"#),
        "{code}"
    );
}

#[test]
fn a_global_argument_without_a_default_is_omitted_with_a_warning() {
    let accepted = accepted(
        "command: x
global_args: [{name: vault, flag: vault=}]
tools: [{name: a, description: A tool}]
",
    );
    assert!(accepted.cli.global_arguments.is_empty());
    let codes: Vec<Code> = accepted
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect();
    assert_eq!(codes, [Code::IneffectiveGlobalArgument]);
}

#[test]
fn a_global_boolean_may_default_to_true() {
    let accepted = accepted(
        "command: x
global_args: [{name: verbose, type: boolean, default: true}]
tools: [{name: a, description: A tool}]
",
    );
    let code = accepted.code;
    assert!(
        code.contains(r#"argv.global_switch("--verbose", "true");"#),
        "{code}"
    );
    assert!(
        accepted.diagnostics.is_empty(),
        "{:?}",
        accepted.diagnostics
    );
}

#[test]
fn global_args_may_be_an_empty_list() {
    let accepted =
        accepted("command: x\nglobal_args: []\ntools: [{name: a, description: A tool}]\n");
    assert!(accepted.cli.global_arguments.is_empty());
    assert!(
        accepted.diagnostics.is_empty(),
        "{:?}",
        accepted.diagnostics
    );
}

#[test]
fn risk_confirmation_and_resolve_are_accepted_together() {
    let accepted = accepted(
        r#"command: x
tools:
  - name: delete_thing
    description: Delete a thing
    risk: destructive
    confirm_message: "Delete {id} ({_name})?"
    resolve: {_name: {command: describe, args: {id: "{id}"}, timeout: 5}}
    args: [{name: id, type: integer, required: true, positional: true}]
"#,
    );
    assert_eq!(accepted.cli.tools[0].risk, Some(Risk::Destructive));
    assert!(
        accepted.diagnostics.is_empty(),
        "{:?}",
        accepted.diagnostics
    );
}

#[test]
fn a_schema_has_type_description_default_and_enum_of_an_argument() {
    let accepted = accepted(
        "command: x
tools:
  - name: a
    description: A tool
    args:
      - name: format
        description: Output format
        required: true
        default: json
        enum: [json, table]
",
    );
    let clis = [accepted.cli];
    let schema = Value::from(input_schema(&facts(&clis).tools[0].arguments, &[], None));
    let format = json!({
        "type": "string", "description": "Output format", "default": "json",
        "enum": ["json", "table"],
    });
    assert_eq!(
        schema,
        json!({"type": "object", "properties": {"format": format}, "required": ["format"]})
    );
}

#[test]
fn every_shipped_config_has_a_category_and_tags() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(sources) = read(&root, &["configs".into()], None) else {
        panic!("the shipped configs are there")
    };
    for cli in &models(&sources) {
        assert!(cli.category.is_some(), "{}", cli.name);
        assert!(!cli.tags.is_empty(), "{}", cli.name);
    }
}

// Calls.

#[test]
fn one_server_calls_the_tools_of_every_config() {
    let mut server = start();
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
    assert_eq!(server.call("docker_ps", &json!({})).text, "docker ps");
    let exited = server.call("behave_exit", &json!({"code": 0, "out": "out"}));
    assert_eq!(exited.text, "out");
    for (tool, argv) in [
        ("dump_nothing", json!([])),
        (
            "plain_nothing",
            json!(["base", "words", "--region-name", "eu"]),
        ),
    ] {
        assert_eq!(server.call(tool, &json!({})).json()["argv"], argv, "{tool}");
    }
}

#[test]
fn a_registered_tool_may_be_called_without_arguments() {
    let mut server = Server::start(&mut fixtures!("--classic"));
    for params in [
        json!({"name": "git_status"}),
        json!({"name": "git_status", "arguments": null}),
        json!({"name": "git_status", "arguments": {}}),
    ] {
        let response = server.request("tools/call", &params);
        assert_eq!(tool_response(&response).text, "git status", "{params}");
    }
}

#[test]
fn a_destructive_tool_runs_without_a_policy() {
    let response = start().call("docker_rm", &json!({"container": "c"}));
    assert!(!response.is_error);
    assert_eq!(response.text, "docker rm c");
}

#[test]
fn a_failure_shows_stdout_stderr_and_exit_code_in_this_order() {
    let response = start().call(
        "behave_exit",
        &json!({"code": 1, "out": "out", "err": "err"}),
    );
    assert!(response.is_error);
    assert_eq!(response.text, "out\n\n[stderr]\nerr\n\n[exit code: 1]");
}

#[test]
fn operators_are_ordinary_positional_values() {
    let mut server = start();
    for operator in ["+", "-", "*", "/"] {
        let args = json!({"path": operator, "number": 3});
        let dumped = server.call("dump_positional", &args).json();
        assert_eq!(dumped["argv"], json!(["go", operator, "3"]));
    }
}

#[test]
fn a_stdin_argument_adds_no_word_and_is_empty_if_absent() {
    let mut server = start();
    for (args, stdin) in [
        (json!({"text": "Hello\nWorld"}), "Hello\nWorld"),
        (json!({}), ""),
    ] {
        let dumped = server.call("dump_stdin", &args).json();
        assert_eq!(dumped["argv"], json!([]));
        assert_eq!(dumped["stdin"], stdin);
    }
}

#[test]
fn a_long_value_reaches_the_program_in_full() {
    let long = "x".repeat(100_000);
    let mut server = Server::start(&mut fixtures!("--inline-output", "200000"));
    let dumped = server.call("dump_kinds", &json!({"text": long})).json();
    assert_eq!(dumped["argv"], json!(["show", "kinds", "-t", long]));
}

#[test]
fn false_coerces_to_the_integer_zero_and_a_list_to_no_boolean() {
    let mut server = start();
    let dumped = server.call("dump_kinds", &json!({"count": false})).json();
    assert_eq!(dumped["argv"], json!(["show", "kinds", "--count", "0"]));
    let response = server.call("dump_kinds", &json!({"verbose": [1, 2, 3]}));
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "Argument validation failed:\n  - Argument 'verbose': cannot convert '[1,2,3]' to boolean"
    );
}

// Search.

#[test]
fn a_query_is_literal_text_and_not_a_pattern() {
    let mut server = start();
    for query in [".*", "[a-z]", "git_.tatus", "^git", "git_*", "%"] {
        assert_eq!(
            server.matching_tools(&json!({"query": query})),
            [""; 0],
            "{query}"
        );
    }
}

#[test]
fn a_tag_a_category_or_a_name_finds_every_tool_of_its_cli_and_no_other() {
    let mut server = start();
    let tools = server.matching_tools(&json!({"cli": "git-tools", "limit": 100}));
    for query in ["version-control", "vcs", "git-tools"] {
        let found = server.matching_tools(&json!({"query": query, "limit": 100}));
        assert_eq!(found, tools, "{query}");
    }
}

#[test]
fn the_summary_counts_the_tools_of_each_cli_in_the_order_of_their_files() {
    let summary = start().search(&json!({}));
    let clis = summary["summary"].as_array().expect("a summary");
    let counts: Vec<Value> = clis
        .iter()
        .map(|cli| json!([cli["name"], cli["tool_count"]]))
        .collect();
    assert_eq!(
        json!(counts),
        json!([
            ["behave-tools", 7],
            ["docker-tools", 3],
            ["dump-tools", 14],
            ["empty-tools", 1],
            ["git-tools", 10],
            ["missing-tools", 1],
            ["climax", 2],
            ["real-tools", 3],
            ["shell-tools", 2],
        ])
    );
}

#[test]
fn required_arguments_are_listed_in_definition_order() {
    let mut server = start();
    for (tool, required) in [
        ("dump_required", json!(["message", "format", "count"])),
        ("dump_positional", json!(["path"])),
        ("dump_kinds", Value::Null),
    ] {
        let found = server.search(&json!({"query": tool}));
        assert_eq!(found["results"][0]["input_schema"]["required"], required);
    }
}

// The command line.

#[test]
fn a_name_and_a_log_level_need_no_subcommand() {
    let mut server = Server::start(&mut fixtures!("git", "--log-level", "DEBUG"));
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
    assert!(server.call("docker_ps", &json!({})).is_error);
}

#[test]
fn the_log_file_has_messages_that_standard_error_has_not() {
    let folder = Folder::new();
    let file = folder.path().join("climax.log");
    let input = one_call_session("git_status");
    let mut command = fixtures!("--classic");
    let output = run_with_input(command.env("CLIMAX_LOG_FILE", &file), &input);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let log = fs::read_to_string(&file).expect("a log");
    assert!(log.contains("git_status"), "{log}");
}

#[test]
fn list_shows_every_config_with_its_tool_count() {
    let output = run(&mut fixtures!("list", "git", "docker", "missing"));
    assert!(output.status.success());
    let list = String::from_utf8(output.stdout).expect("UTF-8");
    for part in [
        "git-tools (10 tools)\n",
        "docker-tools (3 tools)\n",
        "missing-tools (1 tool)\n",
        "git_status",
        "docker_ps",
        "missing_program",
        "\n14 tools in all\n",
    ] {
        assert!(list.contains(part), "{part:?} is not in:\n{list}");
    }
}

#[test]
fn list_keeps_the_order_of_the_configs() {
    let output = run(&mut fixtures!("list", "--json"));
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tools = list["tools"].as_array().expect("tools").iter();
    let listed: Vec<String> = tools.map(|tool| text(&tool["tool_name"])).collect();
    assert_eq!(
        listed,
        start().matching_tools(&json!({"query": "", "limit": 1000}))
    );
}
