//! Hints over the shipped tools: the call that an agent probably means, and the tools that it may mean.

use climax_tests::{Folder, Server};
use serde_json::{Value, json};

use crate::requests::describes;
use crate::{climax, repository, server};

fn call(tool: &str, args: &Value) -> Value {
    json!({"tool_name": tool, "args": args})
}

/// Makes calls, and compares the calls that the responses suggest.
fn check_corrections(calls: &[(&str, Value, Value)]) {
    let mut server = server();
    for (tool, arguments, expected) in calls {
        let response = server.call(tool, arguments);
        let corrected = response.correction();
        assert_eq!(corrected.as_ref(), Some(expected), "{tool} {arguments}");
    }
}

#[test]
fn a_correction_keeps_what_the_call_means() {
    check_corrections(&[
        (
            "git_log",
            json!({"repo_path": "/r", "n": "2", "oneline": "yes"}),
            call(
                "git_log",
                &json!({"directory": "/r", "max_count": "2", "format": "oneline"}),
            ),
        ),
        (
            "mv",
            json!({"source": "a", "destination": "b"}),
            call("move_file", &json!({"source": "a", "destination": "b"})),
        ),
        (
            "jq",
            json!({"file": "a.json", "query": ".b"}),
            call("jq_file", &json!({"path": "a.json", "filter": ".b"})),
        ),
        (
            "lsof",
            json!({"port": 80}),
            call("listening_ports", &json!({"port": 80})),
        ),
        (
            "signal_process",
            json!({"pid": "4194303", "signal": "SIGTERM"}),
            call(
                "signal_process",
                &json!({"pid": "4194303", "signal": "TERM"}),
            ),
        ),
        (
            "cargo_test",
            json!({"directory": "/d", "test_name": "one", "offline": "yes"}),
            call(
                "cargo_test",
                &json!({"directory": "/d", "filter": "one", "offline": true}),
            ),
        ),
    ]);
}

#[test]
fn a_flag_or_json_as_an_object_and_a_name_with_dashes_is_corrected() {
    check_corrections(&[
        (
            "git_rm",
            json!({"repo": "/r", "path": "a", "cached": "yes"}),
            call(
                "git_rm",
                &json!({"directory": "/r", "path": "a", "keep_file": true}),
            ),
        ),
        (
            "mcp__climax__git-status",
            json!({"repo": "/r"}),
            call("git_status", &json!({"directory": "/r"})),
        ),
        (
            "curl_post_json",
            json!({"url": "http://localhost:1", "body": {"a": 1}}),
            call(
                "curl_post_json",
                &json!({"url": "http://localhost:1", "body": "{\"a\":1}"}),
            ),
        ),
    ]);
}

