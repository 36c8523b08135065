//! The shipped configs and policies, run with real programs.

mod attacks;
mod corrections;
mod files;
mod machine;
mod policies;
mod programs;
mod requests;
mod undo;

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, run};
use serde_json::{Value, json};

fn climax() -> Command {
    Command::new(env!("CARGO_BIN_EXE_climax"))
}

/// A server whose git ignores the machine's configuration.
fn server() -> Server {
    Server::start(
        climax()
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org"),
    )
}

fn call(server: &mut Server, tool: &str, args: &Value) -> String {
    let response = server.call(tool, args);
    assert!(!response.is_error, "{tool} {args}: {response:?}");
    response.text
}

/// A repository with one commit and an uncommitted change.
fn repository(server: &mut Server, message: &str) -> Folder {
    let folder = Folder::new();
    let (repo, file) = (folder.text(), folder.path().join("file.txt"));
    call(server, "git_init", &json!({"directory": repo}));
    fs::write(&file, "one\n").expect("a file");
    call(
        server,
        "git_add",
        &json!({"directory": repo, "path": "file.txt"}),
    );
    call(
        server,
        "git_commit",
        &json!({"directory": repo, "message": message}),
    );
    fs::write(&file, "two\n").expect("a file");
    folder
}

#[test]
fn list_shows_the_shipped_tools() {
    let output = run(climax().arg("list"));
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["git_status", "git_commit", "read_file", "tools in all"] {
        assert!(table.contains(part), "{table}");
    }
}

#[test]
fn a_repository_can_be_created_changed_and_read() {
    let mut server = server();
    let folder = repository(&mut server, "-- first: $(id)");
    let repo = folder.text();
    let status = call(&mut server, "git_status", &json!({"directory": repo}));
    assert!(status.lines().any(|line| line == " M file.txt"), "{status}");
    let diff = call(
        &mut server,
        "git_diff",
        &json!({"directory": repo, "path": "file.txt"}),
    );
    assert!(diff.contains("-one\n+two"), "{diff}");
    let log = call(
        &mut server,
        "git_log",
        &json!({"directory": repo, "max_count": "1"}),
    );
    assert!(log.contains("-- first: $(id)"), "{log}");
}

#[test]
fn a_path_that_looks_like_an_option_is_not_used_as_one() {
    let folder = Folder::new();
    let repo = folder.text();
    let mut server = server();
    call(&mut server, "git_init", &json!({"directory": repo}));
    let written = folder.path().join("written");
    let path = format!("--output={}", written.display());
    for tool in ["git_diff", "git_log", "git_status"] {
        let response = server.call(tool, &json!({"directory": repo, "path": path}));
        assert!(!written.exists(), "{tool}: {response:?}");
        assert!(
            !response.text.contains("Unknown tool"),
            "{tool}: {response:?}"
        );
    }
}

#[test]
fn a_call_with_joined_values_says_how_to_pass_a_list() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    fs::write(folder.path().join("a,b"), "").expect("a file");
    let arguments = json!({"directory": folder.text(), "path": "a,b"});
    let response = server.call("git_add", &arguments);
    assert_eq!(
        response.text,
        "Argument validation failed:\n  - Argument 'path': pass a list: [\"a\",\"b\"], or [\"a,b\"] for one value"
    );
    let one = json!({"directory": folder.text(), "path": ["a,b"]});
    call(&mut server, "git_add", &one);
    // A tool that reads takes the text for one value, and says so.
    let response = server.call("git_ls_files", &arguments);
    assert_eq!(response.text, "a,b");
    let note = "Argument 'path': pass a list: [\"a\",\"b\"], or [\"a,b\"] for one value";
    assert_eq!(response.hint(), Some(note));
    // A name may have spaces, but not often one that fits nothing.
    let arguments = json!({"directory": folder.text(), "path": "file.txt my file"});
    let response = server.call("git_ls_files", &arguments);
    assert!(response.hint().is_some(), "{response:?}");
}

#[test]
fn a_call_with_a_wildcard_that_has_no_effect_says_that_no_shell_expands_it() {
    let mut server = server();
    let folder = Folder::new();
    let path = folder.path().join("*.tmp");
    let response = server.call("remove_file", &json!({"path": path, "force": true}));
    let note = "Argument 'path': no shell expands '*' and '?', so pass each file";
    assert_eq!(response.hint(), Some(note), "{response:?}");
}

