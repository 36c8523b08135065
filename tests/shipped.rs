//! The configs that CLImax ships, against the real programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use climax_tests::{Folder, Server, run};
use serde_json::{Value, json};

fn climax() -> Command {
    Command::new(env!("CARGO_BIN_EXE_climax"))
}

/// A server whose git sees no configuration of the machine's.
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
    let answer = server.call(tool, args);
    assert!(!answer.is_error, "{tool} {args}: {answer:?}");
    answer.text
}

/// A repository with one commit, and a change that is not committed.
fn repository(server: &mut Server, message: &str) -> Folder {
    let folder = Folder::new();
    let (repo, file) = (folder.text(), folder.path().join("file.txt"));
    call(server, "git_init", &json!({"parent": repo}));
    fs::write(&file, "one\n").expect("a file");
    call(
        server,
        "git_add",
        &json!({"repo": repo, "path": "file.txt"}),
    );
    call(
        server,
        "git_commit",
        &json!({"repo": repo, "message": message}),
    );
    fs::write(&file, "two\n").expect("a file");
    folder
}

#[test]
fn the_list_shows_the_toolset() {
    let output = run(climax().arg("list"));
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["git_status", "git_commit", "read_file", "tools in all"] {
        assert!(table.contains(part), "{table}");
    }
}

#[test]
fn a_repository_is_made_changed_and_read() {
    let mut server = server();
    let folder = repository(&mut server, "-- first: $(id)");
    let repo = folder.text();
    let status = call(&mut server, "git_status", &json!({"repo": repo}));
    assert!(status.lines().any(|line| line == " M file.txt"), "{status}");
    let diff = call(
        &mut server,
        "git_diff",
        &json!({"repo": repo, "path": "file.txt"}),
    );
    assert!(diff.contains("-one\n+two"), "{diff}");
    let log = call(
        &mut server,
        "git_log",
        &json!({"repo": repo, "max_count": "1"}),
    );
    assert!(log.contains("-- first: $(id)"), "{log}");
}

#[test]
fn a_path_like_an_option_is_no_option() {
    let folder = Folder::new();
    let repo = folder.text();
    let mut server = server();
    call(&mut server, "git_init", &json!({"parent": repo}));
    let written = folder.path().join("written");
    let path = format!("--output={}", written.display());
    for tool in ["git_diff", "git_log", "git_status"] {
        let answer = server.call(tool, &json!({"repo": repo, "path": path}));
        assert!(!written.exists(), "{tool}: {answer:?}");
        assert!(!answer.text.contains("Unknown tool"), "{tool}: {answer:?}");
    }
}

#[test]
fn reading_a_hostile_repository_runs_nothing_of_it() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let repo = folder.text();

    let sprung = folder.path().join("sprung");
    let trap = folder.path().join("trap");
    let script = format!("#!/bin/sh\ntouch '{}'\n", sprung.display());
    fs::write(&trap, script).expect("a script");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("executable");
    let git = || {
        let mut git = Command::new("git");
        git.current_dir(repo).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git
    };
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.editor",
    ] {
        run(git().args(["config", key]).arg(&trap));
    }
    for hook in [
        "post-index-change",
        "reference-transaction",
        "post-checkout",
    ] {
        fs::copy(&trap, folder.path().join(".git/hooks").join(hook)).expect("a hook");
    }
    run(git().arg("status"));
    assert!(sprung.exists(), "the trap works");
    fs::remove_file(&sprung).expect("there");

    for tool in [
        "git_status",
        "git_diff",
        "git_log",
        "git_branch_list",
        "git_ls_files",
    ] {
        call(&mut server, tool, &json!({"repo": repo}));
        assert!(!sprung.exists(), "{tool}");
    }
    call(
        &mut server,
        "git_show",
        &json!({"repo": repo, "object": "HEAD"}),
    );
    assert!(!sprung.exists(), "git_show");
}

#[test]
fn files_are_written_read_and_searched() {
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
fn a_search_finds_the_shipped_tools() {
    let mut server = server();
    for (query, tool) in [
        ("commit", "git_commit"),
        ("show changes that are not staged", "git_diff"),
        ("search for text in files", "search_text"),
    ] {
        let found = server.found(&json!({"query": query}));
        assert!(
            found.iter().take(10).any(|name| name == tool),
            "{query}: {found:?}"
        );
    }
}
