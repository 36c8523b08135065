//! Settings that let ripgrep start a program for each file.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap};
use crate::climax;

#[test]
fn searching_a_hostile_project_starts_nothing_and_reads_no_other_file() {
    if !is_installed("rg") {
        return;
    }
    let (project, outside, trap) = (Folder::new(), Folder::new(), Trap::new());
    let secret = outside.path().join("secret");
    // A glob that is not valid, which errors about ignored files show.
    fs::write(&secret, "top-secret {\n").expect("a file");
    std::os::unix::fs::symlink(&secret, project.path().join(".ignore")).expect("a link");
    fs::write(project.path().join("a.rs"), "colour old_api\n").expect("a file");
    std::os::unix::fs::symlink(&secret, project.path().join("link.rs")).expect("a link");
    let pre = format!("--pre={}", trap.program().display());
    for path in [".ripgreprc", "ripgreprc"] {
        fs::write(project.path().join(path), format!("{pre}\n")).expect("a file");
    }
    let settings = project.path().join(".ripgreprc");
    let mut rg = Command::new("rg");
    rg.current_dir(project.path())
        .env("RIPGREP_CONFIG_PATH", &settings);
    run(rg.args(["old_api", "."]));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    command
        .current_dir(project.path())
        .env("HOME", project.path())
        .env("RIPGREP_CONFIG_PATH", &settings);
    let mut server = Server::start(&mut command);
    let calls = [(
        "rg_search",
        json!({"pattern": "secret", "no_ignore": true, "hidden": true}),
    )];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "rg",
        path: project.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&calls);
    let from_file = format!("--file={}", secret.display());
    let words = [
        &pre,
        &from_file,
        "--search-zip",
        "--follow",
        "link*",
        "-z",
        ".",
    ];
    hostile.call_read_tools_with_words(&words);
}