#[test]
fn files_can_be_written_read_and_searched() {
    let folder = Folder::new();
    let directory = folder.text();
    let mut server = server();
    let text = "alpha\nbeta\ngamma\n";
    call(
        &mut server,
        "write_file",
        &json!({"directory": directory, "path": "a.txt", "content": text}),
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).expect("a file"),
        text
    );
    let read = call(
        &mut server,
        "read_file",
        &json!({"directory": directory, "path": "a.txt"}),
    );
    assert_eq!(read, text.trim_end());
    let found = call(
        &mut server,
        "search_text",
        &json!({"directory": directory, "pattern": "bet", "path": "a.txt"}),
    );
    assert!(found.contains("beta"), "{found}");
    let files = call(&mut server, "list_files", &json!({"directory": directory}));
    assert!(files.contains("a.txt"), "{files}");
}

#[test]
fn searches_find_the_shipped_tools() {
    let mut server = server();
    for (query, tool) in [
        ("commit", "git_commit"),
        ("show changes that are not staged", "git_diff"),
        ("search for text in files", "search_text"),
    ] {
        let found = server.matching_tools(&json!({"query": query}));
        assert!(
            found.iter().take(10).any(|name| name == tool),
            "{query}: {found:?}"
        );
    }
}

#[test]
fn everyday_queries_find_the_tool_among_the_first_five() {
    let mut server = server();
    for (query, tool) in [
        ("list pods", "kubectl_get"),
        ("rollback deployment", "kubectl_rollout_undo"),
        ("take node out of service", "kubectl_drain"),
        ("who wrote this line", "git_blame"),
        ("save work in progress", "git_stash_push"),
        ("show uncommitted changes", "git_status"),
        ("git checkout -b", "git_switch_create"),
        ("bring up compose stack", "docker_compose_up"),
        ("list running containers", "docker_ps"),
        ("grep recursively TODO", "search_directory"),
        ("sha256 of file", "file_checksum"),
        ("how many lines does this file have", "count_text"),
        ("extract field from json", "jq_file"),
        ("check whether a website is up", "curl_head"),
        ("http request", "curl_get"),
        (
            "check my node dependencies for security problems",
            "npm_audit",
        ),
        ("service failed to start", "journal_read"),
        ("scheduled jobs", "systemctl_list_timers"),
        ("available updates", "apt_list_upgradable"),
        ("which crate pulls in openssl", "cargo_tree"),
    ] {
        let found = server.matching_tools(&json!({"query": query, "limit": 5}));
        assert!(found.iter().any(|name| name == tool), "{query}: {found:?}");
    }
}

#[test]
fn a_short_word_does_not_find_longer_words_that_contain_it_first() {
    let mut server = server();
    for (query, weak) in [("sed", "cargo_clippy_fix"), ("tar", "docker_start")] {
        let found = server.matching_tools(&json!({"query": query}));
        assert!(!found.is_empty() && found[0] != weak, "{query}: {found:?}");
    }
}

/// The build fails if a call with an example's arguments would be refused.
#[test]
fn every_shipped_tool_shows_example_calls_with_all_required_arguments() {
    let mut server = Server::start(climax().arg("--explore"));
    let all = server.matching_tools(&json!({"query": "", "limit": 1000}));
    assert_eq!(all.len(), 333);
    for tools in all.chunks(50) {
        let response = server.call_registered("get_tool_details", &json!({"tool_id": tools}));
        let responses = response.json();
        for details in responses.as_array().expect("a list") {
            let parameters = details["tool_details"]["parameters"]
                .as_array()
                .expect("a list");
            let examples = details["usage_examples"].as_array().expect("a list");
            assert!(!examples.is_empty(), "{details}");
            for example in examples {
                let args = example["arguments"]["args"].as_object().expect("an object");
                let required = parameters
                    .iter()
                    .filter(|parameter| parameter["required"] == true);
                for parameter in required {
                    let name = parameter["name"].as_str().expect("a name");
                    assert!(args.contains_key(name), "{example}");
                }
                assert!(example["command_line"].is_string(), "{example}");
            }
        }
    }
}
