//! Compares the stdio transport with rmcp's own transport over an in-memory duplex: the same requests must
//! have the same responses.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use climax_tests::{
    Folder, Server, eventually, fixtures, initialize_params, run, script_call, server, settled,
};
use serde_json::{Value, json};

/// The protocol revisions that begin with a handshake.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The revision without a handshake.
const STATELESS: &str = "2026-07-28";

fn duplex(mode: &str) -> Command {
    server!(env!("CARGO_BIN_EXE_duplex"), mode)
}

fn call(tool: &str, args: &Value) -> (&'static str, Value) {
    let arguments = json!({"tool_name": tool, "args": args});
    registered("climax_call", &arguments)
}

fn registered(name: &str, arguments: &Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": name, "arguments": arguments}))
}

fn search(arguments: &Value) -> (&'static str, Value) {
    registered("climax_search", arguments)
}

/// Requests for the default mode.
fn requests() -> Vec<(&'static str, Value)> {
    let mut with_token = call("git_status", &json!({}));
    with_token.1["_meta"] = json!({"progressToken": "token"});
    vec![
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("tools/list", json!({"cursor": "2"})),
        ("tools/list", json!({"cursor": 5})),
        ("server/discover", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("completion/complete", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("no/such", json!({"a": 1})),
        ("prompts/get", json!({"name": "x"})),
        ("resources/read", json!({"uri": "file:///x"})),
        ("resources/subscribe", json!({"uri": "file:///x"})),
        ("resources/unsubscribe", json!({"uri": "file:///x"})),
        ("tasks/get", json!({"taskId": "x"})),
        ("ping", json!({"_meta": {"note": 1}})),
        search(&json!({})),
        search(&json!({"query": "git_status"})),
        search(&json!({"query": "commit", "limit": 2})),
        search(&json!({"query": "show what has changed here"})),
        search(&json!({"query": "nosuchword", "category": "vcs"})),
        search(&json!({"limit": "junk", "cli": "git-tools"})),
        search(&json!({"query": "\"quoted\" \\ tool", "limit": 3})),
        search(&json!({"query": "git", "limit": 100})),
        ("tools/call", json!({"name": "climax_search"})),
        call("git_status", &json!({})),
        call("git_log", &json!({"count": "3"})),
        call(
            "dump_kinds",
            &json!({"text": "a \"b\" \\ ä", "count": 7, "format": "json"}),
        ),
        call("dump_stdin", &json!({"text": "line\n"})),
        call("dump_required", &json!({})),
        call("dump_positional", &json!({"flagged": "-x"})),
        call("behave_exit", &json!({"code": 3, "out": "o", "err": "e"})),
        call("behave_signal", &json!({})),
        call("behave_slow", &json!({"out": "half"})),
        call("missing_program", &json!({})),
        call("nobody", &json!({})),
        call("dump_defaults", &json!({})),
        call("dump_options", &json!({"long": "-x", "short": "-y"})),
        call("dump_directory", &json!({"where": "/nosuch"})),
        call("git_status", &json!("{}")),
        call("git_status", &json!([1])),
        registered("climax_call", &json!({})),
        registered("climax_call", &json!({"tool_name": 5})),
        registered("nobody", &json!({})),
        registered("git_status", &json!({})),
        registered("search_mcp_tools", &json!({"query": "git"})),
        ("tools/call", json!({})),
        (
            "tools/call",
            json!({"name": "climax_call", "arguments": [1]}),
        ),
        with_token,
    ]
}

/// Sends a request and returns its progress notifications and response.
fn exchange(server: &mut Server, method: &str, params: &Value) -> Vec<Value> {
    let id = server.send(method, params);
    let mut messages = Vec::new();
    loop {
        let message = server.receive();
        let is_response = message["id"] == id;
        messages.push(message);
        if is_response {
            return messages;
        }
    }
}

/// Removes timestamps and durations, which differ between requests.
fn without_times(mut messages: Vec<Value>) -> Vec<Value> {
    for message in &mut messages {
        if let Some(text) = message["result"]["content"][0]["text"].as_str()
            && let Ok(mut json) = serde_json::from_str::<Value>(text)
            && let Some(fields) = json.as_object_mut()
        {
            for name in ["timestamp", "execution_time"] {
                fields.remove(name);
            }
            if let Some(error) = fields.get_mut("error") {
                error["timestamp"] = Value::Null;
            }
            message["result"]["content"][0]["text"] = json.to_string().into();
        }
    }
    messages
}

fn compare(
    mut stdio: Server,
    mut duplex: Server,
    requests: &[(&'static str, Value)],
    revision: &str,
) -> usize {
    for (method, mut params) in requests.iter().cloned() {
        if revision == STATELESS {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            if let Some(token) = params["_meta"].get("progressToken") {
                meta["progressToken"] = token.clone();
            }
            params["_meta"] = meta;
        }
        let ours = without_times(exchange(&mut stdio, method, &params));
        let theirs = without_times(exchange(&mut duplex, method, &params));
        assert_eq!(ours, theirs, "{revision} {method} {params}");
    }
    requests.len()
}

#[test]
fn requests_have_the_same_responses_over_both_transports() {
    let mut count = 0;
    for revision in REVISIONS {
        let servers = [fixtures!(), duplex("default")].map(|mut command| {
            let mut server = Server::start_without_handshake(&mut command);
            let response = server.request("initialize", &initialize_params(revision));
            assert_eq!(response["result"]["protocolVersion"], revision);
            server.notify("notifications/initialized", &json!({}));
            (server, response)
        });
        assert_eq!(servers[0].1, servers[1].1);
        let [(stdio, _), (duplex, _)] = servers;
        count += compare(stdio, duplex, &requests(), revision);
    }
    let [stdio, duplex] = [fixtures!(), duplex("default")]
        .map(|mut command| Server::start_without_handshake(&mut command));
    count += compare(stdio, duplex, &requests(), STATELESS);
    assert!(count >= 60, "{count}");
}

#[test]
fn the_other_modes_have_the_same_responses_over_both_transports() {
    let explore = vec![
        ("tools/list", json!({})),
        registered(
            "search_mcp_tools",
            &json!({"query": "undo the last commit"}),
        ),
        registered("search_mcp_tools", &json!({"query": ""})),
        registered(
            "search_mcp_tools",
            &json!({"query": "git", "max_results": 99}),
        ),
        registered("get_tool_details", &json!({"tool_id": "git_log"})),
        registered("get_tool_details", &json!({"tool_id": "git_lgo"})),
        registered("get_tool_details", &json!({})),
        registered("list_tool_categories", &json!({})),
        registered(
            "search_tools_by_capability",
            &json!({"capability_description": "commit"}),
        ),
        registered("search_tools_by_capability", &json!({"max_results": "x"})),
        call("git_status", &json!({})),
        search(&json!({"query": "git_status"})),
    ];
    let classic = vec![
        ("tools/list", json!({})),
        registered("git_status", &json!({})),
        registered("git_log", &json!({"count": 2})),
        registered("dump_required", &json!({})),
        registered("climax_search", &json!({})),
        registered("nobody", &json!({})),
    ];
    for (mode, requests) in [("explore", explore), ("classic", classic)] {
        let stdio = Server::start(&mut fixtures!(format!("--{mode}")));
        compare(
            stdio,
            Server::start(&mut duplex(mode)),
            &requests,
            REVISIONS[3],
        );
    }
}

#[test]
fn a_cancelled_call_has_no_response_over_either_transport() {
    for mut command in [fixtures!(), duplex("default")] {
        let mut server = Server::start(&mut command);
        let cancelled = server.send("tools/call", &script_call("shell_run", "sleep 1207"));
        eventually("it runs", || {
            climax_tests::count_processes(&["sleep", "1207"]) == 1
        });
        server.notify("notifications/cancelled", &json!({"requestId": cancelled}));
        eventually("it ends", || {
            climax_tests::count_processes(&["sleep", "1207"]) == 0
        });
        let id = server.send("ping", &json!({}));
        assert_eq!(server.receive()["id"], id);
    }
}

#[test]
fn long_responses_do_not_block_later_ones_over_either_transport() {
    let stdio = fixtures!("--inline-output", "1000000");
    for mut command in [stdio, duplex("default")] {
        let mut server = Server::start(&mut command);
        // Several times as many long responses as may exist at once.
        let flood = json!({"name": "climax_call", "arguments":
            {"tool_name": "behave_flood", "args": {"flood": 300_000}}});
        let ids: Vec<u64> = (0..12).map(|_| server.send("tools/call", &flood)).collect();
        for id in ids {
            let response = climax_tests::tool_response(&server.wait_for(id));
            assert!(response.text.len() >= 200_000, "{}", response.text.len());
        }
        assert_eq!(server.call("git_status", &json!({})).text, "git status");
    }
}

#[test]
fn unread_long_responses_hold_back_commands_over_either_transport() {
    let over_stdio = fixtures!("--max-concurrent", "16", "--inline-output", "1000000");
    for mut command in [over_stdio, duplex("default")] {
        for meta in [json!({}), json!({"progressToken": 1})] {
            let done = Folder::new();
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
            send(0, "initialize", initialize_params(REVISIONS[3]));
            let text = format!("seq 1 50000; mktemp -p {}", done.text());
            for id in 1..=96 {
                let mut params = script_call("shell_run", &text);
                params["_meta"] = meta.clone();
                send(id, "tools/call", params);
            }
            let count = || fs::read_dir(done.path()).expect("a folder").count();
            eventually("as many have run as may", || count() >= 16);
            let ran = settled("how many commands ran", count);
            // Commands whose responses wait, commands that ran meanwhile, and a few whose responses fit the pipe.
            assert!(ran < 48, "{ran} commands ran: {meta}");
            drop(stdin);
            drop(child.stdout.take());
            child.wait().expect("it ends");
        }
    }
}

#[test]
fn rmcps_own_client_is_served_over_an_in_memory_duplex() {
    let output = run(&mut duplex("client"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
