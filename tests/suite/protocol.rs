//! MCP over stdio: revisions, capabilities, malformed messages, and the end of input.

use climax_tests::{Server, fixtures, initialize_params, run_with_input, text, tool_response};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!())
}

#[test]
fn every_protocol_revision_with_a_handshake_is_supported() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = Server::start_without_handshake(&mut fixtures!());
        let response = server.request("initialize", &initialize_params(version));
        assert_eq!(response["result"]["protocolVersion"], version, "{response}");
        server.notify("notifications/initialized", &json!({}));
        assert_eq!(server.tools().len(), 2);
    }
}

#[test]
fn the_protocol_revision_without_a_handshake_is_supported() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut server = Server::start_without_handshake(&mut fixtures!());
    let list = server.request("tools/list", &json!({"_meta": meta}));
    assert_eq!(
        list["result"]["tools"][0]["name"], "climax_search",
        "{list}"
    );
    assert_eq!(list["result"]["resultType"], "complete");
    let arguments = json!({"tool_name": "git_status"});
    let call = server.request(
        "tools/call",
        &json!({"_meta": meta, "name": "climax_call", "arguments": arguments}),
    );
    assert_eq!(tool_response(&call).text, "git status");
    let discovered = server.request("server/discover", &json!({"_meta": meta}));
    assert_eq!(discovered["result"]["capabilities"], json!({"tools": {}}));
}

#[test]
fn initialize_returns_server_info_capabilities_and_instructions() {
    let mut server = Server::start_without_handshake(&mut fixtures!());
    let response = server.request("initialize", &initialize_params("2025-11-25"));
    let result = &response["result"];
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    assert_eq!(
        result["serverInfo"],
        json!({"name": "climax", "version": env!("CARGO_PKG_VERSION")})
    );
    let instructions = text(&result["instructions"]);
    for part in [
        "climax_search",
        "climax_call",
        "43 command-line tools of 9 CLIs",
    ] {
        assert!(instructions.contains(part), "{instructions}");
    }
}

#[test]
fn a_server_with_one_config_is_named_after_it() {
    let mut server = Server::start_without_handshake(&mut fixtures!("docker"));
    let response = server.request("initialize", &initialize_params("2025-11-25"));
    assert_eq!(response["result"]["serverInfo"]["name"], "docker-tools");
}

