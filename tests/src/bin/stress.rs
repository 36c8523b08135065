//! Puts a server under load for as long as asked, and tells whether it stayed whole:
//!
//! ```text
//! cargo build --release -p climax-tests --features programs
//! target/release/stress --minutes 10 --in-flight 64
//! ```
//!
//! Calls of all kinds, timeouts, cancellations and floods are under way at the same time. Each answer
//! is checked. At the end nothing may be left: no request without an answer, no process, no file.

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

/// Programs that must not be there when all is over.
const SLEEPS: [&str; 3] = ["1301", "1302", "1303"];

/// How long the server may take to end the processes of a call.
const CLEANUP_TIME: Duration = Duration::from_secs(1);

/// How long more helpers may stay than are kept for good.
const IDLE_TIME: Duration = Duration::from_secs(6);

/// Sixteen workers and the supervisor.
const MAX_IDLE_HELPERS: usize = 17;

/// What a request is, and thereby what its answer must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
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

impl Kind {
    /// By weight: most requests are short.
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

    fn request(self, number: u64) -> (&'static str, Value) {
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

    fn is_right(self, number: u64, response: &Value) -> bool {
        let result = &response["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let is_error = result["isError"] == true;
        match self {
            Self::Echo => text == number.to_string() && !is_error,
            Self::Input => text.len() > 100_000 && !is_error,
            Self::Failure => text == "[stderr]\nbad\n\n[exit code: 3]" && is_error,
            Self::Flood => text.contains("bytes left out]") && text.ends_with("the end"),
            // On a busy machine half a second may be over before it has begun.
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

/// What was asked for on the command line.
struct Wish {
    time: Duration,
    in_flight: usize,
}

fn wish() -> Option<Wish> {
    let words: Vec<String> = env::args().skip(1).collect();
    let mut wish = Wish {
        time: Duration::from_mins(10),
        in_flight: 64,
    };
    for pair in words.chunks(2) {
        match pair {
            [name, value] if name == "--minutes" => {
                let minutes: f64 = value.parse().ok()?;
                wish.time = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
            }
            [name, value] if name == "--in-flight" => wish.in_flight = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(wish)
}

fn main() -> io::Result<ExitCode> {
    let Some(wish) = wish() else {
        eprintln!("usage: stress [--minutes 10] [--in-flight 64]");
        return Ok(ExitCode::from(2));
    };
    let own = env::current_exe()?;
    let own = own.to_str().unwrap_or_default();
    let program = Path::new(own).with_file_name("fixtures");
    let mut command = Command::new(program);
    let mut server = Server::start(mark(&mut command).env("PATH", path_with(own)));
    // The first call opens what all others use.
    server.call("shell_run", &json!({"script": ":"}));
    let mut load = Load::new(server.id());
    load.run(&mut server, &wish);
    let is_whole = load.finish(server);
    Ok(if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct Sent {
    kind: Kind,
    at: Instant,
}

struct Load {
    process: u32,
    start: Instant,
    /// Requests without an answer, by their id.
    open: HashMap<u64, Sent>,
    /// When which request is to be cancelled.
    to_cancel: Vec<(Instant, u64)>,
    /// How long each kind took, in milliseconds.
    times: BTreeMap<Kind, Vec<u32>>,
    wrong: Vec<String>,
    progress: u64,
    random: u64,
    files_before: usize,
    /// Memory in kilobytes, and when it was seen.
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

    fn run(&mut self, server: &mut Server, wish: &Wish) {
        let mut next_sample = Duration::ZERO;
        loop {
            let elapsed = self.start.elapsed();
            let is_over = elapsed >= wish.time;
            if is_over && self.open.is_empty() {
                return;
            }
            if elapsed >= wish.time + Duration::from_mins(1) {
                self.wrong
                    .push(format!("{} without an answer", self.open.len()));
                return;
            }
            if elapsed >= next_sample {
                self.memory
                    .push((elapsed, process_status(self.process, "VmRSS")));
                next_sample += Duration::from_millis(250);
            }
            while !is_over && self.open.len() < wish.in_flight {
                self.send(server);
            }
            self.cancel(server);
            if let Some(message) = server.receive_within(Duration::from_millis(5)) {
                self.take(&message);
            }
        }
    }

    /// A generator of no quality: the same load each time is what is wanted.
    fn random(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.random >> 33
    }

    fn send(&mut self, server: &mut Server) {
        let kind = Kind::pick(self.random());
        let (method, params) = kind.request(server.next_id());
        let id = server.send(method, &params);
        let at = Instant::now();
        self.open.insert(id, Sent { kind, at });
        if kind == Kind::Cancelled {
            let wait = Duration::from_millis(self.random() % 100);
            self.to_cancel.push((at + wait, id));
        }
    }

    fn cancel(&mut self, server: &mut Server) {
        let now = Instant::now();
        for (_, id) in self.to_cancel.extract_if(.., |(due, _)| *due <= now) {
            server.notify("notifications/cancelled", &json!({"requestId": id}));
            // No answer is to come.
            self.open.remove(&id);
            self.times.entry(Kind::Cancelled).or_default().push(0);
        }
    }

    fn take(&mut self, message: &Value) {
        let Some(id) = message["id"].as_u64() else {
            self.progress += 1;
            return;
        };
        match self.open.remove(&id) {
            Some(Sent { kind, at }) if kind.is_right(id, message) => {
                let time = u32::try_from(at.elapsed().as_millis()).unwrap_or(u32::MAX);
                self.times.entry(kind).or_default().push(time);
            }
            sent => {
                let kind = sent.map(|sent| sent.kind);
                let mut text = format!("{kind:?}: {message}");
                text.truncate(text.floor_char_boundary(500));
                self.wrong.push(text);
            }
        }
    }

    /// Tells what was seen, and whether it was right.
    fn finish(mut self, server: Server) -> bool {
        let left = || {
            SLEEPS
                .iter()
                .map(|time| count_processes(&["sleep", time]))
                .sum::<usize>()
        };
        let sleeps = poll(CLEANUP_TIME, left, |&sleeps| sleeps == 0);
        let helpers = poll(
            IDLE_TIME,
            || descendants(self.process),
            |helpers| helpers.len() <= MAX_IDLE_HELPERS && zombies(helpers) == 0,
        );
        let files = poll(
            CLEANUP_TIME,
            || count_files_beside_workers(self.process),
            |&files| files <= self.files_before + PREPARED_PIPE_ENDS,
        );
        let (ended, _) = server.close();
        let sleeps_after = poll(CLEANUP_TIME, left, |&sleeps| sleeps == 0);
        table(&self.times);
        let requests: usize = self.times.values().map(Vec::len).sum();
        say(&format!(
            "requests                {requests}, and {} told progress",
            self.progress
        ));
        say(&format!("wrong or unanswered     {}", self.wrong.len()));
        self.wrong.truncate(5);
        self.wrong
            .iter()
            .for_each(|wrong| say(&format!("  {wrong}")));
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
        say(&format!("peak memory a minute    {} MB", peaks.join(" ")));
        say(&format!(
            "files beside helpers'   {} before, {files} after",
            self.files_before
        ));
        let zombies = zombies(&helpers);
        say(&format!(
            "idle helpers            {}, zombies {zombies}",
            helpers.len()
        ));
        say(&format!(
            "commands left           {sleeps}, after the server's end {sleeps_after}"
        ));
        say(&format!("the server ended        {ended}"));
        // What floods hold at the same time differs from minute to minute; growth would show in the
        // second half.
        let half = u64::midpoint(60, self.start.elapsed().as_secs());
        let (early, late) = (peak(60, half), peak(half, u64::MAX));
        let is_flat = early
            .zip(late)
            .is_none_or(|(early, late)| late <= early + early / 10 + 1000);
        let promises = [
            ("each answer is right", self.wrong.is_empty()),
            ("memory stays flat", is_flat),
            (
                "files are closed",
                files <= self.files_before + PREPARED_PIPE_ENDS,
            ),
            (
                "16 helpers are idle at most",
                helpers.len() <= MAX_IDLE_HELPERS,
            ),
            ("no process is left", zombies + sleeps + sleeps_after == 0),
            ("the server ends well", ended.success()),
        ];
        for (promise, _) in promises.iter().filter(|(_, is_kept)| !is_kept) {
            say(&format!("NOT SO: {promise}"));
        }
        promises.iter().all(|(_, is_kept)| *is_kept)
    }
}

fn zombies(processes: &HashMap<u32, char>) -> usize {
    processes.values().filter(|&&state| state == 'Z').count()
}

/// Looks at a value until it is as expected or the time is over.
fn poll<T>(time: Duration, mut value: impl FnMut() -> T, is_expected: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let value = value();
        if is_expected(&value) || start.elapsed() >= time {
            return value;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn table(times: &BTreeMap<Kind, Vec<u32>>) {
    say("kind           answered   p50 ms   p99 ms   max ms");
    for (kind, times) in times {
        let mut times = times.clone();
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100];
        let kind = format!("{kind:?}");
        say(&format!(
            "{kind:<14} {:>8} {:>8} {:>8} {:>8}",
            times.len(),
            at(50),
            at(99),
            at(100)
        ));
    }
}

fn say(line: &str) {
    eprintln!("{line}");
}
