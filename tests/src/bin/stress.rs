//! Loads a server with concurrent requests, checks each response, and looks for leaks at the end:
//!
//! ```text
//! cargo build --release -p climax-tests --features programs
//! target/release/stress --minutes 10 --in-flight 64
//! ```
//!
//! The requests are calls of several kinds, timeouts, cancellations, searches and floods of output. At the end,
//! no request may lack its response, and no process or open file may be left.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use climax_tests::{
    PREPARED_PIPE_ENDS, Server, count_files_beside_workers, count_processes, descendants, mark,
    path_with, process_status,
};
use serde_json::{Value, json};

/// The durations of the `sleep` commands that must have ended at the end.
const SLEEP_DURATIONS: [&str; 3] = ["1301", "1302", "1303"];

/// How long the server may take to end the processes of a call.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(1);

/// How long workers beyond [`MAX_IDLE_PROCESSES`] may stay.
const IDLE_TIMEOUT: Duration = Duration::from_secs(6);

/// The most files that a server keeps open for stored output.
const MAX_STORED_OUTPUTS: usize = 256;

/// Sixteen workers and the supervisor.
const MAX_IDLE_PROCESSES: usize = 17;

/// A request, which determines the expected response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StressRequest {
    Echo,
    Input,
    Failure,
    Flood,
    Timeout,
    DeafTimeout,
    Cancelled,
    Background,
    Refusal,
    Search,
    List,
    Ping,
}

impl StressRequest {
    /// Most requests are short.
    fn pick(random: u64) -> Self {
        match random % 100 {
            0..30 => Self::Echo,
            30..40 => Self::Input,
            40..48 => Self::Failure,
            48..50 => Self::Flood,
            50..53 => Self::Timeout,
            53 => Self::DeafTimeout,
            54..59 => Self::Cancelled,
            59..64 => Self::Background,
            64..69 => Self::Refusal,
            69..84 => Self::Search,
            84..86 => Self::List,
            _ => Self::Ping,
        }
    }

    fn message(self, number: u64) -> (&'static str, Value) {
        let call = |tool: &str, args: Value| {
            let arguments = json!({"tool_name": tool, "args": args});
            let token = json!({"progressToken": number});
            (
                "tools/call",
                json!({"name": "climax_call", "arguments": arguments, "_meta": token}),
            )
        };
        match self {
            Self::Echo => call("shell_run", json!({"script": format!("echo {number}")})),
            Self::Input => call("dump_stdin", json!({"text": "x".repeat(100_000)})),
            Self::Failure => call("behave_exit", json!({"code": 3, "err": "bad"})),
            Self::Flood => call("behave_flood", json!({"flood": 5_000_000})),
            Self::Timeout => {
                let script = "echo begun; sleep 1301 & setsid sleep 1301 & sleep 1301";
                call("shell_brief", json!({"script": script}))
            }
            Self::DeafTimeout => {
                let script =
                    "echo begun; trap '' TERM; (setsid sh -c 'sleep 1302; :' &); sleep 1302";
                call("shell_brief", json!({"script": script}))
            }
            Self::Cancelled => call(
                "shell_run",
                json!({"script": "sleep 1303 & setsid sleep 1303"}),
            ),
            Self::Background => call("shell_run", json!({"script": "sleep 1303 & echo done"})),
            Self::Refusal => call("dump_required", json!({})),
            Self::Search => {
                let query = json!({"query": "commit"});
                (
                    "tools/call",
                    json!({"name": "climax_search", "arguments": query}),
                )
            }
            Self::List => ("tools/list", json!({})),
            Self::Ping => ("ping", json!({})),
        }
    }

