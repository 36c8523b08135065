//! Limits on output, concurrent commands and unread responses.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use climax_tests::{
    Folder, Server, count_processes, eventually, fixtures, initialize_params, process_status,
    settled, text,
};
use serde_json::{Value, json};

fn call(tool: &str, args: &Value) -> Value {
    json!({"name": "climax_call", "arguments": {"tool_name": tool, "args": args}})
}

#[test]
fn output_over_the_limit_is_read_to_its_end_and_truncated() {
    let mut server = Server::start(&mut fixtures!());
    // The first call allocates what every call needs.
    server.call(
        "behave_flood",
        &json!({"flood": 3_000_000, "flooderr": 3_000_000}),
    );
    let before = process_status(server.id(), "VmHWM");
    for stream in ["flood", "flooderr"] {
        let response = server.call(
            "behave_flood",
            &json!({"out": "the beginning", stream: 200_000_000}),
        );
        assert!(!response.is_error);
        assert!(
            response.text.starts_with("the beginning"),
            "{}",
            &response.text[..100]
        );
        assert!(response.text.ends_with("the end"), "{stream}");
        assert!(response.text.contains(" bytes omitted"), "{stream}");
        assert!(
            response.text.len() < 34_000,
            "{stream}: {}",
            response.text.len()
        );
    }
    let grown = process_status(server.id(), "VmHWM") - before;
    assert!(grown < 8_000, "{grown} kB more");
}

#[test]
fn inline_output_sets_how_much_output_is_in_the_answer() {
    let mut server = Server::start(&mut fixtures!("--inline-output", "1000"));
    let response = server.call("behave_flood", &json!({"flood": 1_000_000}));
    assert!(response.text.len() < 1300, "{}", response.text.len());
    let short = server.call("behave_exit", &json!({"code": 0, "out": "y".repeat(900)}));
    assert_eq!(short.text.len(), 900);
}

#[test]
fn calls_beyond_max_concurrent_wait_and_can_be_cancelled() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "2"));
    let running: Vec<u64> = ["65.01", "65.02"]
        .map(|child| {
            server.send(
                "tools/call",
                &call("behave_wait", &json!({"sleep": 600, "child": child})),
            )
        })
        .into();
    eventually("two run", || {
        count_processes(&["sleep", "65.01"]) + count_processes(&["sleep", "65.02"]) == 2
    });
    let folder = Folder::new();
    let witness = folder.path().join("witness");
    let script = format!("touch {}; sleep 65.03", witness.display());
    let cancelled = server.send("tools/call", &call("shell_run", &json!({"script": script})));
    let waiting = server.send("tools/call", &call("git_status", &json!({})));
    // Searches need no permit.
    assert_eq!(
        server.matching_tools(&json!({"query": "git_status"})),
        ["git_status"]
    );
    server.notify("notifications/cancelled", &json!({"requestId": cancelled}));
    server.notify("notifications/cancelled", &json!({"requestId": running[0]}));
    let response = server.wait_for(waiting);
    assert_eq!(response["result"]["content"][0]["text"], "git status");
    assert!(!witness.exists(), "the cancelled one never ran");
    server.notify("notifications/cancelled", &json!({"requestId": running[1]}));
    eventually("none is left", || count_processes(&["sleep", "65.02"]) == 0);
}

#[test]
fn at_most_max_concurrent_commands_run_at_once() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "3"));
    let folder = Folder::new();
    let arguments = json!({
        "directory": folder.path(),
        "script": "mkdir $$; ls | wc -l; sleep 0.1; rmdir $$",
    });
    let ids: Vec<u64> = (0..12)
        .map(|_| server.send("tools/call", &call("shell_run", &arguments)))
        .collect();
    for id in ids {
        let response = server.wait_for(id);
        let count = text(&response["result"]["content"][0]["text"]);
        let count: usize = count.parse().expect("a number");
        assert!((1..=3).contains(&count), "{response}");
    }
}

#[test]
fn waiting_calls_run_in_order_of_arrival() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "1"));
    // More than the server parses ahead: it parks the rest as lines.
    let ids: Vec<u64> = (0..600)
        .map(|number| {
            let mut params = call("shell_run", &json!({"script": ":"}));
            if number % 2 == 0 {
                params["_meta"] = json!({"progressToken": number});
            }
            server.send("tools/call", &params)
        })
        .collect();
    let mut answered = Vec::new();
    while answered.len() < ids.len() {
        answered.extend(server.receive()["id"].as_u64());
    }
    assert_eq!(answered, ids);
}

#[test]
fn unread_responses_hold_back_commands_and_limit_memory() {
    let stateless = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (last_command, meta) in [
        ("", json!({})),
        ("", json!({"progressToken": 1})),
        ("", stateless),
        ("sleep 1185 &", json!({})),
    ] {
        let mut command = fixtures!("--max-concurrent", "8", "--inline-output", "1000000");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut send = |id: u64, method: &str, params: Value| {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(stdin, "{line}").expect("it reads");
        };
        if !meta.to_string().contains("2026") {
            send(0, "initialize", initialize_params("2025-11-25"));
        }
        // As JSON, each control character of output takes six bytes.
        let done = Folder::new();
        let script = format!(
            "head -c 2000000 /dev/zero | tr '\\0' '\\1'; mktemp -p {}; {last_command}",
            done.text()
        );
        for id in 1..=64 {
            let mut params = call("shell_run", &json!({"script": script}));
            params["_meta"] = meta.clone();
            send(id, "tools/call", params);
        }
        let count = || fs::read_dir(done.path()).expect("a folder").count();
        eventually("as many have run as may", || count() >= 8);
        let ran = settled("how many commands ran", count);
        // Commands whose responses are queued, and commands whose responses wait for a permit.
        assert!(ran < 24, "{ran} commands ran: {last_command} {meta}");
        let kilobytes = process_status(child.id(), "VmHWM");
        assert!(kilobytes < 80_000, "{kilobytes} kB: {last_command} {meta}");
        drop(stdin);
        assert!(child.wait().expect("it ends").success());
    }
}

#[test]
fn a_max_concurrent_that_is_not_positive_prevents_the_start() {
    for limit in ["0", "-1", "many"] {
        let output = climax_tests::run(&mut fixtures!("--max-concurrent", limit));
        assert_eq!(output.status.code(), Some(2), "{limit}");
    }
}

#[test]
fn an_inline_output_that_is_too_small_prevents_the_start() {
    for bytes in ["0", "99", "many"] {
        let output = climax_tests::run(&mut fixtures!("--inline-output", bytes));
        assert_eq!(output.status.code(), Some(2), "{bytes}");
    }
}

#[test]
fn climax_variables_are_not_passed_to_commands() {
    let mut server = Server::start(fixtures!().env("CLIMAX_SECRET", "x"));
    let dumped = server.call("dump_nothing", &json!({})).json();
    assert_eq!(dumped["own"], json!([]));
}
