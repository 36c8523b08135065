//! Results of calls as the contract defines them: output, exit codes, errors, timeouts and stdin.

use std::process::Command;

use climax_tests::{Folder, Server, count_processes, eventually, fixtures, run};
use serde_json::json;

fn start() -> Server {
    Server::start(&mut fixtures!())
}

#[test]
fn a_result_is_stdout_then_stderr_then_a_nonzero_exit_code() {
    let mut server = start();
    for (args, text, is_error) in [
        (json!({"code": 0, "out": "output"}), "output", false),
        (
            json!({"code": 0, "out": "output", "err": "warning"}),
            "output\n\n[stderr]\nwarning",
            false,
        ),
        (
            json!({"code": 1, "err": "error"}),
            "[stderr]\nerror\n\n[exit code: 1]",
            true,
        ),
        (json!({"code": 0}), "(no output)", false),
        (json!({"code": 2}), "[exit code: 2]", true),
    ] {
        let response = server.call("behave_exit", &args);
        assert_eq!(response.text, text, "{args}");
        assert_eq!(response.is_error, is_error, "{args}");
    }
}

#[test]
fn blank_lines_are_trimmed_and_the_first_line_keeps_its_indentation() {
    let args = json!({"code": 0, "out": "\n\n  M file  \n\n"});
    assert_eq!(start().call("behave_exit", &args).text, "  M file");
}

#[test]
fn death_by_a_signal_is_a_negative_exit_code() {
    let response = start().call("behave_signal", &json!({}));
    assert_eq!(response.text, "[exit code: -9]");
    assert!(response.is_error);
}

#[test]
fn a_missing_program_is_reported_by_name() {
    let response = start().call("missing_program", &json!({}));
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "[stderr]\nCommand not found: no-such-program-anywhere\n\n[exit code: -1]"
    );
}

#[test]
fn a_base_command_that_expands_to_nothing_is_refused() {
    // Otherwise the tool's first word would be run as the program.
    let mut server = Server::start(fixtures!().env("EMPTY_BASE", " "));
    let response = server.call("empty_base", &json!({}));
    assert!(response.is_error);
    assert!(
        response.text.contains("The base command is empty"),
        "{response:?}"
    );
}

#[test]
fn a_missing_working_directory_is_reported_by_path() {
    let response = start().call("dump_directory", &json!({"where": "/no/such/directory"}));
    assert!(response.is_error);
    assert_eq!(
        response.text,
        "[stderr]\nWorking directory not found: /no/such/directory\n\n[exit code: -1]"
    );
}

#[test]
fn a_program_without_execute_permission_is_reported() {
    let folder = Folder::new();
    let program = folder.path().join("not-executable");
    std::fs::write(&program, "#!/bin/sh\n").expect("a file");
    let mut server = Server::start(fixtures!().env("ARGDUMP", &program));
    let response = server.call("plain_dump", &json!({}));
    assert!(response.is_error);
    assert!(
        response.text.contains("Permission denied: "),
        "{response:?}"
    );
}

#[test]
fn arguments_of_climax_call_with_a_wrong_type_are_refused() {
    let mut server = start();
    for (arguments, line) in [
        (json!({}), "Missing required argument 'tool_name'"),
        (
            json!({"tool_name": null}),
            "Missing required argument 'tool_name'",
        ),
        (
            json!({"tool_name": 7}),
            "Argument 'tool_name' must be a string, not 7",
        ),
        (
            json!({"tool_name": "git_log", "args": [1]}),
            "Argument 'args' must be an object, not a list",
        ),
        (
            json!({"tool_name": "git_log", "args": 7}),
            "Argument 'args' must be an object, not a number",
        ),
        (
            json!({"tool_name": "git_log", "args": "[1]"}),
            "Argument 'args' must be an object, not text",
        ),
        (
            json!({"tool_name": "git_log", "args": "x"}),
            "Argument 'args' must be an object; this text is not valid JSON",
        ),
    ] {
        let response = server.call_registered("climax_call", &arguments);
        assert!(response.is_error, "{arguments}");
        assert_eq!(
            response.text,
            format!("Argument validation failed:\n  - {line}")
        );
    }
}

