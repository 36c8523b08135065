//! Attacks on the shipped tools: hostile projects that name programs to start, and values that name files to read.

mod apt;
mod archive;
mod cargo;
mod curl;
mod docker;
mod ffmpeg;
mod gh;
mod git;
mod jq;
mod kubectl;
mod npm;
mod posix;
mod psql;
mod rg;
mod rsync;
mod sqlite3;
mod systemd;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::{fs, iter, mem, thread};

use climax_tests::{Folder, Server, ToolResponse, run};
use serde_json::{Value, json};

use crate::climax;

/// A program that leaves a mark when it is started.
pub(crate) struct Trap(Folder);

impl Trap {
    pub(crate) fn new() -> Self {
        let trap = Self(Folder::new());
        let marks = trap.marks_path();
        let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", marks.display());
        fs::write(trap.program(), script).expect("a script");
        fs::set_permissions(trap.program(), fs::Permissions::from_mode(0o755)).expect("executable");
        trap
    }

    /// The path of the program.
    pub(crate) fn program(&self) -> PathBuf {
        self.0.path().join("trap")
    }

    fn marks_path(&self) -> PathBuf {
        self.0.path().join("marks")
    }

    /// The command lines with which the program was started since the last call of this function.
    pub(crate) fn take_marks(&self) -> String {
        let marks = fs::read_to_string(self.marks_path()).unwrap_or_default();
        let _ = fs::remove_file(self.marks_path());
        marks
    }
}

/// A server on this machine that records requests.
pub(crate) struct RecordingServer {
    /// `127.0.0.1` and the port.
    pub(crate) address: String,
    requests: Arc<Mutex<String>>,
}

/// Status and body of the response to a request for a path.
pub(crate) type Respond = fn(&str) -> (u16, String);

impl RecordingServer {
    /// Answers with 404 and an empty JSON object.
    pub(crate) fn start() -> Self {
        Self::start_with(|_| (404, "{}".into()))
    }

    pub(crate) fn start_with(respond: Respond) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let connections = iter::from_fn(move || Some(listener.accept().ok()?.0));
        Self::serve(address, connections, respond)
    }

    pub(crate) fn start_on_socket(path: &Path, respond: Respond) -> Self {
        let listener = UnixListener::bind(path).expect("a socket");
        let connections = iter::from_fn(move || Some(listener.accept().ok()?.0));
        let address = path.display().to_string();
        Self::serve(address, connections, respond)
    }

    fn serve<C>(
        address: String,
        connections: impl Iterator<Item = C> + Send + 'static,
        respond: Respond,
    ) -> Self
    where
        for<'c> &'c C: Read + Write,
    {
        let requests = Arc::default();
        let server = Self {
            address,
            requests: Arc::clone(&requests),
        };
        thread::spawn(move || {
            for connection in connections {
                answer(&connection, &requests, respond);
            }
        });
        server
    }

    /// Start lines, headers and bodies of the requests since the last call of this function.
    pub(crate) fn take_requests(&self) -> String {
        mem::take(&mut self.requests.lock().expect("no panic"))
    }
}

/// Reads one request, records it, and responds.
fn answer<C>(connection: &C, requests: &Mutex<String>, respond: Respond)
where
    for<'c> &'c C: Read + Write,
{
    let mut reader = BufReader::new(connection);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let start = request.len();
        if reader.read_line(&mut request).unwrap_or(0) == 0 {
            break;
        }
        let line = request[start..].to_ascii_lowercase();
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    request.push_str(&String::from_utf8_lossy(&body));
    requests.lock().expect("no panic").push_str(&request);
    let mut start_line = request.split(' ');
    let is_head = start_line.next() == Some("HEAD");
    let (status, body) = respond(start_line.next().unwrap_or_default());
    let length = body.len();
    let mut connection = connection;
    let _ = write!(
        connection,
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{}",
        if is_head { "" } else { &body }
    );
}

/// The tools of a CLI with `risk: read`.
fn read_tools(cli: &str) -> Vec<String> {
    let list = json_output(&["list", cli, "--json"]);
    let tools = list["tools"].as_array().expect("tools");
    let names = tools
        .iter()
        .filter(|tool| tool["risk"] == "read")
        .map(|tool| tool["tool_name"].as_str().expect("a name").to_owned());
    names.collect()
}

/// The example calls of tools.
fn example_calls(tools: &[impl AsRef<str>]) -> Vec<(String, Value)> {
    let mut calls = Vec::new();
    for name in tools.iter().map(AsRef::as_ref) {
        let details = json_output(&["show", name, "--json"]);
        for example in details["examples"].as_array().expect("examples") {
            calls.push((name.to_owned(), example["arguments"]["args"].clone()));
        }
    }
    assert!(!calls.is_empty(), "the tools have examples");
    calls
}

fn json_output(words: &[&str]) -> Value {
    let output = run(climax().args(words));
    assert!(output.status.success(), "{words:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A project in which tools that only look must start nothing, change no file, and show no secret.
pub(crate) struct HostileProject<'a> {
    pub(crate) server: &'a mut Server,
    /// The CLI whose tools are called.
    pub(crate) cli: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) trap: &'a Trap,
    /// A text that no response may contain.
    pub(crate) secret: &'a str,
}

