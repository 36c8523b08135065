//! Starts servers for end-to-end tests and talks to them: real binaries, real pipes, real programs.

pub mod explore;
mod other_user;
mod system;
mod training;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde_json::{Value, json};

pub use other_user::{OtherUser, copy_variables};
pub use system::{
    PREPARED_PIPE_ENDS, count_files_beside_workers, count_open_files, count_processes, descendants,
    find_processes, has_exited, mark, process_status, read_bytes, send_signal,
};
pub use training::{plain_words, training_texts};

/// How long a test waits for something before it fails. Long enough for a slow machine.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// How often a test checks a condition that it waits for.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How long a value must stay the same to count as final.
const SETTLING_TIME: Duration = Duration::from_millis(500);

/// How long a server may take to end by itself before it is killed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// A running server with its client.
pub struct Server {
    child: Child,
    stdin: Option<Box<dyn Write + Send>>,
    lines: Receiver<String>,
    /// Messages that arrived while the test waited for another one.
    unclaimed: Vec<Value>,
    next_id: u64,
}

/// The result of a tool call.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolResponse {
    /// The text that the agent reads.
    pub text: String,
    /// Further texts, which are hints for an agent that made a mistake.
    pub hints: Vec<String>,
    /// The output as a JSON object, if the tool has such output.
    pub structured: Option<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl ToolResponse {
    /// The first hint.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hints.first().map(String::as_str)
    }

    /// The corrected call that the hints end with.
    ///
    /// # Panics
    /// Something follows it, or it is not JSON.
    #[must_use]
    pub fn correction(&self) -> Option<Value> {
        let hints = self.hints.join("\n");
        let (_, rest) = hints.split_once("Corrected call: ")?;
        Some(serde_json::from_str(rest).expect("the correction comes last"))
    }

    /// The text as JSON.
    ///
    /// # Panics
    /// It is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{error} in the response {:?}", self.text))
    }
}

impl Server {
    /// Starts a server and initializes a session.
    ///
    /// # Panics
    /// The server does not respond.
    pub fn start(command: &mut Command) -> Self {
        Self::start_without_handshake(command).handshake()
    }

    /// Starts a server without a session.
    ///
    /// # Panics
    /// The server cannot be started.
    pub fn start_without_handshake(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = child.stdout.take().expect("a pipe");
        Self::new(child, Box::new(stdin), stdout)
    }

    /// Starts a server over socket pairs, as clients that run on Node.js do, and initializes a session.
    ///
    /// # Panics
    /// The server cannot be started.
    pub fn start_on_sockets(command: &mut Command) -> Self {
        let (stdin, their_stdin) = UnixStream::pair().expect("sockets");
        let (stdout, their_stdout) = UnixStream::pair().expect("sockets");
        let child = command
            .stdin(Stdio::from(OwnedFd::from(their_stdin)))
            .stdout(Stdio::from(OwnedFd::from(their_stdout)))
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        // The command would keep the server's ends open.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self::new(child, Box::new(stdin), stdout).handshake()
    }

