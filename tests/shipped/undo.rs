//! Tools that undo something in a Git repository.

use std::fs;

use serde_json::json;

use crate::{call, repository, server};

#[test]
fn undoing_a_commit_keeps_its_changes_staged() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let directory = json!({"directory": folder.text()});
    let commit = json!({"directory": folder.text(), "message": "second", "all": true});
    call(&mut server, "git_commit", &commit);
    call(&mut server, "git_undo_commit", &directory);
    let log = call(&mut server, "git_log", &directory);
    assert!(log.contains("first") && !log.contains("second"), "{log}");
    let status = call(&mut server, "git_status", &directory);
    assert!(status.lines().any(|line| line == "M  file.txt"), "{status}");
    let file = fs::read_to_string(folder.path().join("file.txt")).expect("a file");
    assert_eq!(file, "two\n");
}

#[test]
fn amending_the_message_leaves_staged_changes_out_of_the_commit() {
    let mut server = server();
    let folder = repository(&mut server, "frist");
    let directory = json!({"directory": folder.text()});
    let path = json!({"directory": folder.text(), "path": "file.txt"});
    call(&mut server, "git_add", &path);
    let message = json!({"directory": folder.text(), "message": "first"});
    call(&mut server, "git_amend_message", &message);
    let log = call(&mut server, "git_log", &directory);
    assert!(log.contains("first") && !log.contains("frist"), "{log}");
    let status = call(&mut server, "git_status", &directory);
    assert!(status.lines().any(|line| line == "M  file.txt"), "{status}");
    call(&mut server, "git_unstage", &path);
    let status = call(&mut server, "git_status", &directory);
    assert!(status.lines().any(|line| line == " M file.txt"), "{status}");
    call(&mut server, "git_restore", &path);
    let file = fs::read_to_string(folder.path().join("file.txt")).expect("a file");
    assert_eq!(file, "one\n");
}

#[test]
fn undoing_a_merge_puts_the_branch_back_and_keeps_uncommitted_edits() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let with = |name: &str, value: &str| json!({"directory": folder.text(), name: value});
    call(&mut server, "git_switch_create", &with("branch", "topic"));
    fs::write(folder.path().join("other.txt"), "x\n").expect("a file");
    call(&mut server, "git_add", &with("path", "other.txt"));
    call(&mut server, "git_commit", &with("message", "topic work"));
    call(&mut server, "git_switch", &with("branch", "-"));
    let merge = json!({"directory": folder.text(), "revision": "topic", "no_ff": true});
    call(&mut server, "git_merge", &merge);
    assert!(folder.path().join("other.txt").exists());
    let directory = json!({"directory": folder.text()});
    call(&mut server, "git_undo_merge", &directory);
    assert!(!folder.path().join("other.txt").exists());
    let file = fs::read_to_string(folder.path().join("file.txt")).expect("a file");
    assert_eq!(file, "two\n");
}

#[test]
fn a_conflicting_revert_can_be_cancelled() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let directory = json!({"directory": folder.text()});
    let mut commit = json!({"directory": folder.text(), "message": "second", "all": true});
    call(&mut server, "git_commit", &commit);
    fs::write(folder.path().join("file.txt"), "three\n").expect("a file");
    commit["message"] = json!("third");
    call(&mut server, "git_commit", &commit);
    let revert = server.call(
        "git_revert",
        &json!({"directory": folder.text(), "revision": "HEAD~1"}),
    );
    assert!(
        revert.is_error && revert.text.contains("onflict"),
        "{revert:?}"
    );
    call(&mut server, "git_revert_abort", &directory);
    let file = fs::read_to_string(folder.path().join("file.txt")).expect("a file");
    assert_eq!(file, "three\n");
}

#[test]
fn a_stash_is_chosen_by_number_and_index_is_not_taken_for_a_switch() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    for content in ["older\n", "newer\n"] {
        fs::write(folder.path().join("file.txt"), content).expect("a file");
        call(
            &mut server,
            "git_stash_push",
            &json!({"directory": folder.text()}),
        );
    }
    let refused = server.call(
        "git_stash_pop",
        &json!({"directory": folder.text(), "index": 1}),
    );
    assert!(
        refused.is_error && refused.text.contains("Unknown argument 'index'"),
        "{refused:?}"
    );
    let pop = json!({"directory": folder.text(), "stash": 1});
    call(&mut server, "git_stash_pop", &pop);
    let file = fs::read_to_string(folder.path().join("file.txt")).expect("a file");
    assert_eq!(file, "older\n");
}

#[test]
fn cleaning_with_dry_run_deletes_nothing() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let untracked = folder.path().join("untracked");
    fs::write(&untracked, "").expect("a file");
    let mut arguments = json!({"directory": folder.text(), "dry_run": true});
    let text = call(&mut server, "git_clean", &arguments);
    assert!(
        text.contains("Would remove untracked") && untracked.exists(),
        "{text}"
    );
    arguments["dry_run"] = json!(false);
    call(&mut server, "git_clean", &arguments);
    assert!(!untracked.exists());
}

#[test]
fn a_path_that_looks_like_an_option_is_refused_by_tools_that_change_something() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let untracked = folder.path().join("untracked");
    fs::write(&untracked, "kept").expect("a file");
    let arguments = json!({"directory": folder.text(), "path": ["untracked", "--dry-run"]});
    let response = server.call("git_clean", &arguments);
    let line = "Argument 'path': '--dry-run' looks like an option; write './--dry-run' for a file";
    assert!(response.text.contains(line), "{response:?}");
    assert!(untracked.exists());
    fs::write(folder.path().join("--dry-run"), "").expect("a file");
    let arguments = json!({"directory": folder.text(), "path": ["./--dry-run"]});
    call(&mut server, "git_clean", &arguments);
    assert!(untracked.exists() && !folder.path().join("--dry-run").exists());
}