impl HostileProject<'_> {
    /// Calls every tool that reads with the arguments of its examples, and with `more_calls`.
    pub(crate) fn call_read_tools(&mut self, more_calls: &[(&str, Value)]) {
        let more_calls = more_calls.iter().cloned();
        let more_calls = more_calls.map(|(tool, arguments)| (tool.to_owned(), arguments));
        let calls = example_calls(&read_tools(self.cli)).into_iter();
        self.call_all(calls.chain(more_calls));
    }

    /// Calls every tool that reads with each word in the place of each text of its examples.
    pub(crate) fn call_read_tools_with_words(&mut self, words: &[&str]) {
        self.call_with_words(example_calls(&read_tools(self.cli)), words);
    }

    /// Calls tools with the arguments of their examples, and with each word in the place of each text of these.
    pub(crate) fn call_tools(&mut self, tools: &[&str], words: &[&str]) {
        let calls = example_calls(tools);
        self.call_all(calls.iter().cloned());
        self.call_with_words(calls, words);
    }

    fn call_all(&mut self, calls: impl Iterator<Item = (String, Value)>) {
        let before = self.prepare();
        for (tool, mut arguments) in calls {
            let details = json_output(&["show", &tool, "--json"]);
            if !details["input_schema"]["properties"]["directory"].is_null() {
                arguments["directory"] = json!(self.path);
            }
            let response = self.call(&tool, &arguments, &before);
            assert!(
                !response.text.starts_with("Argument validation failed"),
                "{tool} {arguments} does not run: {response:?}"
            );
        }
    }

    fn call_with_words(&mut self, calls: Vec<(String, Value)>, words: &[&str]) {
        let before = self.prepare();
        let mut count = 0;
        for (tool, mut example) in calls {
            example["directory"] = json!(self.path);
            let texts = example.as_object().expect("an object").iter();
            let texts: Vec<String> = texts
                .filter(|(name, value)| {
                    *name != "directory" && (value.is_string() || value.is_array())
                })
                .map(|(name, _)| name.clone())
                .collect();
            for (name, word) in texts
                .iter()
                .flat_map(|name| words.iter().map(move |word| (name, word)))
            {
                let mut arguments = example.clone();
                arguments[name] = json!(word);
                self.call(&tool, &arguments, &before);
                count += 1;
            }
        }
        assert!(count > 0, "{} has tools with texts", self.cli);
    }

    fn prepare(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.trap.take_marks();
        files(self.path)
    }

    fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        before: &BTreeMap<PathBuf, Vec<u8>>,
    ) -> ToolResponse {
        let response = self.server.call(tool, arguments);
        let marks = self.trap.take_marks();
        assert_eq!(marks, "", "{tool} {arguments} ran: {response:?}");
        let shown = format!("{} {:?}", response.text, response.structured);
        assert!(!shown.contains(self.secret), "{tool} {arguments}: {shown}");
        assert_eq!(
            *before,
            files(self.path),
            "{tool} {arguments} changed files"
        );
        response
    }
}

/// Asserts that the arguments of a call are refused before the program starts.
pub(crate) fn refuses(server: &mut Server, tool: &str, arguments: &Value) {
    let response = server.call(tool, arguments);
    assert!(
        response.is_error && response.text.starts_with("Argument validation failed"),
        "{tool} {arguments}: {response:?}"
    );
}

/// Makes a command send requests to servers on this machine directly.
pub(crate) fn without_proxies(command: &mut Command) -> &mut Command {
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command
}

/// Asserts that a tool has `risk: write` although its program only looks, and that its description has the reason.
pub(crate) fn assert_is_write_because(tool: &str, reason: &str) {
    let details = json_output(&["show", tool, "--json"]);
    assert_eq!(details["risk"], "write", "{tool}");
    let description = details["description"].as_str().expect("a text");
    assert!(description.contains(reason), "{tool}: {description}");
}

/// Checks which values of an argument a tool accepts, without running it. The other arguments are those of the
/// tool's first example.
pub(crate) fn check_values(tool: &str, argument: &str, accepted: &[Value], refused: &[Value]) {
    let details = json_output(&["show", tool, "--json"]);
    let mut arguments = details["examples"][0]["arguments"]["args"].clone();
    let mut check = |value: &Value, is_accepted: bool| {
        arguments[argument] = value.clone();
        let json = arguments.to_string();
        let output = run(climax().args(["call", tool, "--dry-run", "--json", &json]));
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.success(),
            is_accepted,
            "{tool} {json}: {text}"
        );
        if !is_accepted {
            let refusal = format!("'{argument}'");
            assert!(text.contains(&refusal), "{tool} {json}: {text}");
        }
    };
    for value in accepted {
        check(value, true);
    }
    for value in refused {
        check(value, false);
    }
}

/// All files below a folder, with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a type").is_dir() {
                folders.push(entry.path());
            } else {
                files.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    files
}
