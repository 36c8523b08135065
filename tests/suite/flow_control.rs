//! Back-pressure, request ids and progress: clients that send fast, read slowly, or leave.

use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use climax_tests::{
    Server, count_processes, eventually, fixtures, initialize_params, process_status, read_bytes,
    settled,
};
use serde_json::{Value, json};

const REQUESTS: u64 = 100_000;

fn ping(id: u64) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

fn call(tool: &str, args: &Value) -> Value {
    json!({"name": "climax_call", "arguments": {"tool_name": tool, "args": args}})
}

/// The line of a request.
fn line(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
        + "\n"
}

/// The line of a notification that cancels a request.
fn cancellation(id: impl Into<Value>) -> String {
    let params = json!({"requestId": id.into()});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
        + "\n"
}

/// Starts a server whose responses nobody reads, unless the caller reads the child's stdout.
fn start_unread(mut command: Command, stdin: impl Into<Stdio>) -> Child {
    command.stdin(stdin).stdout(Stdio::piped());
    command.stderr(Stdio::null());
    command.spawn().expect("the server starts")
}

fn initialize_line() -> String {
    line(0, "initialize", &initialize_params("2025-11-25"))
}

/// Writes lines until the server stops reading or all are written. Returns how many were written, and the
/// thread that writes the rest and returns the stream.
fn write_until_stuck<W: Write + Send + 'static>(
    mut stdin: W,
    lines: impl Iterator<Item = String> + Send + 'static,
) -> (u64, JoinHandle<W>) {
    let sent = Arc::new(AtomicU64::new(0));
    let counter = sent.clone();
    let writer = thread::spawn(move || {
        for line in lines {
            if stdin.write_all(line.as_bytes()).is_err() {
                break;
            }
            counter.fetch_add(1, Ordering::Relaxed);
        }
        stdin
    });
    eventually("the server reads", || sent.load(Ordering::Relaxed) > 0);
    let written = settled("how many lines are written", || {
        sent.load(Ordering::Relaxed)
    });
    (written, writer)
}

#[test]
fn a_hundred_thousand_pipelined_requests_take_little_memory_and_are_all_answered() {
    let mut refused = call("no_such_tool", &json!({}));
    refused["_meta"] = json!({"progressToken": "tok"});
    let call = move |id| line(id, "tools/call", &refused);
    let requests: [Box<dyn Fn(u64) -> String + Send>; 2] = [Box::new(ping), Box::new(call)];
    for request in requests {
        let mut server = Server::start(&mut fixtures!());
        let mut stdin = server.take_stdin();
        let flood = thread::spawn(move || {
            for id in 1..=REQUESTS {
                let request = request(1000 + id);
                stdin.write_all(request.as_bytes()).expect("it reads");
            }
            stdin
        });
        let mut ids: Vec<u64> = (0..REQUESTS)
            .map(|_| server.receive()["id"].as_u64().expect("an id"))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len() as u64, REQUESTS);
        let _stdin = flood.join().expect("no panic");
        let kilobytes = process_status(server.id(), "VmHWM");
        assert!(kilobytes < 20_000, "{kilobytes} kB");
    }
}

#[test]
fn a_client_that_does_not_read_is_blocked_and_loses_no_response() {
    let mut child = start_unread(fixtures!(), Stdio::piped());
    let stdin = child.stdin.take().expect("a pipe");
    let lines = std::iter::once(initialize_line()).chain((1..=REQUESTS).map(ping));
    let (written, writer) = write_until_stuck(stdin, lines);
    assert!(written < REQUESTS / 2, "{written} were written");
    let kilobytes = process_status(child.id(), "VmHWM");
    assert!(kilobytes < 20_000, "{kilobytes} kB");
    let stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let responses =
        std::io::BufRead::lines(stdout).take(usize::try_from(REQUESTS).expect("few") + 1);
    assert_eq!(responses.map_while(Result::ok).count() as u64, REQUESTS + 1);
    drop(writer.join().expect("no panic"));
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn cancelling_requests_frees_no_room_for_unread_responses() {
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "climax_search"})),
        ("tools/call", call("no_such_tool", &json!({}))),
    ] {
        let mut child = start_unread(fixtures!(), Stdio::piped());
        let stdin = child.stdin.take().expect("a pipe");
        let pairs = (1..=20_000).map(move |id| line(id, method, &params) + &cancellation(id));
        let (written, _writer) =
            write_until_stuck(stdin, std::iter::once(initialize_line()).chain(pairs));
        let kilobytes = process_status(child.id(), "VmHWM");
        assert!(
            kilobytes < 20_000,
            "{kilobytes} kB after {written} times {method}"
        );
        child.kill().expect("it runs");
        child.wait().expect("ended");
    }
}

