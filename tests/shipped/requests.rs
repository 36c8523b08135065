//! `climax_search` finds the right tool for what people ask for.

use climax_tests::{plain_words, training_texts};
use serde_json::{Value, json};

use crate::{repository, server};

/// Requests in everyday words, written before the tools were looked at, and the tools that fulfil them.
const REQUESTS: [(&str, &[&str]); 40] = [
    ("show me what's in this folder", &["list_files"]),
    ("how big is this folder", &["disk_usage"]),
    ("how much space is left on the disk", &["disk_free"]),
    ("read lines 100 to 150 of a file", &["read_lines"]),
    ("find all files ending in .log", &["find_files"]),
    (
        "which files mention TODO",
        &["search_directory", "git_grep"],
    ),
    (
        "replace every occurrence of a word in a file",
        &["replace_text"],
    ),
    ("save this text to a file", &["write_file"]),
    ("rename a file", &["move_file"]),
    (
        "copy a file to another place without overwriting anything",
        &["copy_file"],
    ),
    ("delete a folder and everything in it", &["remove_file"]),
    ("how many lines does this file have", &["count_text"]),
    ("compare two files", &["diff_files"]),
    ("unpack a tar.gz archive", &["tar_extract"]),
    ("what is running on port 8080", &["listening_ports"]),
    ("kill the process with this pid", &["signal_process"]),
    (
        "which processes are using the most cpu",
        &["list_processes"],
    ),
    ("how much memory is free", &["memory_usage"]),
    ("is the machine overloaded", &["system_load"]),
    (
        "undo my last commit but keep the changes",
        &["git_undo_commit", "git_reset"],
    ),
    ("throw away my local edits to one file", &["git_restore"]),
    ("unstage a file", &["git_unstage"]),
    (
        "fix the message of the last commit",
        &["git_amend_message", "git_commit_amend"],
    ),
    ("who wrote this line", &["git_blame"]),
    (
        "what did I change since the last commit",
        &["git_diff", "git_status"],
    ),
    ("make a new branch and switch to it", &["git_switch_create"]),
    ("put my changes aside for later", &["git_stash_push"]),
    (
        "get the latest changes from the remote",
        &["git_pull", "git_fetch"],
    ),
    ("show the logs of a container", &["docker_logs"]),
    ("which containers are running", &["docker_ps"]),
    (
        "get a shell command run inside a container",
        &["docker_exec"],
    ),
    (
        "why is my pod crashing",
        &["kubectl_describe", "kubectl_logs"],
    ),
    ("scale a deployment to 5 replicas", &["kubectl_scale"]),
    ("install a javascript dependency", &["npm_install"]),
    ("run the rust tests", &["cargo_test"]),
    ("add a crate to my project", &["cargo_add"]),
    ("fetch a web page", &["curl_get"]),
    ("pull a field out of a json file", &["jq_file"]),
    ("restart a system service", &["systemctl_restart"]),
    (
        "is there a newer version of my installed packages",
        &["apt_list_upgradable", "npm_outdated"],
    ),
];

const MIN_FIRST: usize = 30;
const MIN_AMONG_FIRST_THREE: usize = 36;

#[test]
fn natural_requests_find_the_right_tool_first_or_among_the_first_three() {
    let mut server = server();
    let (mut first, mut among_first_three) = (0, 0);
    let mut misses = Vec::new();
    for (request, tools) in REQUESTS {
        let response = server.search(&json!({"query": request}));
        let found = found_tools(&response);
        let position = found.iter().position(|name| tools.contains(name));
        first += usize::from(position == Some(0));
        among_first_three += usize::from(position.is_some_and(|position| position < 3));
        if position != Some(0) {
            misses.push(format!("{request}: {found:?}"));
        }
    }
    assert!(
        first >= MIN_FIRST && among_first_three >= MIN_AMONG_FIRST_THREE,
        "{first} first, {among_first_three} among the first three: {misses:#?}"
    );
}

#[test]
fn word_vectors_are_trained_on_none_of_the_requests() {
    let training_texts = training_texts();
    let shared = REQUESTS
        .iter()
        .filter(|(request, _)| training_texts.contains(&plain_words(request)));
    let shared: Vec<_> = shared.collect();
    assert!(shared.is_empty(), "{shared:#?}");
}

/// The tools of a response, in the order in which an agent reads them.
fn found_tools(response: &Value) -> Vec<&str> {
    ["results", "related"]
        .iter()
        .filter_map(|key| response[key].as_array())
        .flatten()
        .filter_map(|entry| entry["tool_name"].as_str())
        .collect()
}

