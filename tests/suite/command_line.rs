//! The server's command line: subcommands, options, and their errors.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use climax_tests::{Folder, Server, fixtures, one_call_session, run, run_with_input, text};
use serde_json::{Value, json};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn run_is_the_default_command() {
    for mut command in [fixtures!("run", "--classic"), fixtures!("--classic")] {
        assert_eq!(Server::start(&mut command).tools().len(), 43);
    }
}

#[test]
fn cli_arguments_select_configs_by_file_name_or_config_name() {
    for mut command in [
        fixtures!("git", "docker"),
        fixtures!("run", "git-tools", "docker-tools"),
        fixtures!("docker", "git-tools"),
    ] {
        let mut server = Server::start(&mut command);
        let summary = server.search(&json!({}));
        let names: Vec<String> = summary["summary"]
            .as_array()
            .expect("a summary")
            .iter()
            .map(|cli| text(&cli["name"]))
            .collect();
        assert_eq!(names, ["docker-tools", "git-tools"]);
        assert_eq!(
            server
                .matching_tools(&json!({"query": "", "limit": 100}))
                .len(),
            13
        );
        assert_eq!(server.call("git_status", &json!({})).text, "git status");
        let other = server.call("dump_nothing", &json!({}));
        assert_eq!(other.text, "Unknown tool: dump_nothing");
    }
    let tools = Server::start(&mut fixtures!("docker", "--classic")).tools();
    assert_eq!(tools.len(), 3);
}

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    for words in [&["list"][..], &["list", "--json"], &["search", "git"]] {
        let full = fs::File::create("/dev/full").expect("a device");
        let output = fixtures!().args(words).stdout(full).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let output_text = stderr(&output);
        assert!(
            output_text.contains("cannot write to standard output"),
            "{output_text}"
        );
    }
}