/// Waits for the end of a server whose client has left.
fn assert_ends(mut child: Child) {
    let start = Instant::now();
    let mut status = None;
    eventually("the server ends", || {
        status = child.try_wait().expect("a child");
        status.is_some()
    });
    assert!(status.expect("ended").success());
    // The documented limit is a second; a busy machine may take longer.
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_server_ends_when_a_client_leaves_with_requests_unread() {
    let folder = climax_tests::Folder::new();
    let path = folder.path().join("requests");
    let script = |text: String| call("shell_run", &json!({"script": text}));
    let first = line(-1, "tools/call", &script("sleep 1205".to_owned()));
    // Each is more than the server reads: pings whose responses nobody reads, and calls that wait.
    let pings: String = (1..=300_000).map(ping).collect();
    let calls: String = (1..=20_000)
        .map(|id| line(id, "tools/call", &script(format!("# {id:500}"))))
        .collect();
    for rest in [pings, calls] {
        let text = initialize_line() + &first + &rest;
        std::fs::write(&path, &text).expect("a file");
        let server = || fixtures!("--max-concurrent", "1");
        let wait_until_full = |server: &Child| {
            eventually("it runs", || count_processes(&["sleep", "1205"]) == 1);
            settled("what the server reads", || read_bytes(server.id()));
        };
        // The client dies.
        let mut cat = Command::new("cat");
        let mut client = cat.arg(&path).stdout(Stdio::piped()).spawn().expect("cat");
        let child = start_unread(server(), client.stdout.take().expect("a pipe"));
        wait_until_full(&child);
        client.kill().expect("it runs");
        assert!(!client.wait().expect("ended").success(), "it had to wait");
        assert_ends(child);
        assert_eq!(count_processes(&["sleep", "1205"]), 0);
        // The client closes its writing half of a socket.
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let child = start_unread(server(), OwnedFd::from(theirs));
        let mut copy = ours.try_clone().expect("a copy");
        let writer = thread::spawn(move || copy.write_all(text.as_bytes()));
        wait_until_full(&child);
        ours.shutdown(Shutdown::Write).expect("open");
        assert!(writer.join().expect("no panic").is_err(), "it had to wait");
        assert_ends(child);
        assert_eq!(count_processes(&["sleep", "1205"]), 0);
    }
}

#[test]
fn cancellations_take_effect_however_many_calls_wait() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "1"));
    let first = server.send(
        "tools/call",
        &call("shell_run", &json!({"script": "sleep 1201"})),
    );
    eventually("it runs", || count_processes(&["sleep", "1201"]) == 1);
    let waiting: Vec<u64> = (0..2000)
        .map(|number| {
            server.send(
                "tools/call",
                &call("shell_run", &json!({"script": format!("echo {number}")})),
            )
        })
        .collect();
    // One call at the front of the queue and one at its end.
    for cancelled in [waiting[10], waiting[1500]] {
        server.notify("notifications/cancelled", &json!({"requestId": cancelled}));
    }
    // Requests other than calls do not wait, and an unexpected response does no harm.
    server.send_line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    assert_eq!(
        server.matching_tools(&json!({"query": "git_status"})),
        ["git_status"]
    );
    assert!(server.request("ping", &json!({}))["result"].is_object());
    server.notify("notifications/cancelled", &json!({"requestId": first}));
    let mut responses = Vec::new();
    for (number, id) in waiting.iter().enumerate() {
        if number != 10 && number != 1500 {
            let response = server.wait_for(*id);
            responses.push(response["result"]["content"][0]["text"].clone());
        }
    }
    let expected = (0..2000).filter(|number| ![10, 1500].contains(number));
    assert_eq!(
        responses,
        expected
            .map(|number| json!(number.to_string()))
            .collect::<Vec<_>>()
    );
    assert_eq!(count_processes(&["sleep", "1201"]), 0);
    // The cancelled calls got no response: the next message belongs to the next request.
    let id = server.send("ping", &json!({}));
    assert_eq!(server.receive()["id"], id);
}

