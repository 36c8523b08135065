//! However fast a client sends and however slowly it reads, the server stays small and answers.

use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use climax_tests::{Server, eventually, fixtures, initialize, processes, status};
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

/// The line that takes a request back.
fn cancel(id: impl Into<Value>) -> String {
    let params = json!({"requestId": id.into()});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
        + "\n"
}

/// Starts a server whose answers are not read unless the child's output is.
fn start_unread(mut command: Command, stdin: impl Into<Stdio>) -> Child {
    command.stdin(stdin).stdout(Stdio::piped());
    command.stderr(Stdio::null());
    command.spawn().expect("the server starts")
}

fn hello() -> String {
    line(0, "initialize", &initialize("2025-11-25"))
}

/// Writes lines until the server takes no more of them, or all. Returns how many it took, and a
/// thread that goes on and gives the stream back.
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
    let mut before = 0;
    eventually("the client has to wait", || {
        thread::sleep(Duration::from_millis(200));
        let now = sent.load(Ordering::Relaxed);
        now > 0 && now == std::mem::replace(&mut before, now)
    });
    (before, writer)
}

#[test]
fn a_hundred_thousand_requests_in_a_row_take_little_memory_and_all_are_answered() {
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
        let kilobytes = status(server.id(), "VmHWM");
        assert!(kilobytes < 20_000, "{kilobytes} kB");
    }
}

#[test]
fn a_client_that_does_not_read_has_to_wait_and_nothing_is_lost() {
    let mut child = start_unread(fixtures!(), Stdio::piped());
    let stdin = child.stdin.take().expect("a pipe");
    let lines = std::iter::once(hello()).chain((1..=REQUESTS).map(ping));
    let (taken, writer) = write_until_stuck(stdin, lines);
    assert!(taken < REQUESTS / 2, "{taken} were taken");
    let kilobytes = status(child.id(), "VmHWM");
    assert!(kilobytes < 20_000, "{kilobytes} kB");
    let stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let answers = std::io::BufRead::lines(stdout).take(usize::try_from(REQUESTS).expect("few") + 1);
    assert_eq!(answers.map_while(Result::ok).count() as u64, REQUESTS + 1);
    drop(writer.join().expect("no panic"));
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn taking_requests_back_does_not_make_room_for_answers_that_nobody_reads() {
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "climax_search"})),
        ("tools/call", call("no_such_tool", &json!({}))),
    ] {
        let mut child = start_unread(fixtures!(), Stdio::piped());
        let stdin = child.stdin.take().expect("a pipe");
        let pairs = (1..=20_000).map(move |id| line(id, method, &params) + &cancel(id));
        let (taken, _writer) = write_until_stuck(stdin, std::iter::once(hello()).chain(pairs));
        let kilobytes = status(child.id(), "VmHWM");
        assert!(
            kilobytes < 20_000,
            "{kilobytes} kB after {taken} times {method}"
        );
        child.kill().expect("it runs");
        child.wait().expect("ended");
    }
}