#[test]
fn a_call_of_unclear_meaning_is_not_corrected() {
    let mut server = server();
    for (tool, arguments) in [
        // The first tool that the name suggests has no dry run; another one does something else.
        ("rm", json!({"path": "/d", "dry_run": true})),
        // A search finds a tool that takes the arguments, but lacks a word of the name.
        (
            "git_branch_protect",
            json!({"directory": "/r", "branch": "main"}),
        ),
        // A verb that is given as an argument, and a command line, do not fit.
        ("git_tag", json!({"repo": "/r", "delete": "v9"})),
        ("git_branch", json!({"repo": "/r", "branch_type": "all"})),
        ("git_remote", json!({"repo": "/r", "remove": "origin"})),
        ("git_worktree", json!({"repo": "/r", "remove": "/w"})),
        ("rm", json!({"command": "rm -rf /r"})),
        ("tar", json!({"command": "tar -tf a.tar"})),
        // Several paths, or one with spaces.
        ("git_add", json!({"repo": "/r", "files": "docs my notes"})),
        ("git_cherry_pick", json!({"commits": "abc1234 def5678"})),
        ("remove_file", json!({"file_path": "../a/my file.txt"})),
        ("remove_file", json!({"target": "../a/my file.txt"})),
        ("git_add", json!({"files": "a.txt, b.txt"})),
        // The tool would refuse these.
        ("git_rebase_part", json!({"repo": "/r", "onto": "main"})),
        // A dry run that the tool does not have.
        ("git_clean_dry_run", json!({"directory": "/r"})),
        ("rsync_dry", json!({"source": "/a", "destination": "/b"})),
        // The opposite of what is said, and nothing at all.
        ("remove_file", json!({"keep": "a.txt"})),
        ("git_branch_delete", json!({"except": "main"})),
        ("git_tag_create", json!({"delete": "v1"})),
        ("git_branch_list", json!({"branch": "x", "delete": null})),
        ("git_stash_list", json!({"drop": null, "stash": "1"})),
        ("docker_top", json!({"container": "web"})),
        ("git_stage", json!({"path": "a"})),
        ("docker", json!({"container": "web", "force": true})),
        ("head_file", json!({"path": "a", "tail": 5})),
        ("find_files", json!({"kind": "f", "type": "folder"})),
        // The opposite tool takes the arguments.
        ("tar_extract", json!({"archive": "/x.tar", "files": ["a"]})),
        ("git_stash_drop", json!({"files": ["a"]})),
        ("remove_file", json!({"path": ["a"], "content": "x"})),
        ("git_branch_delete", json!({"branch": "a", "base": "main"})),
        // A comma may be part of a value.
        (
            "rsync_mirror",
            json!({"source": "/a", "destination": "/b", "exclude": "*.py,*.tmp"}),
        ),
        (
            "git_branch_delete",
            json!({"branch": "feat/a,b", "force": null}),
        ),
        // The path is not the whole.
        ("git_reset_hard", json!({"path": "src"})),
        ("gh_pr_merge", json!({"pr": "1", "path": "src/main.c"})),
        // Another method, and a program without a verb.
        (
            "curl_put_json",
            json!({"url": "http://localhost:1", "body": "{}"}),
        ),
        ("kubectl", json!({"file": "a.yaml"})),
        ("make", json!({"path": ["all"]})),
        // An object is no path.
        (
            "write_file",
            json!({"content": "x", "path": {"value": "a"}, "mode": null}),
        ),
        // No shell expands the wildcard.
        ("rgSearch", json!({"pattern": "a", "path": "*.py"})),
        // Another tool has the argument, but does something else.
        ("disk_usage", json!({"path": "/d", "human": true})),
        ("git_reset_hard", json!({"file": "a.txt"})),
        ("signal_process", json!({"pid": "0", "signal": "SIGTERM"})),
    ] {
        let response = server.call(tool, &arguments);
        assert_eq!(response.correction(), None, "{tool} {arguments}");
    }
}

#[test]
fn a_suggested_tool_is_described_with_the_arguments_that_it_lacks() {
    let mut server = server();
    let arguments = json!({"file": "a", "longest": true, "total": "only"});
    let response = server.call("wc", &arguments);
    let hints = response.hints.join("\n");
    assert!(
        hints.ends_with("count_text has no argument 'longest', 'total'"),
        "{hints}"
    );
}

#[test]
fn a_refusal_describes_the_tools_that_its_description_names() {
    let mut server = server();
    let arguments = json!({"directory": "/", "remote": "origin", "branch": "topic"});
    let response = server.call("git_push", &arguments);
    assert!(response.is_error, "{response:?}");
    assert_eq!(response.hint(), Some("Related tools: git_push_refspec"));
}

#[test]
fn a_subcommand_as_an_argument_suggests_the_tool_of_that_name_first() {
    let mut server = server();
    for (tool, arguments, first) in [
        (
            "systemctl",
            json!({"action": "stop", "service": "ssh"}),
            "systemctl_stop",
        ),
        ("git", json!({"command": "git log --oneline"}), "git_log"),
        (
            "apt",
            json!({"action": "remove", "package": "jq"}),
            "apt_remove",
        ),
        ("git_tag", json!({"delete": "v9"}), "git_tag_delete"),
        ("git_remotes", json!({}), "git_remote_list"),
        ("untar", json!({"file": "a.tar"}), "tar_extract"),
        (
            "grep",
            json!({"pattern": "x", "recursive": true}),
            "search_directory",
        ),
    ] {
        let response = server.call(tool, &arguments);
        let hint = response.hint().unwrap_or_default();
        let mut tools = hint.trim_start_matches("Related tools: ").split(", ");
        assert_eq!(tools.next(), Some(first), "{tool}: {hint}");
    }
}