    fn new(child: Child, stdin: Box<dyn Write + Send>, stdout: impl Read + Send + 'static) -> Self {
        let stdout = BufReader::new(stdout);
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: Some(stdin),
            child,
            lines,
            unclaimed: Vec::new(),
            next_id: 0,
        }
    }

    fn handshake(mut self) -> Self {
        let response = self.request("initialize", &initialize_params("2025-11-25"));
        assert!(response["result"].is_object(), "{response}");
        self.notify("notifications/initialized", &json!({}));
        self
    }

    /// Returns the server's stdin, for a thread that floods the server.
    ///
    /// # Panics
    /// It was taken or closed before.
    pub fn take_stdin(&mut self) -> Box<dyn Write + Send> {
        self.stdin.take().expect("still open")
    }

    /// The server's process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line unchanged.
    ///
    /// # Panics
    /// The server does not read it.
    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("still open");
        stdin.write_all(line.as_bytes()).expect("the server reads");
        stdin.write_all(b"\n").expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The id that the next request gets.
    #[must_use]
    pub fn next_id(&self) -> u64 {
        self.next_id + 1
    }

    /// Sends a request and returns its id, without waiting for the response.
    pub fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_line(&request.to_string());
        id
    }

    /// The next message of any kind.
    ///
    /// # Panics
    /// None arrives, or it is not JSON.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(DEADLINE).expect("a message");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message, if one arrives in time.
    ///
    /// # Panics
    /// The server has ended, or the message is not JSON.
    pub fn receive_within(&mut self, time: Duration) -> Option<Value> {
        match self.lines.recv_timeout(time) {
            Ok(line) => Some(serde_json::from_str(&line).expect("JSON")),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        }
    }

    /// Waits for the response to a request.
    pub fn wait_for(&mut self, id: u64) -> Value {
        if let Some(position) = self
            .unclaimed
            .iter()
            .position(|response| response["id"] == id)
        {
            return self.unclaimed.remove(position);
        }
        loop {
            let response = self.receive();
            if response["id"] == id {
                return response;
            }
            self.unclaimed.push(response);
        }
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.wait_for(id)
    }

    /// Calls a registered tool.
    pub fn call_registered(&mut self, name: &str, arguments: &Value) -> ToolResponse {
        let params = json!({"name": name, "arguments": arguments});
        let response = self.request("tools/call", &params);
        tool_response(&response)
    }

    /// Calls a tool through `climax_call`.
    pub fn call(&mut self, name: &str, args: &Value) -> ToolResponse {
        self.call_registered("climax_call", &json!({"tool_name": name, "args": args}))
    }

    /// Searches with `climax_search`.
    ///
    /// # Panics
    /// The search fails.
    pub fn search(&mut self, arguments: &Value) -> Value {
        let response = self.call_registered("climax_search", arguments);
        assert!(!response.is_error, "{response:?}");
        response.json()
    }

    /// The names of the tools that a search finds.
    ///
    /// # Panics
    /// The response is a summary.
    pub fn matching_tools(&mut self, arguments: &Value) -> Vec<String> {
        let response = self.search(arguments);
        assert_eq!(response["mode"], "search", "{response}");
        let results = response["results"].as_array().expect("results");
        results
            .iter()
            .map(|result| text(&result["tool_name"]))
            .collect()
    }

    /// The registered tools.
    ///
    /// # Panics
    /// There is no list.
    pub fn tools(&mut self) -> Vec<Value> {
        let response = self.request("tools/list", &json!({}));
        response["result"]["tools"]
            .as_array()
            .expect("a list")
            .clone()
    }

    /// The names of the registered tools.
    pub fn tool_names(&mut self) -> Vec<String> {
        let tools = self.tools();
        tools.iter().map(|tool| text(&tool["name"])).collect()
    }

    /// Closes the server's stdin and waits for its end. Returns its exit status and the rest of its output.
    #[must_use]
    pub fn close(mut self) -> (ExitStatus, Vec<String>) {
        drop(self.stdin.take());
        (self.wait(), self.lines.iter().collect())
    }

    /// Waits for the server's end.
    ///
    /// # Panics
    /// The server does not end.
    pub fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the server ends", || {
            status = self.child.try_wait().expect("a child");
            status.is_some()
        });
        status.expect("ended")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that ends by itself ends its calls, too.
        drop(self.stdin.take());
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < SHUTDOWN_TIMEOUT {
            thread::sleep(POLL_INTERVAL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parameters of `initialize`.
#[must_use]
pub fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    })
}

/// The input of a session in classic mode that calls one tool.
#[must_use]
pub fn one_call_session(tool: &str) -> String {
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25")}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool}}),
    ];
    requests.map(|request| request.to_string() + "\n").concat()
}