#[test]
fn pipes_and_sockets_are_served_by_a_single_thread() {
    for (name, mut server) in [
        ("pipes", Server::start(&mut fixtures!())),
        ("sockets", Server::start_on_sockets(&mut fixtures!())),
    ] {
        let mut stdin = server.take_stdin();
        let flood = thread::spawn(move || {
            for id in 1..=10_000 {
                stdin
                    .write_all(ping(1000 + id).as_bytes())
                    .expect("it reads");
            }
            stdin
        });
        for _ in 0..10_000 {
            assert!(server.receive()["result"].is_object());
        }
        assert_eq!(process_status(server.id(), "Threads"), 1, "{name}");
        drop(flood.join().expect("no panic"));
        assert!(server.wait().success(), "{name}");
    }
}

#[test]
fn requests_from_a_file_are_answered() {
    let folder = climax_tests::Folder::new();
    let path = folder.path().join("requests");
    std::fs::write(&path, climax_tests::one_call_session("git_status")).expect("a file");
    let responses = folder.path().join("responses");
    let mut command = fixtures!("--classic");
    command.stdin(std::fs::File::open(&path).expect("a file"));
    command.stdout(std::fs::File::create(&responses).expect("a file"));
    assert!(command.status().expect("it runs").success());
    let responses = std::fs::read_to_string(&responses).expect("responses");
    assert!(responses.contains("git status"), "{responses}");
    assert_eq!(responses.lines().count(), 2);
}