/// Waits for the end of a server that nobody talks to any more.
fn assert_leaves(mut child: Child) {
    let start = Instant::now();
    let mut status = None;
    eventually("the server ends", || {
        status = child.try_wait().expect("a child");
        status.is_some()
    });
    assert!(status.expect("ended").success());
    // A second is the promise; the machine may be busy.
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_client_that_leaves_more_than_is_read_does_not_hold_the_server() {
    let folder = climax_tests::Folder::new();
    let path = folder.path().join("requests");
    let script = |text: String| call("shell_run", &json!({"script": text}));
    let first = line(-1, "tools/call", &script("sleep 1205".to_owned()));
    // Either of these is more than the server takes: answers that nobody reads, and calls that wait.
    let pings: String = (1..=300_000).map(ping).collect();
    let calls: String = (1..=20_000)
        .map(|id| line(id, "tools/call", &script(format!("# {id:500}"))))
        .collect();
    for rest in [pings, calls] {
        let text = hello() + &first + &rest;
        std::fs::write(&path, &text).expect("a file");
        let server = || fixtures!("--max-concurrent", "1");
        let is_held = || {
            eventually("it runs", || processes(&["sleep", "1205"]) == 1);
            thread::sleep(Duration::from_millis(300));
        };
        // The client dies.
        let mut cat = Command::new("cat");
        let mut client = cat.arg(&path).stdout(Stdio::piped()).spawn().expect("cat");
        let child = start_unread(server(), client.stdout.take().expect("a pipe"));
        is_held();
        client.kill().expect("it runs");
        assert!(!client.wait().expect("ended").success(), "it had to wait");
        assert_leaves(child);
        assert_eq!(processes(&["sleep", "1205"]), 0);
        // The client closes the half of a socket that it writes to.
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let child = start_unread(server(), OwnedFd::from(theirs));
        let mut copy = ours.try_clone().expect("a copy");
        let writer = thread::spawn(move || copy.write_all(text.as_bytes()));
        is_held();
        ours.shutdown(Shutdown::Write).expect("open");
        assert!(writer.join().expect("no panic").is_err(), "it had to wait");
        assert_leaves(child);
        assert_eq!(processes(&["sleep", "1205"]), 0);
    }
}

#[test]
fn cancellations_get_through_however_many_calls_wait() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "1"));
    let first = server.send(
        "tools/call",
        &call("shell_run", &json!({"script": "sleep 1201"})),
    );
    eventually("it runs", || processes(&["sleep", "1201"]) == 1);
    let waiting: Vec<u64> = (0..2000)
        .map(|number| {
            server.send(
                "tools/call",
                &call("shell_run", &json!({"script": format!("echo {number}")})),
            )
        })
        .collect();
    // Of those that wait one near the front and one far back.
    for cancelled in [waiting[10], waiting[1500]] {
        server.notify("notifications/cancelled", &json!({"requestId": cancelled}));
    }
    // What runs nothing need not wait, and what is an answer to nothing does no harm.
    server.send_line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    assert_eq!(
        server.found(&json!({"query": "git_status"})),
        ["git_status"]
    );
    assert!(server.request("ping", &json!({}))["result"].is_object());
    server.notify("notifications/cancelled", &json!({"requestId": first}));
    let mut answers = Vec::new();
    for (number, id) in waiting.iter().enumerate() {
        if number != 10 && number != 1500 {
            let answer = server.wait_for(*id);
            answers.push(answer["result"]["content"][0]["text"].clone());
        }
    }
    let expected = (0..2000).filter(|number| ![10, 1500].contains(number));
    assert_eq!(
        answers,
        expected
            .map(|number| json!(number.to_string()))
            .collect::<Vec<_>>()
    );
    assert_eq!(processes(&["sleep", "1201"]), 0);
    // The cancelled ones got no answer: the next message is that of the next request.
    let id = server.send("ping", &json!({}));
    assert_eq!(server.receive()["id"], id);
}

#[test]
fn pipes_and_sockets_are_served_without_a_thread() {
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
        assert_eq!(status(server.id(), "Threads"), 1, "{name}");
        drop(flood.join().expect("no panic"));
        assert!(server.wait().success(), "{name}");
    }
}

#[test]
fn requests_from_a_file_are_answered() {
    let folder = climax_tests::Folder::new();
    let path = folder.path().join("requests");
    std::fs::write(&path, climax_tests::one_call("git_status")).expect("a file");
    let answers = folder.path().join("answers");
    let mut command = fixtures!("--classic");
    command.stdin(std::fs::File::open(&path).expect("a file"));
    command.stdout(std::fs::File::create(&answers).expect("a file"));
    assert!(command.status().expect("it runs").success());
    let answers = std::fs::read_to_string(&answers).expect("answers");
    assert!(answers.contains("git status"), "{answers}");
    assert_eq!(answers.lines().count(), 2);
}

