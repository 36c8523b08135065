//! Options, files and process numbers in the place of units.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, check_values};
use crate::climax;

#[test]
fn looking_at_services_in_a_hostile_project_starts_nothing() {
    if !is_installed("systemctl") {
        return;
    }
    let (project, trap) = (Folder::new(), Trap::new());
    // systemctl starts ssh for another host.
    fs::copy(trap.program(), project.path().join("ssh")).expect("a program");
    let unit = format!("[Service]\nExecStart={}\n", trap.program().display());
    fs::write(project.path().join("nginx.service"), unit).expect("a file");
    let path = format!(
        "{}:{}",
        project.text(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut systemctl = Command::new("systemctl");
    run(systemctl
        .args(["--host=a", "list-units"])
        .env("PATH", &path));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    command
        .current_dir(project.path())
        .env("PATH", &path)
        .env("PAGER", trap.program())
        .env("SYSTEMD_PAGER", trap.program())
        .env("SYSTEMD_EDITOR", trap.program());
    let mut server = Server::start(&mut command);
    let program = trap.program();
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "systemd",
        path: project.path(),
        trap: &trap,
        secret: program.to_str().expect("UTF-8"),
    };
    hostile.call_read_tools(&[]);
    let words = [
        "--host=a",
        "-Ha",
        "--root=.",
        "--file=nginx.service",
        "./nginx.service",
    ];
    hostile.call_read_tools_with_words(&words);
}

#[test]
fn a_unit_is_neither_a_file_nor_a_glob_nor_a_process() {
    let units = [
        "nginx",
        "user@1000.service",
        "-.mount",
        "dev-sda\\x2d1.device",
        "a:b.service",
    ];
    let refused = [
        "./nginx.service",
        "/tmp/nginx.service",
        "*",
        "ssh?",
        "[a]",
        "1234",
        "",
    ];
    let (units, refused) = (
        units.map(|unit| json!(unit)),
        refused.map(|unit| json!(unit)),
    );
    for tool in [
        "systemctl_status",
        "systemctl_is_active",
        "systemctl_is_enabled",
        "systemctl_show",
        "systemctl_cat",
        "systemctl_list_dependencies",
        "systemctl_start",
        "systemctl_reload",
        "systemctl_restart",
        "systemctl_stop",
        "systemctl_enable",
        "systemctl_disable",
    ] {
        check_values(tool, "unit", &units, &refused);
    }
    for tool in [
        "systemctl_list_units",
        "systemctl_list_unit_files",
        "systemctl_list_timers",
    ] {
        check_values(tool, "glob", &[json!("ssh*")], &[json!("/etc/*")]);
    }
    check_values(
        "journal_read",
        "unit",
        &[json!("ssh*")],
        &[json!("/etc/passwd")],
    );
}
