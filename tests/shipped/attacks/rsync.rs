//! Remote shells, and rules in the place of globs.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, check_values};
use crate::climax;

#[test]
fn comparing_directories_starts_no_remote_shell() {
    if !is_installed("rsync") {
        return;
    }
    let (project, outside, trap) = (Folder::new(), Folder::new(), Trap::new());
    let secret = outside.path().join("secret");
    fs::write(&secret, "top-secret\n").expect("a file");
    for path in ["projects", "backup/projects"] {
        fs::create_dir_all(project.path().join(path)).expect("a folder");
    }
    fs::write(project.path().join("projects/a"), "a").expect("a file");
    symlink(outside.path(), project.path().join("projects/link")).expect("a link");
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
    let mut rsync = Command::new("rsync");
    in_project(&mut rsync);
    let words = ["--dry-run", "projects", "backup", "--files-from"];
    let output = run(rsync.args(words).arg(&secret));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("top-secret"), "rsync shows it: {errors}");

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "rsync",
        path: project.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&[]);
    let rsh = format!("--rsh={}", trap.program().display());
    let path = format!("--rsync-path={}", trap.program().display());
    let from_file = format!("--files-from={}", secret.display());
    let words = [
        &from_file,
        &rsh,
        &path,
        "host:projects",
        "host::module",
        "rsync://host/module",
        "-ehost",
    ];
    hostile.call_read_tools_with_words(&words);
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