#[test]
fn an_unknown_cli_name_is_refused_with_the_list_of_baked_ones() {
    let output = run(&mut fixtures!("kubectl"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: there is no command or CLI named `kubectl`. CLIs in this binary:\n  \
         behave (behave-tools)\n  docker (docker-tools)\n  dump (dump-tools)\n  empty (empty-tools)\n  git (git-tools)\n  \
         missing (missing-tools)\n  plain (climax)\n  real (real-tools)\n  shell (shell-tools)\n"
    );
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_misspelt_command_or_cli_gets_a_suggestion() {
    for (mut command, expected) in [
        (
            fixtures!("lst"),
            "error: there is no command or CLI named `lst`; did you mean `list`?\n",
        ),
        (
            fixtures!("gti"),
            "error: there is no command or CLI named `gti`; did you mean `git`?\n",
        ),
        (
            fixtures!("run", "dokcer"),
            "error: there is no CLI named `dokcer`; did you mean `docker`?\n",
        ),
        (
            fixtures!("list", "lst"),
            "error: there is no CLI named `lst`. CLIs in this binary:\n",
        ),
    ] {
        let output = run(&mut command);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn help_wraps_to_the_width_of_the_terminal_and_has_examples() {
    let commands = ["run", "list", "search", "show", "call"];
    for command in [None].into_iter().chain(commands.map(Some)) {
        let help = |columns: &str| {
            let output = run(fixtures!()
                .args(command)
                .arg("--help")
                .env("COLUMNS", columns));
            assert!(output.status.success(), "{output:?}");
            stdout(&output)
        };
        let [narrow, wide] = ["60", "200"].map(help);
        let width = |help: &str| help.lines().map(|line| line.chars().count()).max();
        assert!(width(&narrow) <= Some(60), "{narrow}");
        assert!(width(&wide) > Some(60), "{wide}");
        assert!(narrow.lines().count() > wide.lines().count(), "{narrow}");
        let examples = wide.split_once("\nExamples:\n").expect("examples").1;
        let start = command.map_or("  climax".to_owned(), |name| format!("  climax {name}"));
        assert!(examples.starts_with(&start), "{wide}");
    }
    let help = stdout(&run(fixtures!("--help").env("COLUMNS", "200")));
    let line = "Bytes of standard output in a result (standard error: 1/4 of it); longer output is stored \
                [default: 32768]";
    assert!(help.contains(line), "{help}");
}

#[test]
fn a_count_of_one_is_singular() {
    let table = stdout(&run(&mut fixtures!("list", "missing", "docker")));
    assert!(table.contains("missing-tools (1 tool)\n"), "{table}");
    assert!(table.contains("docker-tools (3 tools)\n"), "{table}");
    let table = stdout(&run(&mut fixtures!("list", "missing")));
    assert!(table.ends_with("1 tool in all\n"), "{table}");
}

#[test]
fn a_subcommand_after_other_arguments_is_refused_with_an_explanation() {
    for (mut command, expected) in [
        (
            fixtures!("--classic", "list"),
            "error: `list` is a command and must come first: climax list ...\n",
        ),
        (
            fixtures!("git", "search"),
            "error: `search` is a command and must come first: climax search ...\n",
        ),
        (
            fixtures!("validate"),
            "error: configs are checked before they are baked: climax-codegen check FOLDER\n",
        ),
    ] {
        let output = run(&mut command);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(stderr(&output), expected);
    }
}

#[test]
fn a_config_path_is_refused_with_how_to_bake_it() {
    for mut command in [
        fixtures!("my/tools.yaml"),
        fixtures!("run", "my/tools.yaml"),
        fixtures!("--config", "my/tools.yaml"),
        fixtures!("list", "my/tools.yaml"),
    ] {
        let output = run(&mut command);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains("configs are baked"), "{message}");
        assert!(
            message.contains("CLIMAX_CONFIGS=my/tools.yaml cargo build"),
            "{message}"
        );
    }
}

#[test]
fn the_version_shows_the_catalog_digest_and_counts() {
    for mut command in [
        fixtures!("-V"),
        fixtures!("--version"),
        fixtures!("run", "-V"),
        fixtures!("list", "--version"),
    ] {
        let output = run(&mut command);
        assert!(output.status.success());
        let version = stdout(&output);
        let start = format!("climax {} (catalog ", env!("CARGO_PKG_VERSION"));
        assert!(version.starts_with(&start), "{version}");
        assert!(
            version.ends_with(", 9 CLIs, 43 tools, search by meaning)\n"),
            "{version}"
        );
    }
}

#[test]
fn list_prints_a_table_of_tools_with_description_command_and_arguments() {
    let output = run(&mut fixtures!("list", "git"));
    assert!(output.status.success());
    let table = stdout(&output);
    let log = table
        .lines()
        .find(|line| line.contains("git_log"))
        .expect("a row");
    let words: Vec<&str> = log.split_whitespace().collect();
    assert_eq!(
        words,
        [
            "git_log",
            "Show",
            "commit",
            "history",
            "echo",
            "git",
            "log",
            "[max_count:integer=10]"
        ]
    );
    let commit = table
        .lines()
        .find(|line| line.contains("git_commit"))
        .expect("a row");
    assert!(commit.ends_with("  message"), "{commit}");
    assert!(table.contains("10 tools in all"));
    assert!(!table.contains("docker_ps"));
}

#[test]
fn list_shows_the_risk_of_each_tool() {
    let table = stdout(&run(&mut fixtures!("list", "docker")));
    let risks: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(risks, ["RISK", "read", "write", "destructive"], "{table}");
    let output = run(&mut fixtures!("list", "--json"));
    let list: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let tools = list["tools"].as_array().expect("tools");
    for (name, risk) in [
        ("docker_ps", json!("read")),
        ("docker_rm", json!("destructive")),
        ("git_commit", Value::Null),
    ] {
        let tool = tools.iter().find(|tool| tool["tool_name"] == name);
        assert_eq!(tool.expect("there").get("risk"), Some(&risk), "{name}");
    }
}

#[test]
fn list_prints_json_on_request() {
    let output = run(&mut fixtures!("list", "--json"));
    let list: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let tools = list["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 43);
    let commit = tools.iter().find(|tool| tool["tool_name"] == "git_commit");
    assert_eq!(commit.expect("there")["command"], "echo git commit");
    assert_eq!(list["catalog"].as_str().map(str::len), Some(16));
}

#[test]
fn list_into_a_closed_pipe_succeeds_silently() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = fixtures!("list")
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn();
    let output = output
        .expect("it starts")
        .wait_with_output()
        .expect("it ends");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn the_log_goes_to_standard_error_and_to_the_log_file() {
    let folder = Folder::new();
    let file = folder.path().join("climax.log");
    let input = one_call_session("git_status");
    let quiet = run_with_input(&mut fixtures!("--classic"), &input);
    assert_eq!(stderr(&quiet), "");
    let mut command = fixtures!("--classic", "--log-level", "INFO");
    let loud = run_with_input(command.env("CLIMAX_LOG_FILE", &file), &input);
    assert!(
        stderr(&loud).contains("running \"echo\" \"git\" \"status\""),
        "{loud:?}"
    );
    assert_eq!(stdout(&loud), stdout(&quiet), "the protocol is the same");
    let log = fs::read_to_string(&file).expect("a log");
    assert!(log.contains("running \"echo\" \"git\" \"status\""), "{log}");
}

/// The log file of a server that gets these calls, and its folder.
fn logged(arguments: &[&str], calls: &[(&str, Value)]) -> (Folder, String) {
    let folder = Folder::new();
    let file = folder.path().join("climax.log");
    let mut server = Server::start(fixtures!().args(arguments).env("CLIMAX_LOG_FILE", &file));
    for (tool, args) in calls {
        server.call(tool, args);
    }
    assert!(server.close().0.success());
    let log = fs::read_to_string(&file).expect("a log");
    (folder, log)
}

#[test]
fn the_log_file_is_private_honours_the_level_and_has_directory_and_exit_code() {
    let calls = [
        ("shell_run", json!({"script": ":", "directory": "/usr"})),
        (
            "shell_run",
            json!({"script": "exit 3", "directory": "/usr"}),
        ),
    ];
    let (folder, log) = logged(&[], &calls);
    let metadata = fs::metadata(folder.path().join("climax.log")).expect("a file");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    for part in [
        "running \"sh\"",
        "directory=\"/usr\"",
        "exit code 0",
        "exit code 3",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let (_folder, log) = logged(&["--log-level", "warning"], &calls);
    let [line] = log.lines().collect::<Vec<_>>()[..] else {
        panic!("{log}");
    };
    assert!(
        line.contains("exit code 3") && line.contains("directory=\"/usr\""),
        "{line}"
    );
    let (_folder, log) = logged(&["--log-level", "error"], &calls);
    assert_eq!(log, "");
}

#[test]
fn a_call_cannot_forge_lines_or_change_the_terminal_through_the_log() {
    let hostile =
        "\n2030-01-01T00:00:00Z ERROR forged\r\u{1b}]0;title\u{7}\u{202e}\u{2028}\u{9b}31m";
    let refused = json!({"count": hostile, hostile: 1});
    let calls = [
        (
            "shell_run",
            json!({"script": format!(": '{hostile}'; exit 3")}),
        ),
        ("shell_run", json!({"script": ":", "directory": hostile})),
        ("dump_kinds", refused),
    ];
    let (_folder, log) = logged(&[], &calls);
    assert!(log.contains("forged") && log.contains("refused"), "{log}");
    assert!(log.lines().all(|line| !line.starts_with("2030")), "{log}");
    let is_hostile = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{202e}' | '\u{2028}')
    };
    assert!(!log.contains(is_hostile), "{log:?}");
}

#[test]
fn the_log_has_no_values_of_arguments_and_headers_that_look_like_secrets() {
    let header = "Authorization: Bearer hidden-1";
    let calls = [
        ("dump_kinds", json!({"text": header})),
        ("dump_kinds", json!({"text": "--token=hidden-2"})),
        (
            "dump_kinds",
            json!({"text": "x-api-key: hidden-3", "count": "wrong"}),
        ),
        ("dump_kinds", json!({"count": header})),
    ];
    let (_folder, log) = logged(&[], &calls);
    assert!(
        log.contains("Authorization: ***") && log.contains("--token=***"),
        "{log}"
    );
    assert!(log.contains("refused") && !log.contains("hidden"), "{log}");
}

#[test]
fn an_unwritable_log_file_prevents_the_start() {
    let output = run(fixtures!().env("CLIMAX_LOG_FILE", "/no/such/folder/log"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("CLIMAX_LOG_FILE"), "{output:?}");
}

#[test]
fn on_a_terminal_the_server_explains_itself_and_serves() {
    // `script` provides a terminal.
    let mut command = std::process::Command::new("script");
    let inner = format!("{} git 2>&1 </dev/tty", env!("CARGO_BIN_EXE_fixtures"));
    command.args(["-qec", &inner, "/dev/null"]);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": climax_tests::initialize_params("2025-11-25")});
    // Ctrl-D ends the terminal's input.
    let output = run_with_input(&mut command, &format!("{request}\n\u{4}\u{4}"));
    let output_text = stdout(&output);
    assert!(
        output_text.contains("This is an MCP server with 10 tools."),
        "{output_text}"
    );
    assert!(
        output_text.contains("claude mcp add climax -- "),
        "{output_text}"
    );
    assert!(output_text.contains("\"serverInfo\""), "{output_text}");
}
