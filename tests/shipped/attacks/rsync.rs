//! Remote shells, and rules in the place of globs.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{Trap, call_read_tools, call_read_tools_with_words, check_values};
use crate::climax;

#[test]
fn comparing_directories_starts_no_remote_shell() {
    if !is_installed("rsync") {
        return;
    }
    let (project, trap) = (Folder::new(), Trap::new());
    for path in ["projects", "backup/projects"] {
        fs::create_dir_all(project.path().join(path)).expect("a folder");
    }
    fs::write(project.path().join("projects/a"), "a").expect("a file");
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("RSYNC_RSH", trap.program())
            .env("RSYNC_CONNECT_PROG", trap.program());
    };
    let mut rsync = Command::new("rsync");
    in_project(&mut rsync);
    run(rsync.args(["--dry-run", "projects", "host:projects"]));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    call_read_tools(&mut server, "rsync", project.path(), &trap, &[]);
    let rsh = format!("--rsh={}", trap.program().display());
    let path = format!("--rsync-path={}", trap.program().display());
    let words = [
        &rsh,
        &path,
        "host:projects",
        "host::module",
        "rsync://host/module",
        "-ehost",
    ];
    let read = call_read_tools_with_words;
    read(
        &mut server,
        "rsync",
        project.path(),
        &trap,
        &words,
        "top-secret",
    );
}

#[test]
fn globs_of_rsync_are_not_rules_and_comparisons_are_local() {
    let remote = ["host:a", "host::a", "rsync://host/a", "-e"].map(|path| json!(path));
    for argument in ["source", "destination"] {
        check_values("rsync_compare", argument, &[json!("a/b c/")], &remote);
        check_values("rsync_copy", argument, &[json!("host:a")], &[json!("-e")]);
        check_values("rsync_mirror", argument, &[json!("host:a")], &[json!("-e")]);
    }
    let globs = ["*.o", ".git", "!important", "-x", "/a b"].map(|glob| json!(glob));
    let rules = ["!", "+ a", "- a"].map(|glob| json!(glob));
    for tool in ["rsync_compare", "rsync_copy", "rsync_mirror"] {
        check_values(tool, "exclude", &globs, &rules);
    }
    check_values("rsync_copy", "include", &globs, &rules);
}