#[test]
fn an_argument_that_another_tool_takes_suggests_that_tool() {
    let mut server = server();
    for (tool, arguments, meant) in [
        ("git_reset", json!({"mode": "hard"}), "git_reset_hard"),
        ("write_file", json!({"mode": "append"}), "append_file"),
        (
            "copy_file",
            json!({"src": "a", "dst": "b", "recursive": true}),
            "copy_directory",
        ),
        (
            "read_file",
            json!({"path": "a", "end_line": 5}),
            "read_lines",
        ),
    ] {
        let response = server.call(tool, &arguments);
        let hints = response.hints.join("\n");
        assert!(describes(&hints, meant), "{tool} {arguments}: {hints}");
    }
}

#[test]
fn a_dry_run_that_a_tool_does_not_have_is_refused_in_plain_words() {
    let mut server = server();
    let folder = Folder::new();
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let response = server.call("remove_file", &json!({"path": [&file], "preview": true}));
    let hint = "remove_file has no dry run\nRelated tools: list_files";
    assert_eq!(response.hint(), Some(hint));
    assert!(file.exists());
}

#[test]
fn a_suggested_tool_that_is_destructive_says_what_may_be_lost() {
    let mut server = server();
    let response = server.call("git_reset", &json!({"directory": "/", "hard": true}));
    let hints = response.hints.join("\n");
    assert!(
        hints.contains("All uncommitted changes to tracked files are lost."),
        "{hints}"
    );
}

#[test]
fn a_wildcard_in_a_refused_call_names_the_argument_for_globs() {
    let mut server = server();
    let response = server.call("rgSearch", &json!({"pattern": "a", "path": "*.py"}));
    let line = "Argument 'path': no shell expands '*' and '?', so use 'glob'";
    let hints = response.hints.join("\n");
    assert!(hints.lines().any(|hint| hint == line), "{hints}");
}

#[test]
fn long_keys_and_names_get_no_hints() {
    let mut server = server();
    let long = "k".repeat(100_000);
    let arguments = (0..40).map(|number| (format!("{long}{number}"), json!(1)));
    let arguments: serde_json::Map<String, Value> = arguments.collect();
    let response = server.call("git", &arguments.into());
    let bytes: usize = response.hints.iter().map(String::len).sum();
    assert!(bytes < 8_000, "{bytes}");
    let response = server.call(&long, &json!({}));
    assert_eq!(response.hints, [""; 0]);
}

#[test]
fn a_list_for_one_value_and_one_value_for_a_list_are_explained() {
    let mut server = server();
    for (tool, arguments, line) in [
        (
            "find",
            json!({"name": ["*.txt", "*.md"]}),
            "Argument 'name' takes one value for each call",
        ),
        (
            "git_cherry_pick",
            json!({"commits": "abc1234 def5678"}),
            "Argument 'revision': pass a list: [\"abc1234\",\"def5678\"], or [\"abc1234 def5678\"] for one value",
        ),
    ] {
        let response = server.call(tool, &arguments);
        let hints = response.hints.join("\n");
        assert!(hints.lines().any(|hint| hint == line), "{tool}: {hints}");
    }
}

#[test]
fn no_two_unknown_arguments_suggest_the_same_name() {
    let mut server = server();
    let arguments = json!({"repo_path": "/r", "directories": true});
    let text = server.call("git_clean", &arguments).text;
    assert_eq!(
        text.matches("did you mean 'directory'?").count(),
        1,
        "{text}"
    );
}

#[test]
fn a_call_in_another_directory_than_meant_names_the_directory() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let mut climax = climax();
    climax.current_dir(folder.path());
    let mut server = Server::start(&mut climax);
    let response = server.call("git_log", &json!({"repo_path": "/other"}));
    assert!(!response.is_error, "{response:?}");
    let hint = response.hint().unwrap_or_default();
    let line = format!("the command ran in {}", folder.text());
    assert!(hint.contains(&line), "{hint}");
}
