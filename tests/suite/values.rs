//! Whatever values a call has: the program gets them as they are, or the answer says why not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use climax_tests::{Answer, Folder, Server, fixtures, run};
use serde_json::{Value, json};

fn failure(answer: &Answer) -> &str {
    assert!(answer.is_error, "{answer:?}");
    let reason = answer.text.strip_prefix("[stderr]\n");
    let reason = reason.and_then(|reason| reason.strip_suffix("\n\n[exit code: -1]"));
    reason.unwrap_or_else(|| panic!("{answer:?}"))
}

#[test]
fn a_nul_byte_is_named_as_the_cause() {
    let mut server = Server::start(&mut fixtures!());
    let answer = server.call("shell_run", &json!({"script": "echo a\0b"}));
    assert_eq!(
        failure(&answer),
        "Cannot run sh: an argument contains a NUL byte, which the system does not allow"
    );
    let answer = server.call("shell_run", &json!({"script": "pwd", "directory": "/a\0b"}));
    assert_eq!(
        failure(&answer),
        "Cannot run sh: the working directory contains a NUL byte"
    );
    // Standard input can hold anything.
    let dumped = server.call("dump_stdin", &json!({"text": "a\0b"})).json();
    assert_eq!(dumped["stdin"], "a\0b");
}

#[test]
fn arguments_that_the_system_cannot_pass_on_are_named_as_the_cause() {
    let mut server = Server::start(&mut fixtures!());
    let answer = server.call("shell_run", &json!({"script": ":".repeat(5_000_000)}));
    assert_eq!(
        failure(&answer),
        "Cannot run sh: its arguments are too long for the system (5000004 bytes)"
    );
    assert_eq!(
        server.call("shell_run", &json!({"script": "echo on"})).text,
        "on"
    );
}

#[test]
fn a_directory_that_cannot_be_worked_in_is_named_with_the_reason() {
    let folder = Folder::new();
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let mut server = Server::start(&mut fixtures!());
    let mut reason = |directory: &str| {
        let answer = server.call(
            "shell_run",
            &json!({"script": "pwd", "directory": directory}),
        );
        failure(&answer).to_owned()
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
fn a_directory_that_may_not_be_entered_is_named_with_the_reason() {
    let folder = Folder::new();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("permissions");
    let mut command = fixtures!();
    if run(Command::new("id").arg("-u")).stdout == b"0\n" {
        // Root may enter everything, so the server runs as nobody.
        command.uid(65534).gid(65534);
    }
    let mut server = Server::start(&mut command);
    let directory = closed.to_str().expect("UTF-8");
    let answer = server.call(
        "shell_run",
        &json!({"script": "pwd", "directory": directory}),
    );
    assert_eq!(
        failure(&answer),
        format!("Permission denied: working directory {directory}")
    );
}

#[test]
fn a_program_that_cannot_be_run_is_named_with_the_reason() {
    let folder = Folder::new();
    let text = folder.path().join("notes");
    fs::write(&text, "just text").expect("a file");
    let name = text.to_str().expect("UTF-8");
    let mut server = Server::start(fixtures!().env("ARGDUMP", &text));
    let answer = server.call("plain_nothing", &json!({}));
    assert_eq!(failure(&answer), format!("Permission denied: {name}"));
    fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).expect("permissions");
    let answer = server.call("plain_nothing", &json!({}));
    assert!(
        failure(&answer).starts_with(&format!("Cannot run {name}: ")),
        "{answer:?}"
    );
}

/// A repository with a file that was committed and changed.
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
fn a_path_like_an_option_does_not_make_git_write_a_file() {
    let folder = repository();
    let repo = folder.text();
    let mut server = Server::start(&mut fixtures!());
    let target = folder.path().join("written");
    let option = format!("--output={}", target.display());
    let answer = server.call("real_diff", &json!({"repo": repo, "path": option}));
    assert!(answer.is_error);
    assert!(
        answer.text.contains("would be read as an option"),
        "{answer:?}"
    );
    assert!(!target.exists());
    let answer = server.call("real_diff", &json!({"repo": repo, "path": "file"}));
    assert!(answer.text.contains("-one\n+two"), "{answer:?}");
}

#[test]
fn a_message_like_an_option_is_committed_as_it_is() {
    let folder = repository();
    let repo = folder.text();
    let mut server = Server::start(&mut fixtures!());
    for message in ["-- fix", "--amend", "-", "-m"] {
        let answer = server.call("real_message", &json!({"repo": repo, "message": message}));
        assert!(!answer.is_error, "{answer:?}");
        let log = ["log", "-1", "--format=%B"];
        let log = run(Command::new("git").current_dir(folder.path()).args(log));
        assert_eq!(String::from_utf8_lossy(&log.stdout).trim_end(), message);
    }
}

#[test]
fn find_gets_a_name_that_begins_with_a_dash() {
    let folder = Folder::new();
    fs::write(folder.path().join("-foo"), "").expect("a file");
    fs::write(folder.path().join("foo"), "").expect("a file");
    let mut server = Server::start(&mut fixtures!());
    let arguments = json!({"directory": folder.text(), "name": "-foo"});
    assert_eq!(server.call("real_find", &arguments).text, "./-foo");
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_nul_survives() {
    let mut server = Server::start(&mut fixtures!());
    let script = r"printf 'a\377b\000c\n'; printf '\303(' >&2";
    let id = server.send(
        "tools/call",
        &json!({"name": "climax_call", "arguments": {"tool_name": "shell_run", "args": {"script": script}}}),
    );
    let answer: Value = server.wait_for(id);
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "a\u{fffd}b\0c\n\n[stderr]\n\u{fffd}("
    );
}