/// Reads the result of a `tools/call` response.
///
/// # Panics
/// It is not one text with at most two hints.
#[must_use]
pub fn tool_response(response: &Value) -> ToolResponse {
    let result = &response["result"];
    let content = result["content"].as_array();
    let content = content.unwrap_or_else(|| panic!("not a tool's result: {response}"));
    assert!((1..=3).contains(&content.len()), "{response}");
    ToolResponse {
        text: text(&content[0]["text"]),
        hints: content[1..]
            .iter()
            .map(|block| text(&block["text"]))
            .collect(),
        structured: result.get("structuredContent").cloned(),
        is_error: result["isError"] == true,
    }
}

/// The text of a JSON string.
///
/// # Panics
/// The value is not a string.
#[must_use]
pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("not a string: {value}"))
        .to_owned()
}

/// The parameters of a call that runs a script.
#[must_use]
pub fn script_call(tool: &str, script: &str) -> Value {
    json!({"name": "climax_call", "arguments": {"tool_name": tool, "args": {"script": script}}})
}

/// Waits until a condition is true.
///
/// # Panics
/// It is still false at the deadline.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "not in time: {what}");
        thread::sleep(POLL_INTERVAL);
    }
}

/// Polls a value until it stays the same for [`SETTLING_TIME`], and returns it. Use it to check that something
/// stops. On a slow machine it may return too early, which can hide a bug but cannot fail a correct server.
///
/// # Panics
/// The value still changes at the deadline.
pub fn settled<T: PartialEq>(what: &str, mut value: impl FnMut() -> T) -> T {
    let start = Instant::now();
    let mut last = value();
    let mut last_change = Instant::now();
    while last_change.elapsed() < SETTLING_TIME {
        assert!(start.elapsed() < DEADLINE, "still changing: {what}");
        thread::sleep(POLL_INTERVAL);
        let next = value();
        if next != last {
            last = next;
            last_change = Instant::now();
        }
    }
    last
}

/// A temporary folder that is removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder.
    ///
    /// # Panics
    /// It cannot be created.
    #[must_use]
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("climax-test-{}-{number}", std::process::id());
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path.canonicalize().expect("a folder"))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its path as text.
    ///
    /// # Panics
    /// The path is not UTF-8.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a program to its end, with empty stdin.
///
/// # Panics
/// The program cannot be run.
pub fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("it runs")
}

/// Runs a program to its end, with this stdin.
///
/// # Panics
/// The program cannot be run.
pub fn run_with_input(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// The variable `PATH` with the folder of a program prepended.
///
/// # Panics
/// The path of the program has no folder.
#[must_use]
pub fn path_with(program: &str) -> std::ffi::OsString {
    let folder = Path::new(program).parent().expect("a folder");
    let old = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_path_buf()]
        .into_iter()
        .chain(env::split_paths(&old));
    env::join_paths(folders).expect("a PATH")
}

/// The command that starts the server of the fixtures.
///
/// It is a macro because cargo sets the paths of binaries only for test files.
#[macro_export]
macro_rules! fixtures {
    ($($argument:expr),*) => {
        $crate::server!(env!("CARGO_BIN_EXE_fixtures") $(, $argument)*)
    };
}

/// The command that starts the server of the fixtures with a baked policy.
#[macro_export]
macro_rules! guarded {
    ($($argument:expr),*) => {
        $crate::server!(env!("CARGO_BIN_EXE_guarded") $(, $argument)*)
    };
}

/// The command that starts a server.
#[macro_export]
macro_rules! server {
    ($program:expr $(, $argument:expr)*) => {{
        let mut command = std::process::Command::new($program);
        $crate::mark(&mut command)
            .env("PATH", $crate::path_with(env!("CARGO_BIN_EXE_argdump")))
            .env("ARGDUMP", env!("CARGO_BIN_EXE_argdump"))
            .env("PLAIN_DIRECTORY", "/")
            .env("INHERITED", "from the server")
            .env_remove("CLIMAX_LOG_FILE");
        $(command.arg($argument);)*
        command
    }};
}

/// Whether a program is installed. If it is not, a message says that the test is skipped.
#[must_use]
pub fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = env::split_paths(&path).any(|directory| directory.join(program).is_file());
    if !is_there {
        eprintln!("skipped: {program} is not installed");
    }
    is_there
}