#[test]
fn args_may_be_an_object_encoded_as_a_json_string() {
    let arguments = json!({"tool_name": "git_log", "args": "{\"max_count\": 3}"});
    let response = start().call_registered("climax_call", &arguments);
    assert_eq!(response.text, "git log -n 3");
}

#[test]
fn a_timeout_kills_the_commands_children() {
    let sleep = ["sleep", "61.7341"];
    let response = start().call("behave_slow", &json!({"child": sleep[1], "out": "started"}));
    assert!(
        response
            .text
            .starts_with("started\n\n[stderr]\nCommand timed out"),
        "{response:?}"
    );
    eventually("the grandchild is gone", || count_processes(&sleep) == 0);
}

#[test]
fn a_cancellation_kills_the_command_and_its_children() {
    let mut server = start();
    let sleep = ["sleep", "62.9173"];
    let args = json!({"sleep": 600, "child": sleep[1]});
    let params =
        json!({"name": "climax_call", "arguments": {"tool_name": "behave_wait", "args": args}});
    let id = server.send("tools/call", &params);
    eventually("the grandchild runs", || count_processes(&sleep) == 1);
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    eventually("the grandchild is gone", || count_processes(&sleep) == 0);
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
}

/// Starts a call that takes ten minutes, and waits until its child runs.
fn start_long_call(server: &mut Server, sleep: &[&str; 2]) {
    let args = json!({"sleep": 600, "child": sleep[1]});
    let arguments = json!({"tool_name": "behave_wait", "args": args});
    server.send(
        "tools/call",
        &json!({"name": "climax_call", "arguments": arguments}),
    );
    eventually("the grandchild runs", || count_processes(sleep) == 1);
}

#[test]
fn the_end_of_input_ends_the_server_and_kills_the_commands_children() {
    let mut server = start();
    let sleep = ["sleep", "63.1415"];
    start_long_call(&mut server, &sleep);
    let (status, _) = server.close();
    assert!(status.success());
    eventually("the grandchild is gone", || count_processes(&sleep) == 0);
}

#[test]
fn a_signal_ends_the_server_and_kills_the_commands_children() {
    for (signal, seconds) in [("TERM", "64.2718"), ("INT", "64.1618"), ("HUP", "64.5772")] {
        let mut server = start();
        let sleep = ["sleep", seconds];
        start_long_call(&mut server, &sleep);
        let id = server.id().to_string();
        run(Command::new("kill").args([format!("-{signal}"), id]));
        let status = server.wait();
        assert!(status.success(), "{signal}: {status}");
        eventually("the grandchild is gone", || count_processes(&sleep) == 0);
    }
}

#[test]
fn a_signal_before_the_handshake_ends_the_server() {
    let mut server = Server::start_without_handshake(&mut fixtures!());
    // A response shows that it is ready for signals.
    server.request("ping", &json!({}));
    run(Command::new("kill").arg(server.id().to_string()));
    assert!(server.wait().success());
}

#[test]
fn a_background_child_does_not_delay_the_response() {
    // The child outlives the timeout of the call.
    let response = start().call("behave_background", &json!({"out": "done", "child": "40"}));
    assert_eq!(response.text, "done");
}

#[test]
fn a_command_has_empty_stdin_unless_the_call_provides_it() {
    let mut server = Server::start(&mut fixtures!("--inline-output", "2000000"));
    let nothing = server.call("dump_nothing", &json!({})).json();
    assert_eq!(nothing["stdin"], "");
    let text = "line one\nline two \u{1f600}\n";
    let dumped = server.call("dump_stdin", &json!({"text": text})).json();
    assert_eq!(dumped["stdin"], text);
    let long = "x".repeat(1_000_000);
    let dumped = server.call("dump_stdin", &json!({"text": long})).json();
    assert_eq!(dumped["stdin"].as_str().map(str::len), Some(1_000_000));
}

#[test]
fn a_command_need_not_read_its_stdin() {
    let response = start().call("behave_deaf", &json!({"text": "x".repeat(1_000_000)}));
    assert_eq!(response.text, "(no output)");
}

#[test]
fn calls_run_concurrently() {
    let mut server = start();
    let params = json!({"name": "climax_call", "arguments": {"tool_name": "behave_wait", "args": {"sleep": 600.5}}});
    let slow = server.send("tools/call", &params);
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
    server.notify("notifications/cancelled", &json!({"requestId": slow}));
}