#[test]
fn a_longer_message_than_allowed_is_refused_with_its_id_and_not_kept() {
    let mut server = Server::start(&mut fixtures!("--max-request", "1000"));
    let before = status(server.id(), "VmHWM");
    let text = "x".repeat(50_000_000);
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":"front","method":"ping","params":{{"t":"{text}"}}}}"#),
        format!(r#"{{"method":"ping","params":{{"t":"{text}"}},"jsonrpc":"2.0","id":"back"}}"#),
    ] {
        server.send_line(&line);
        let answer = server.receive();
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(
            answer["error"]["message"],
            "Invalid request: the message is longer than 1000 bytes"
        );
        let id = answer["id"].as_str().expect("an id");
        assert!(line.contains(&format!(r#""id":"{id}""#)), "{answer}");
    }
    let grown = status(server.id(), "VmHWM") - before;
    assert!(grown < 2000, "{grown} kB");
    assert_eq!(server.call("git_status", &json!({})).text, "git status");
    for limit in ["0", "-1", "much"] {
        let output = climax_tests::run(&mut fixtures!("--max-request", limit));
        assert_eq!(output.status.code(), Some(2), "{limit}");
    }
}

#[test]
fn an_id_that_is_in_use_is_refused_and_the_first_request_is_answered() {
    let mut server = Server::start(&mut fixtures!());
    let script = json!({"script": "sleep 0.3; echo first"});
    let request = line("twice", "tools/call", &call("shell_run", &script));
    server.send_line(&(request.clone() + request.trim_end()));
    let refused = server.receive();
    assert_eq!(refused["id"], "twice");
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let answer = server.receive();
    assert_eq!(answer["id"], "twice");
    assert_eq!(answer["result"]["content"][0]["text"], "first");
}

#[test]
fn an_id_is_free_when_its_request_is_answered_or_cancelled() {
    let mut server = Server::start(&mut fixtures!());
    for _ in 0..2000 {
        server.send_line(ping(7).trim_end());
        let answer = server.receive();
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    }
    let call = |script| {
        line(
            7,
            "tools/call",
            &call("shell_run", &json!({"script": script})),
        )
    };
    for _ in 0..20 {
        let lines = call("sleep 1206") + &cancel(7) + &call("echo new");
        server.send_line(lines.trim_end());
        let answer = server.receive();
        assert_eq!(answer["result"]["content"][0]["text"], "new", "{answer}");
    }
    eventually("they are gone", || processes(&["sleep", "1206"]) == 0);
}

#[test]
fn a_client_that_leaves_without_its_answers_does_not_hold_the_server() {
    let mut child = start_unread(fixtures!(), Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    let flood = call("behave_flood", &json!({"flood": 1_000_000}));
    let lines = (1..=20).map(|id| line(id, "tools/call", &flood));
    let text = hello() + &lines.collect::<String>();
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    assert_leaves(child);
}

/// A call of a script, with a token for its progress.
fn with_token(server: &mut Server, script: &str) -> u64 {
    let mut params = call("shell_run", &json!({"script": script}));
    params["_meta"] = json!({"progressToken": "tok"});
    server.send("tools/call", &params)
}

/// The progress that is told before the answer to a request comes, and the answer.
fn progress(server: &mut Server, id: u64) -> (Vec<(f64, String)>, Value) {
    let mut told = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == id {
            return (told, message);
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let params = &message["params"];
        assert_eq!(params["progressToken"], "tok");
        let text = climax_tests::text(&params["message"]);
        told.push((params["progress"].as_f64().expect("a number"), text));
    }
}

#[test]
fn a_client_that_asks_hears_how_a_long_call_goes_on() {
    let mut server = Server::start(&mut fixtures!());
    let script = "sleep 1.5; printf 'one\\ntwo\\n\\n'; sleep 1; printf '10%%\\r20%%' >&2; sleep 1";
    let id = with_token(&mut server, script);
    let (told, answer) = progress(&mut server, id);
    assert_eq!(answer["result"]["isError"], false);
    assert_eq!(told[0], (0.0, "started".to_owned()));
    assert!((3..=6).contains(&told.len()), "{told:?}");
    assert!(
        told.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "{told:?}"
    );
    let said = |end: &str| told.iter().any(|(_, text)| text.ends_with(end));
    assert!(
        said(" s: running") && said(" s: two") && said(" s: 20%"),
        "{told:?}"
    );
    // A short one is told of once, and none without a token.
    let id = with_token(&mut server, "echo short");
    assert_eq!(progress(&mut server, id).0.len(), 1);
    let id = server.send(
        "tools/call",
        &call("shell_run", &json!({"script": "sleep 1.2"})),
    );
    assert_eq!(progress(&mut server, id).0, []);
    // What is refused never starts.
    let mut refused = call("dump_required", &json!({}));
    refused["_meta"] = json!({"progressToken": "tok"});
    let id = server.send("tools/call", &refused);
    let (told, answer) = progress(&mut server, id);
    assert_eq!((told, &answer["result"]["isError"]), (vec![], &json!(true)));
}

#[test]
fn a_call_that_waits_tells_so() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "1"));
    let first = server.send(
        "tools/call",
        &call("shell_run", &json!({"script": "sleep 1202"})),
    );
    eventually("it runs", || processes(&["sleep", "1202"]) == 1);
    let second = with_token(&mut server, "echo mine");
    for expected in ["started", "1 s: waiting for other commands to end"] {
        assert_eq!(server.receive()["params"]["message"], expected);
    }
    server.notify("notifications/cancelled", &json!({"requestId": first}));
    let answer = server.wait_for(second);
    assert_eq!(answer["result"]["content"][0]["text"], "mine");
}

#[test]
fn a_command_that_does_not_end_by_itself_does_not_outlive_a_client_that_died() {
    // The client's end of the pipe is all that the server knows of it.
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
    let text = hello() + &line(2, "tools/call", &sleep);
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    eventually("it runs", || processes(&["sleep", "1204"]) == 1);
    for process in climax_tests::pids(&["sleep", "1203"]) {
        climax_tests::kill("KILL", process);
    }
    eventually("it is gone", || processes(&["sleep", "1204"]) == 0);
    client.wait().expect("it ends");
}

#[test]
fn a_log_that_nobody_reads_does_not_stop_the_server() {
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
            // Refused, which is logged.
            let refused = call("dump_required", &json!({}));
            let lines = (1..=3000).map(|id| line(id, "tools/call", &refused));
            for line in std::iter::once(hello()).chain(lines) {
                stdin.write_all(line.as_bytes()).expect("it reads");
            }
            stdin
        });
        let answers = std::io::BufRead::lines(stdout).take(3001);
        assert_eq!(answers.map_while(Result::ok).count(), 3001, "{is_open}");
        drop(flood.join().expect("no panic"));
        assert!(child.wait().expect("it ends").success(), "{is_open}");
        drop(stderr);
    }
}