    fn is_expected(self, number: u64, response: &Value) -> bool {
        let result = &response["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let is_error = result["isError"] == true;
        match self {
            Self::Echo => text == number.to_string() && !is_error,
            Self::Input => text.contains(" bytes omitted") && !is_error,
            Self::Failure => text == "[stderr]\nbad\n\n[exit code: 3]" && is_error,
            Self::Flood => text.contains(" bytes omitted") && text.ends_with("the end"),
            // On a busy machine the timeout may be over before the first output.
            Self::Timeout | Self::DeafTimeout => text.contains("timed out after 0.5s") && is_error,
            Self::Cancelled => false,
            Self::Background => text == "done" && !is_error,
            Self::Refusal => text.starts_with("Argument validation failed") && is_error,
            Self::Search => text.contains("git_commit"),
            Self::List => result["tools"]
                .as_array()
                .is_some_and(|tools| tools.len() == 2),
            Self::Ping => result.is_object(),
        }
    }
}

/// The options of the command line.
struct StressOptions {
    duration: Duration,
    in_flight: usize,
}

fn parse_options() -> Option<StressOptions> {
    let words: Vec<String> = env::args().skip(1).collect();
    let mut options = StressOptions {
        duration: Duration::from_mins(10),
        in_flight: 64,
    };
    for pair in words.chunks(2) {
        match pair {
            [name, value] if name == "--minutes" => {
                let minutes: f64 = value.parse().ok()?;
                options.duration = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
            }
            [name, value] if name == "--in-flight" => options.in_flight = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> io::Result<ExitCode> {
    let Some(options) = parse_options() else {
        eprintln!("usage: stress [--minutes 10] [--in-flight 64]");
        return Ok(ExitCode::from(2));
    };
    let own = env::current_exe()?;
    let own = own.to_str().unwrap_or_default();
    let program = Path::new(own).with_file_name("fixtures");
    let mut command = Command::new(program);
    let mut server = Server::start(mark(&mut command).env("PATH", path_with(own)));
    // The first call opens the files that all calls share.
    server.call("shell_run", &json!({"script": ":"}));
    let mut load = Load::new(server.id());
    load.run(&mut server, &options);
    let is_successful = load.finish(server);
    Ok(if is_successful {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct SentRequest {
    request: StressRequest,
    sent_at: Instant,
}

struct Load {
    process: u32,
    start: Instant,
    /// Requests without a response, by id.
    open: HashMap<u64, SentRequest>,
    /// Requests to cancel, with the time at which to do so.
    to_cancel: Vec<(Instant, u64)>,
    /// How long responses took, in milliseconds.
    times: BTreeMap<StressRequest, Vec<u32>>,
    wrong: Vec<String>,
    progress: u64,
    random: u64,
    files_before: usize,
    /// Resident memory in kilobytes, with the time since the start.
    memory: Vec<(Duration, u64)>,
}

impl Load {
    fn new(process: u32) -> Self {
        Self {
            process,
            start: Instant::now(),
            open: HashMap::new(),
            to_cancel: Vec::new(),
            times: BTreeMap::new(),
            wrong: Vec::new(),
            progress: 0,
            random: 1,
            files_before: count_files_beside_workers(process),
            memory: Vec::new(),
        }
    }

    fn run(&mut self, server: &mut Server, options: &StressOptions) {
        let mut next_sample = Duration::ZERO;
        loop {
            let elapsed = self.start.elapsed();
            let is_over = elapsed >= options.duration;
            if is_over && self.open.is_empty() {
                return;
            }
            if elapsed >= options.duration + Duration::from_mins(1) {
                self.wrong
                    .push(format!("{} without a response", self.open.len()));
                return;
            }
            if elapsed >= next_sample {
                self.memory
                    .push((elapsed, process_status(self.process, "VmRSS")));
                next_sample += Duration::from_millis(250);
            }
            while !is_over && self.open.len() < options.in_flight {
                self.send(server);
            }
            self.cancel(server);
            if let Some(message) = server.receive_within(Duration::from_millis(5)) {
                self.take(&message);
            }
        }
    }

    /// A simple linear congruential generator, so that every run has the same load.
    fn random(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.random >> 33
    }

    fn send(&mut self, server: &mut Server) {
        let request = StressRequest::pick(self.random());
        let (method, params) = request.message(server.next_id());
        let id = server.send(method, &params);
        let sent_at = Instant::now();
        self.open.insert(id, SentRequest { request, sent_at });
        if request == StressRequest::Cancelled {
            let wait = Duration::from_millis(self.random() % 100);
            self.to_cancel.push((sent_at + wait, id));
        }
    }

    fn cancel(&mut self, server: &mut Server) {
        let now = Instant::now();
        for (_, id) in self.to_cancel.extract_if(.., |(due, _)| *due <= now) {
            server.notify("notifications/cancelled", &json!({"requestId": id}));
            // A cancelled request has no response.
            self.open.remove(&id);
            self.times
                .entry(StressRequest::Cancelled)
                .or_default()
                .push(0);
        }
    }

    fn take(&mut self, message: &Value) {
        let Some(id) = message["id"].as_u64() else {
            self.progress += 1;
            return;
        };
        match self.open.remove(&id) {
            Some(SentRequest { request, sent_at }) if request.is_expected(id, message) => {
                let time = u32::try_from(sent_at.elapsed().as_millis()).unwrap_or(u32::MAX);
                self.times.entry(request).or_default().push(time);
            }
            sent => {
                let request = sent.map(|sent| sent.request);
                let mut text = format!("{request:?}: {message}");
                text.truncate(text.floor_char_boundary(500));
                self.wrong.push(text);
            }
        }
    }

    /// Prints the report. Returns whether all promises were kept.
    fn finish(mut self, server: Server) -> bool {
        let left = || {
            SLEEP_DURATIONS
                .iter()
                .map(|time| count_processes(&["sleep", time]))
                .sum::<usize>()
        };
        let sleeps = poll(CLEANUP_TIMEOUT, left, |&sleeps| sleeps == 0);
        let idle = poll(
            IDLE_TIMEOUT,
            || descendants(self.process),
            |idle| idle.len() <= MAX_IDLE_PROCESSES && zombies(idle) == 0,
        );
        let files = poll(
            CLEANUP_TIMEOUT,
            || count_files_beside_workers(self.process),
            |&files| files <= self.files_before + PREPARED_PIPE_ENDS + MAX_STORED_OUTPUTS,
        );
        let (status, _) = server.close();
        let sleeps_after = poll(CLEANUP_TIMEOUT, left, |&sleeps| sleeps == 0);
        print_table(&self.times);
        let requests: usize = self.times.values().map(Vec::len).sum();
        print_line(&format!(
            "requests                {requests}, and {} progress notifications",
            self.progress
        ));
        print_line(&format!("wrong or unanswered     {}", self.wrong.len()));
        self.wrong.truncate(5);
        self.wrong
            .iter()
            .for_each(|wrong| print_line(&format!("  {wrong}")));
        let peak = |from: u64, to: u64| {
            let window = Duration::from_secs(from)..Duration::from_secs(to);
            let inside = self.memory.iter().filter(|(at, _)| window.contains(at));
            inside.map(|(_, kilobytes)| *kilobytes).max()
        };
        let minutes = self.start.elapsed().as_secs() / 60;
        let peaks: Vec<String> = (0..=minutes)
            .filter_map(|minute| peak(60 * minute, 60 * (minute + 1)))
            .map(|kilobytes| format!("{}.{}", kilobytes / 1000, kilobytes % 1000 / 100))
            .collect();
        print_line(&format!("peak memory a minute    {} MB", peaks.join(" ")));
        print_line(&format!(
            "open files              {} before, {files} after",
            self.files_before
        ));
        let zombies = zombies(&idle);
        print_line(&format!(
            "idle processes          {}, zombies {zombies}",
            idle.len()
        ));
        print_line(&format!(
            "commands left           {sleeps}, after the end of the server {sleeps_after}"
        ));
        print_line(&format!("exit status             {status}"));
        // The peak varies with the number of concurrent floods. A leak would show in the second half.
        let half = u64::midpoint(60, self.start.elapsed().as_secs());
        let (early, late) = (peak(60, half), peak(half, u64::MAX));
        let is_flat = early
            .zip(late)
            .is_none_or(|(early, late)| late <= early + early / 10 + 1000);
        let promises = [
            ("every response is as expected", self.wrong.is_empty()),
            ("memory does not grow", is_flat),
            (
                "files are closed",
                files <= self.files_before + PREPARED_PIPE_ENDS + MAX_STORED_OUTPUTS,
            ),
            (
                "at most 16 workers are idle",
                idle.len() <= MAX_IDLE_PROCESSES,
            ),
            ("no process is left", zombies + sleeps + sleeps_after == 0),
            ("the server exits successfully", status.success()),
        ];
        for (promise, _) in promises.iter().filter(|(_, is_kept)| !is_kept) {
            print_line(&format!("FAILED: {promise}"));
        }
        promises.iter().all(|(_, is_kept)| *is_kept)
    }
}

fn zombies(processes: &HashMap<u32, char>) -> usize {
    processes.values().filter(|&&state| state == 'Z').count()
}

/// Polls a value until it is as expected or the timeout is over.
fn poll<T>(timeout: Duration, mut value: impl FnMut() -> T, is_expected: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let value = value();
        if is_expected(&value) || start.elapsed() >= timeout {
            return value;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn print_table(times: &BTreeMap<StressRequest, Vec<u32>>) {
    print_line("request       responses   p50 ms   p99 ms   max ms");
    for (request, times) in times {
        let mut times = times.clone();
        times.sort_unstable();
        let percentile = |percent: usize| times[(times.len() - 1) * percent / 100];
        let name = format!("{request:?}");
        print_line(&format!(
            "{name:<14} {:>8} {:>8} {:>8} {:>8}",
            times.len(),
            percentile(50),
            percentile(99),
            percentile(100)
        ));
    }
}

fn print_line(line: &str) {
    eprintln!("{line}");
}
