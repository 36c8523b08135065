//! Archives whose members have paths outside of the project, and options that start programs.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, assert_is_write_because, check_values};
use crate::climax;

#[test]
fn reading_hostile_archives_starts_nothing_and_shows_no_other_file() {
    if !is_installed("tar") {
        return;
    }
    let (project, outside, trap) = (Folder::new(), Folder::new(), Trap::new());
    let secret = outside.path().join("secret");
    fs::write(&secret, "in the archive\n").expect("a file");
    std::os::unix::fs::symlink(&secret, project.path().join("link")).expect("a link");
    let mut tar = Command::new("tar");
    tar.current_dir(project.path());
    run(tar.args(["-P", "-cf", "release.tgz", "link"]).arg(&secret));
    fs::write(&secret, "top-secret\n").expect("a file");
    fs::write(project.path().join("--checkpoint=1"), "").expect("a file");
    let action = format!("--checkpoint-action=exec={}", trap.program().display());
    let options = format!("--checkpoint=1 {action}");
    let mut tar = Command::new("tar");
    tar.current_dir(project.path()).env("TAR_OPTIONS", &options);
    run(tar.args(["-tf", "release.tgz"]));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    command
        .current_dir(project.path())
        .env("TAR_OPTIONS", &options)
        .env("UNZIP", "-o")
        .env("ZIPOPT", format!("-TT={}", trap.program().display()));
    let mut server = Server::start(&mut command);
    let calls = [
        ("tar_list", json!({"archive": "release.tgz"})),
        ("tar_compare", json!({"archive": "release.tgz"})),
        (
            "tar_read_member",
            json!({"archive": "release.tgz", "member": ["link", &secret]}),
        ),
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "archive",
        path: project.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&calls);
    let to_command = format!("--to-command={}", trap.program().display());
    let compress = format!("-I{}", trap.program().display());
    let words = [
        &action,
        &to_command,
        &compress,
        "--checkpoint=1",
        "release.tgz",
        "x:release.tgz",
        "*",
    ];
    hostile.call_read_tools_with_words(&words);

    // Extracting stays below the destination and replaces nothing.
    let arguments = json!({"directory": project.text(), "archive": "release.tgz"});
    let response = server.call("tar_extract", &arguments);
    assert!(
        response.text.contains("link: Cannot open: File exists"),
        "{response:?}"
    );
    let inside = secret.strip_prefix("/").expect("an absolute path");
    let inside = fs::read_to_string(project.path().join(inside)).expect("a file");
    assert_eq!(inside, "in the archive\n");
    let after = fs::read_to_string(&secret).expect("a file");
    assert_eq!(after, "top-secret\n");
}

#[test]
fn zip_archives_are_named_without_wildcards_and_lists() {
    for tool in ["zip_list", "zip_extract"] {
        let accepted = [json!("a b.zip"), json!("x/photos (1).zip")];
        check_values(
            tool,
            "archive",
            &accepted,
            &[json!("*.zip"), json!("a[12].zip"), json!("-")],
        );
    }
    let refused = [json!("-"), json!("@")];
    check_values("zip_create", "archive", &[json!("a.zip")], &refused);
    check_values("zip_create", "path", &[json!("src/[id].ts")], &refused);
}

#[test]
fn comparing_follows_links_on_disk_and_is_not_read() {
    assert_is_write_because("tar_compare", "links on disk");
}