#[test]
fn an_unknown_argument_that_is_in_the_name_of_another_tool_suggests_that_tool() {
    let mut server = server();
    for (tool, args, suggested) in [
        (
            "git_reset",
            json!({"directory": "/", "hard": true}),
            "git_reset_hard",
        ),
        (
            "write_file",
            json!({"directory": "/", "append": true}),
            "append_file",
        ),
    ] {
        let refused = server.call(tool, &args);
        assert!(refused.is_error, "{tool}");
        let hint = refused.hint().unwrap_or_default();
        let mut tools = hint.trim_start_matches("Related tools: ").split(", ");
        assert_eq!(tools.next(), Some(suggested), "{tool}: {hint}");
    }
    let arguments = json!({"directory": "/", "quiet": true});
    let refused = server.call("git_clean", &arguments);
    assert_eq!(refused.hints.len(), 1, "no tool has this in its name");
}

#[test]
fn an_unknown_tool_suggests_tools_of_that_program_and_with_that_prefix() {
    let mut server = server();
    for (unknown, suggested) in [("ls", "list_files"), ("cat", "read_file")] {
        let response = server.call(unknown, &json!({}));
        let hint = response.hint().unwrap_or_default();
        assert!(hint.contains(suggested), "{unknown}: {hint}");
    }
    let response = server.call("git_stash", &json!({}));
    let hint = response.hint().unwrap_or_default();
    let (push, drop) = (hint.find("git_stash_push"), hint.find("git_stash_drop"));
    assert!(
        push.is_some() && push < drop,
        "the destructive tool is last: {hint}"
    );
}

#[test]
fn a_tool_that_changes_something_refuses_empty_lists_and_directories() {
    let mut server = server();
    let folder = repository(&mut server, "one");
    std::fs::write(folder.path().join("untracked"), "").expect("a file");
    for (tool, args, name) in [
        (
            "git_commit",
            json!({"directory": folder.text(), "message": "m", "path": []}),
            "path",
        ),
        (
            "git_reset_hard",
            json!({"directory": "", "revision": "HEAD"}),
            "directory",
        ),
    ] {
        let refused = server.call(tool, &args);
        let line = format!("Argument '{name}' is empty: it needs a value");
        assert_eq!(
            refused.text,
            format!("Argument validation failed:\n  - {line}")
        );
    }
    assert!(folder.path().join("untracked").exists());
    let file = std::fs::read_to_string(folder.path().join("file.txt")).expect("a file");
    assert_eq!(file, "two\n", "the change is still there");
}

/// Names of tools that agents guessed, and the tools that they meant.
const GUESSED_NAMES: [(&str, &str); 25] = [
    ("npm_list", "npm_ls"),
    ("docker_remove", "docker_rm"),
    ("sed", "rg_replace_preview"),
    ("delete_remote_branch", "git_push_refspec"),
    ("git_checkout", "git_switch"),
    ("git_checkout", "git_restore"),
    ("git_unstage_all", "git_unstage"),
    ("git_stash_save", "git_stash_push"),
    ("git_stash_clear", "git_stash_drop"),
    ("git_amend", "git_commit_amend"),
    ("git_discard_changes", "git_restore"),
    ("git_tag", "git_tag_create"),
    ("list_pods", "kubectl_get"),
    ("kubectl_get_pods", "kubectl_get"),
    ("mv", "move_file"),
    ("rename_file", "move_file"),
    ("cp", "copy_file"),
    ("rm", "remove_file"),
    ("sed", "replace_text"),
    ("sed_replace", "replace_text"),
    ("edit_file", "replace_text"),
    ("create_file", "write_file"),
    ("npm_run_script", "npm_run"),
    ("cargo_serach", "cargo_search"),
    ("cargo_dependency_tree", "cargo_tree"),
];

/// Whether hints describe a tool.
pub(crate) fn describes(hints: &str, tool: &str) -> bool {
    let is_heading = |line: &str| {
        let rest = line.strip_prefix(tool);
        rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with(" (risk: "))
    };
    hints.lines().any(is_heading)
}

#[test]
fn a_guessed_name_of_a_tool_suggests_and_describes_the_tool_that_is_meant() {
    let mut server = server();
    let mut misses = Vec::new();
    for (guessed, meant) in GUESSED_NAMES {
        let response = server.call(guessed, &json!({}));
        assert_eq!(response.text, format!("Unknown tool: {guessed}"));
        let hints = response.hints.join("\n");
        if !describes(&hints, meant) {
            misses.push((guessed, meant, hints));
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
    // Tools of another program are not suggested.
    let response = server.call("git_remove", &json!({}));
    assert!(!response.hints.join("\n").contains("apt_"), "{response:?}");
}

#[test]
fn an_unknown_argument_suggests_a_tool_that_does_what_it_says() {
    let mut server = server();
    for (tool, arguments, meant) in [
        (
            "git_restore",
            json!({"path": "a", "staged": true}),
            "git_unstage",
        ),
        ("git_reset", json!({"file": "a"}), "git_unstage"),
    ] {
        let response = server.call(tool, &arguments);
        let hints = response.hints.join("\n");
        assert!(response.is_error, "{response:?}");
        assert!(describes(&hints, meant), "{tool} {arguments}: {hints}");
    }
}
