//! Unusual values and paths: programs receive them unchanged, or the result says why not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use climax_tests::{Folder, Server, ToolResponse, fixtures, run};
use serde_json::json;

fn failure_reason(response: &ToolResponse) -> &str {
    assert!(response.is_error, "{response:?}");
    let reason = response.text.strip_prefix("[stderr]\n");
    let reason = reason.and_then(|reason| reason.strip_suffix("\n\n[exit code: -1]"));
    reason.unwrap_or_else(|| panic!("{response:?}"))
}

#[test]
fn a_nul_byte_in_an_argument_is_reported() {
    let mut server = Server::start(&mut fixtures!());
    let response = server.call("shell_run", &json!({"script": "echo a\0b"}));
    assert_eq!(
        failure_reason(&response),
        "Cannot run sh: an argument contains a NUL byte, which the system does not allow"
    );
    let response = server.call("shell_run", &json!({"script": "pwd", "directory": "/a\0b"}));
    assert_eq!(
        failure_reason(&response),
        "Cannot run sh: the working directory contains a NUL byte"
    );
    // Standard input may contain NUL bytes.
    let dumped = server.call("dump_stdin", &json!({"text": "a\0b"})).json();
    assert_eq!(dumped["stdin"], "a\0b");
}

#[test]
fn arguments_too_long_for_the_system_are_reported() {
    let mut server = Server::start(&mut fixtures!());
    let response = server.call("shell_run", &json!({"script": ":".repeat(5_000_000)}));
    assert_eq!(
        failure_reason(&response),
        "Cannot run sh: its arguments are too long for the system (5000004 bytes)"
    );
    // The server still works.
    assert_eq!(
        server.call("shell_run", &json!({"script": "echo ok"})).text,
        "ok"
    );
}

#[test]
fn an_unusable_working_directory_is_reported_with_the_reason() {
    let folder = Folder::new();
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let mut server = Server::start(&mut fixtures!());
    let mut reason = |directory: &str| {
        let response = server.call(
            "shell_run",
            &json!({"script": "pwd", "directory": directory}),
        );
        failure_reason(&response).to_owned()
    };
    assert_eq!(
        reason("/no/such/directory"),
        "Working directory not found: /no/such/directory"
    );
    let file = file.to_str().expect("UTF-8");
    assert_eq!(
        reason(file),
        format!("Working directory is not a directory: {file}")
    );
    let long = format!("/{}", "x".repeat(300));
    assert!(reason(&long).starts_with(&format!("Cannot use the working directory {long}: ")));
}

#[test]
fn a_working_directory_without_permission_is_reported() {
    let folder = Folder::new();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("permissions");
    let mut command = fixtures!();
    if run(Command::new("id").arg("-u")).stdout == b"0\n" {
        // Root may enter every directory, so the server runs as nobody.
        command.uid(65534).gid(65534);
    }
    let mut server = Server::start(&mut command);
    let directory = closed.to_str().expect("UTF-8");
    let response = server.call(
        "shell_run",
        &json!({"script": "pwd", "directory": directory}),
    );
    assert_eq!(
        failure_reason(&response),
        format!("Permission denied: working directory {directory}")
    );
}

#[test]
fn a_program_that_cannot_be_executed_is_reported_with_the_reason() {
    let folder = Folder::new();
    let text = folder.path().join("notes");
    fs::write(&text, "just text").expect("a file");
    let name = text.to_str().expect("UTF-8");
    // The command of `plain_nothing` starts with `$ARGDUMP`.
    let mut server = Server::start(fixtures!().env("ARGDUMP", &text));
    let response = server.call("plain_nothing", &json!({}));
    assert_eq!(
        failure_reason(&response),
        format!("Permission denied: {name}")
    );
    fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).expect("permissions");
    let response = server.call("plain_nothing", &json!({}));
    assert!(
        failure_reason(&response).starts_with(&format!("Cannot run {name}: ")),
        "{response:?}"
    );
}

/// A Git repository with one committed file that has an uncommitted change.
fn repository() -> Folder {
    let folder = Folder::new();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        let output = run(command
            .current_dir(folder.path())
            .args(identity)
            .args(words));
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q"]);
    fs::write(folder.path().join("file"), "one\n").expect("a file");
    git(&["add", "file"]);
    git(&["commit", "-qm", "first"]);
    fs::write(folder.path().join("file"), "two\n").expect("a file");
    folder
}

#[test]
fn a_path_that_looks_like_an_option_does_not_make_git_write_a_file() {
    let folder = repository();
    let repo = folder.text();
    let mut server = Server::start(&mut fixtures!());
    let target = folder.path().join("written");
    let option = format!("--output={}", target.display());
    let response = server.call("real_diff", &json!({"repo": repo, "path": option}));
    assert!(response.is_error);
    assert!(
        response.text.contains("would be read as an option"),
        "{response:?}"
    );
    assert!(!target.exists());
    let response = server.call("real_diff", &json!({"repo": repo, "path": "file"}));
    assert!(response.text.contains("-one\n+two"), "{response:?}");
}

#[test]
fn a_message_that_looks_like_an_option_is_committed_unchanged() {
    let folder = repository();
    let repo = folder.text();
    let mut server = Server::start(&mut fixtures!());
    for message in ["-- fix", "--amend", "-", "-m"] {
        let response = server.call("real_message", &json!({"repo": repo, "message": message}));
        assert!(!response.is_error, "{response:?}");
        let log = ["log", "-1", "--format=%B"];
        let log = run(Command::new("git").current_dir(folder.path()).args(log));
        assert_eq!(String::from_utf8_lossy(&log.stdout).trim_end(), message);
    }
}

#[test]
fn find_receives_a_name_that_begins_with_a_dash() {
    let folder = Folder::new();
    fs::write(folder.path().join("-foo"), "").expect("a file");
    fs::write(folder.path().join("foo"), "").expect("a file");
    let mut server = Server::start(&mut fixtures!());
    let arguments = json!({"directory": folder.text(), "name": "-foo"});
    assert_eq!(server.call("real_find", &arguments).text, "./-foo");
}

#[test]
fn a_little_invalid_utf8_in_output_is_replaced() {
    let mut server = Server::start(&mut fixtures!());
    let script = r"printf 'abcdefghi\377jk\n'; printf 'abcdefghi\303(' >&2";
    let response = server.call("shell_run", &json!({"script": script}));
    assert_eq!(
        response.text,
        "abcdefghi\u{fffd}jk\n\n[stderr]\nabcdefghi\u{fffd}("
    );
}