#[test]
fn methods_that_the_server_does_not_offer_are_not_found() {
    let mut server = start();
    for method in [
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "no/such",
    ] {
        let response = server.request(method, &json!({}));
        assert_eq!(response["error"]["code"], -32601, "{method}: {response}");
    }
    assert_eq!(server.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_malformed_call_is_an_invalid_params_error() {
    let mut server = start();
    for params in [
        json!({}),
        json!({"name": 5}),
        json!({"name": "climax_call", "arguments": [1]}),
        json!({"name": "climax_call", "arguments": "x"}),
    ] {
        let response = server.request("tools/call", &params);
        assert_eq!(response["error"]["code"], -32602, "{params}: {response}");
    }
    let response = server.request(
        "tools/call",
        &json!({"name": "climax_search", "arguments": null}),
    );
    assert!(!tool_response(&response).is_error);
}

#[test]
fn malformed_input_gets_an_error_and_the_server_continues() {
    let mut server = start();
    let nested = "[".repeat(100_000) + &"]".repeat(100_000);
    let deep = format!(r#"{{"jsonrpc":"2.0","id":79,"method":"ping","params":{{"p":{nested}}}}}"#);
    for (line, code, id) in [
        ("{not json", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":77}", -32600, json!(77)),
        ("5", -32600, Value::Null),
        (
            r#"{"jsonrpc":"2.0","id":78,"method":"ping","params":{"n":1e999}}"#,
            -32700,
            json!(78),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":{"s":"\ud800"}}"#,
            -32700,
            json!("x"),
        ),
        (&deep, -32700, json!(79)),
    ] {
        server.send_line(line);
        let response = server.receive();
        assert_eq!(response["error"]["code"], code, "{line}: {response}");
        assert_eq!(response["id"], id, "{line}: {response}");
    }
    server.send_line("");
    server.notify("notifications/nobody/knows", &json!({}));
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
}

#[test]
fn a_message_of_ten_megabytes_is_answered_and_a_longer_one_refused() {
    let mut server = start();
    let long = "x".repeat(10_000_000);
    let found = server.matching_tools(&json!({"query": long}));
    assert_eq!(found, [""; 0]);
    server.send_line(&"y".repeat(17 * 1024 * 1024));
    let response = server.receive();
    assert_eq!(response["error"]["code"], -32600, "{response}");
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
}

#[test]
fn the_end_of_input_ends_the_server_after_pending_requests() {
    let plain = json!({"name": "climax_call", "arguments": {"tool_name": "git_status"}});
    let mut with_token = plain.clone();
    with_token["_meta"] = json!({"progressToken": 1});
    for params in [plain, with_token] {
        let mut server = start();
        let id = server.send("tools/call", &params);
        let (status, lines) = server.close();
        assert!(status.success());
        let last = lines.last().expect("a response");
        let response: Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(response["id"], id);
        assert_eq!(tool_response(&response).text, "git status", "{lines:?}");
    }
}

#[test]
fn messages_before_the_handshake_do_no_harm() {
    let mut server = Server::start_without_handshake(&mut fixtures!());
    server.notify("notifications/initialized", &json!({}));
    server.notify("notifications/cancelled", &json!({"requestId": 5}));
    server.send_line(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert_eq!(server.request("ping", &json!({}))["result"], json!({}));
    let early = server.request("tools/list", &json!({}));
    assert!(early["error"].is_object(), "{early}");
    server.notify("notifications/initialized", &json!({}));
    let response = server.request("initialize", &initialize_params("2025-11-25"));
    assert!(response["result"].is_object(), "{response}");
    assert_eq!(server.tools().len(), 2);
}

#[test]
fn the_last_message_needs_no_newline() {
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25")}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}),
    ];
    let output = run_with_input(
        &mut fixtures!(),
        &requests.map(|request| request.to_string()).join("\n"),
    );
    let responses = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(responses.lines().count(), 2, "{responses}");
}

#[test]
fn requests_without_a_session_are_answered_even_if_the_client_leaves() {
    for (line, part) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#""result":{}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "send `initialize` first",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
            "-32602",
        ),
        ("x", "-32700"),
    ] {
        for _ in 0..5 {
            let output = run_with_input(&mut fixtures!(), line);
            assert!(output.status.success(), "{output:?}");
            let response = String::from_utf8(output.stdout).expect("UTF-8");
            assert!(response.contains(part), "{line}: {response}");
        }
    }
}

#[test]
fn empty_input_is_not_an_error() {
    let output = run_with_input(&mut fixtures!(), "");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn standard_output_carries_only_the_protocol() {
    let mut server = Server::start(&mut fixtures!("--log-level", "debug", "--classic"));
    server.call_registered("behave_exit", &json!({"code": 1, "err": "e"}));
    let (_, lines) = server.close();
    assert_eq!(lines, [""; 0]);
}

#[test]
fn classic_tools_have_annotations_where_the_config_states_the_risk() {
    let tools = Server::start(&mut fixtures!("--classic")).tools();
    let tool = |name: &str| {
        tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("there")
            .clone()
    };
    assert_eq!(
        tool("docker_ps")["annotations"],
        json!({"readOnlyHint": true})
    );
    assert_eq!(
        tool("docker_commit")["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": false})
    );
    assert_eq!(
        tool("docker_rm")["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": true})
    );
    assert_eq!(tool("git_status").get("annotations"), None);
}

#[test]
fn a_response_has_exactly_the_id_of_its_request() {
    let mut server = start();
    let search = json!({"name": "climax_search", "arguments": {"query": "git"}});
    for (method, params) in [("ping", json!({})), ("tools/call", search)] {
        for id in [
            json!("ä\"\\"),
            json!(""),
            json!("7"),
            json!(7),
            json!(-7),
            json!(0),
        ] {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            server.send_line(&line.to_string());
            let response = server.receive();
            assert!(response["result"].is_object(), "{response}");
            assert_eq!(response["id"], id, "{method}");
        }
    }
}

#[test]
fn the_initialize_response_comes_first() {
    for _ in 0..20 {
        let mut server = Server::start_without_handshake(&mut fixtures!());
        let search = json!({"name": "climax_search", "arguments": {"query": "git"}});
        let lines = [
            ("initialize", initialize_params("2025-11-25")),
            ("ping", json!({})),
            ("tools/call", search),
        ];
        let lines = (1..).zip(lines).map(|(id, (method, params))| {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
        });
        server.send_line(&lines.collect::<Vec<_>>().join("\n"));
        let first = server.receive();
        assert!(first["result"]["serverInfo"].is_object(), "{first}");
        let rest = [server.receive(), server.receive()];
        assert!(rest.iter().all(|response| response["result"].is_object()));
    }
}
