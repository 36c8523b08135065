//! Processes, ports and programs of the machine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use climax_tests::{Folder, run};
use serde_json::{Value, json};

use crate::{call, climax, server};

#[test]
fn a_process_is_found_and_ended_by_its_number() {
    let mut server = server();
    // A duration that no other process has.
    let mut sleeper = Command::new("sleep")
        .arg("86399.25")
        .spawn()
        .expect("a process");
    let pid = sleeper.id().to_string();
    let found = call(
        &mut server,
        "find_processes",
        &json!({"pattern": "sleep 86399.25"}),
    );
    assert!(
        found
            .lines()
            .any(|line| line == format!("{pid} sleep 86399.25")),
        "{found}"
    );
    for (tool, arguments) in [
        ("list_processes", json!({"sort_by": "etimes"})),
        ("show_process", json!({"pid": sleeper.id()})),
    ] {
        let text = call(&mut server, tool, &arguments);
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(&format!("{pid} ")));
        assert!(
            line.is_some_and(|line| line.contains("sleep 86399.25")),
            "{tool}: {text}"
        );
    }
    let text = call(
        &mut server,
        "signal_process",
        &json!({"pid": sleeper.id(), "signal": "INT"}),
    );
    assert_eq!(text, "(no output)");
    assert_eq!(sleeper.wait().expect("its end").signal(), Some(2));
}

#[test]
fn a_signal_cannot_be_sent_to_all_processes_or_a_group() {
    let mut server = server();
    for pid in [json!(-1), json!("-1"), json!(-2)] {
        let response = server.call("signal_process", &json!({"pid": pid, "signal": "CONT"}));
        assert!(
            response.is_error && response.text.contains("would be read as an option"),
            "{response:?}"
        );
    }
}

#[test]
fn listening_ports_shows_the_port_of_a_listener() {
    let mut server = server();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let text = call(&mut server, "listening_ports", &json!({"port": port}));
    assert!(text.contains(&format!("127.0.0.1:{port}")), "{text}");
    drop(listener);
    let text = call(&mut server, "listening_ports", &json!({"port": port}));
    assert!(!text.contains(&format!("127.0.0.1:{port}")), "{text}");
}

#[test]
fn memory_and_load_are_shown() {
    let mut server = server();
    let memory = call(&mut server, "memory_usage", &json!({}));
    assert!(
        memory.contains("available") && memory.contains("Mem:"),
        "{memory}"
    );
    let load = call(&mut server, "system_load", &json!({}));
    assert!(load.contains("load average:"), "{load}");
}

#[test]
fn list_names_the_programs_that_are_not_installed() {
    let folder = Folder::new();
    let program = folder.path().join("git");
    fs::write(&program, "").expect("a file");
    let list = |arguments: &[&str]| {
        let output = run(climax()
            .arg("list")
            .args(arguments)
            .env("PATH", folder.path()));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    // A file that is not executable is not a program.
    assert!(list(&["git"]).contains("\nNot installed: git\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
    assert!(!list(&["git"]).contains("Not installed"));
    // `env` is not the program of these tools.
    assert!(list(&["systemd"]).contains("\nNot installed: systemctl, journalctl\n"));

    let json: Value = serde_json::from_str(&list(&["--json"])).expect("JSON");
    for tool in json["tools"].as_array().expect("tools") {
        assert_eq!(tool["installed"], tool["cli_name"] == "git", "{tool}");
    }
}

#[test]
fn list_does_not_look_for_programs_that_run_in_a_container() {
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/git-in-docker.yaml");
    let list = |arguments: &[&str]| {
        let output = run(climax()
            .args(["list", "--policy", policy])
            .args(arguments)
            .env("PATH", "/nonexistent")
            .env("PROJECT_DIR", "/projects/mine"));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(!list(&[]).contains("Not installed"));
    let json: Value = serde_json::from_str(&list(&["--json"])).expect("JSON");
    assert_eq!(json["tools"][0]["installed"], Value::Null);
}