#[test]
fn an_oversized_message_is_refused_with_its_id_and_not_buffered() {
    let mut server = Server::start(&mut fixtures!("--max-request", "1000"));
    let before = process_status(server.id(), "VmHWM");
    let text = "x".repeat(50_000_000);
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":"front","method":"ping","params":{{"t":"{text}"}}}}"#),
        format!(r#"{{"method":"ping","params":{{"t":"{text}"}},"jsonrpc":"2.0","id":"back"}}"#),
    ] {
        server.send_line(&line);
        let response = server.receive();
        assert_eq!(response["error"]["code"], -32600, "{response}");
        assert_eq!(
            response["error"]["message"],
            "Invalid request: the message is longer than 1000 bytes"
        );
        let id = response["id"].as_str().expect("an id");
        assert!(line.contains(&format!(r#""id":"{id}""#)), "{response}");
    }
    let grown = process_status(server.id(), "VmHWM") - before;
    assert!(grown < 2000, "{grown} kB");
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
    for limit in ["0", "-1", "much"] {
        let output = climax_tests::run(&mut fixtures!("--max-request", limit));
        assert_eq!(output.status.code(), Some(2), "{limit}");
    }
}

#[test]
fn a_duplicate_request_id_is_refused_and_the_first_request_is_answered() {
    let mut server = Server::start(&mut fixtures!());
    let script = json!({"script": "sleep 0.3; echo first"});
    let request = line("twice", "tools/call", &call("shell_run", &script));
    server.send_line(&(request.clone() + request.trim_end()));
    let refused = server.receive();
    assert_eq!(refused["id"], "twice");
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let response = server.receive();
    assert_eq!(response["id"], "twice");
    assert_eq!(response["result"]["content"][0]["text"], "first");
}

#[test]
fn an_id_can_be_reused_once_its_request_is_answered_or_cancelled() {
    let mut server = Server::start(&mut fixtures!());
    for _ in 0..2000 {
        server.send_line(ping(7).trim_end());
        let response = server.receive();
        assert_eq!(response, json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    }
    let call = |script| {
        line(
            7,
            "tools/call",
            &call("shell_run", &json!({"script": script})),
        )
    };
    for _ in 0..20 {
        let lines = call("sleep 1206") + &cancellation(7) + &call("echo new");
        server.send_line(lines.trim_end());
        let response = server.receive();
        assert_eq!(
            response["result"]["content"][0]["text"], "new",
            "{response}"
        );
    }
    eventually("they are gone", || count_processes(&["sleep", "1206"]) == 0);
}

#[test]
fn the_server_ends_when_a_client_leaves_with_responses_unread() {
    let mut child = start_unread(fixtures!(), Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    let flood = call("behave_flood", &json!({"flood": 1_000_000}));
    let lines = (1..=20).map(|id| line(id, "tools/call", &flood));
    let text = initialize_line() + &lines.collect::<String>();
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    assert_ends(child);
}

/// Sends a call of a script with a progress token.
fn send_with_token(server: &mut Server, script: &str) -> u64 {
    let mut params = call("shell_run", &json!({"script": script}));
    params["_meta"] = json!({"progressToken": "tok"});
    server.send("tools/call", &params)
}

/// The progress notifications before the response to a request, and the response.
fn receive_with_progress(server: &mut Server, id: u64) -> (Vec<(f64, String)>, Value) {
    let mut progress = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == id {
            return (progress, message);
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let params = &message["params"];
        assert_eq!(params["progressToken"], "tok");
        let text = climax_tests::text(&params["message"]);
        progress.push((params["progress"].as_f64().expect("a number"), text));
    }
}

#[test]
fn a_call_with_a_progress_token_reports_progress() {
    let mut server = Server::start(&mut fixtures!());
    let script = "sleep 1.5; printf 'one\\ntwo\\n\\n'; sleep 1; printf '10%%\\r20%%' >&2; sleep 1";
    let id = send_with_token(&mut server, script);
    let (progress, response) = receive_with_progress(&mut server, id);
    assert_eq!(response["result"]["isError"], false);
    assert_eq!(progress[0], (0.0, "started".to_owned()));
    assert!((3..=6).contains(&progress.len()), "{progress:?}");
    assert!(
        progress.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "{progress:?}"
    );
    let has_message = |end: &str| progress.iter().any(|(_, text)| text.ends_with(end));
    assert!(
        has_message(" s: running") && has_message(" s: two") && has_message(" s: 20%"),
        "{progress:?}"
    );
    // A short call reports only its start, and a call without a token reports nothing.
    let id = send_with_token(&mut server, "echo short");
    assert_eq!(receive_with_progress(&mut server, id).0.len(), 1);
    let id = server.send(
        "tools/call",
        &call("shell_run", &json!({"script": "sleep 1.2"})),
    );
    assert_eq!(receive_with_progress(&mut server, id).0, []);
    // A refused call does not start.
    let mut refused = call("dump_required", &json!({}));
    refused["_meta"] = json!({"progressToken": "tok"});
    let id = server.send("tools/call", &refused);
    let (progress, response) = receive_with_progress(&mut server, id);
    assert_eq!(
        (progress, &response["result"]["isError"]),
        (vec![], &json!(true))
    );
}

#[test]
fn a_queued_call_reports_that_it_waits() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "1"));
    let first = server.send(
        "tools/call",
        &call("shell_run", &json!({"script": "sleep 1202"})),
    );
    eventually("it runs", || count_processes(&["sleep", "1202"]) == 1);
    let second = send_with_token(&mut server, "echo mine");
    for expected in ["started", "1 s: waiting for other commands to end"] {
        assert_eq!(server.receive()["params"]["message"], expected);
    }
    server.notify("notifications/cancelled", &json!({"requestId": first}));
    let response = server.wait_for(second);
    assert_eq!(response["result"]["content"][0]["text"], "mine");
}

#[test]
fn a_running_command_ends_when_the_client_dies() {
    // The server notices the client's death only by its end of the pipe.
    let server = fixtures!();
    let mut client = Command::new("sh");
    client
        .args([
            "-c",
            "{ cat; sleep 1203; } | \"$0\" --classic | cat > /dev/null",
        ])
        .arg(server.get_program())
        .envs(
            server
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let mut client = client.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = client.stdin.take().expect("a pipe");
    let sleep = json!({"name": "shell_run", "arguments": {"script": "sleep 1204"}});
    let text = initialize_line() + &line(2, "tools/call", &sleep);
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    eventually("it runs", || count_processes(&["sleep", "1204"]) == 1);
    for process in climax_tests::find_processes(&["sleep", "1203"]) {
        climax_tests::send_signal("KILL", process);
    }
    eventually("it is gone", || count_processes(&["sleep", "1204"]) == 0);
    client.wait().expect("it ends");
}

#[test]
fn an_unread_or_closed_stderr_does_not_block_the_server() {
    for is_open in [true, false] {
        let mut command = fixtures!();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let stderr = child.stderr.take().filter(|_| is_open);
        let mut stdin = child.stdin.take().expect("a pipe");
        let stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
        let flood = thread::spawn(move || {
            // Refusals are logged.
            let refused = call("dump_required", &json!({}));
            let lines = (1..=3000).map(|id| line(id, "tools/call", &refused));
            for line in std::iter::once(initialize_line()).chain(lines) {
                stdin.write_all(line.as_bytes()).expect("it reads");
            }
            stdin
        });
        let responses = std::io::BufRead::lines(stdout).take(3001);
        assert_eq!(responses.map_while(Result::ok).count(), 3001, "{is_open}");
        drop(flood.join().expect("no panic"));
        assert!(child.wait().expect("it ends").success(), "{is_open}");
        drop(stderr);
    }
}
