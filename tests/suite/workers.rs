//! Signalling, stopping or killing the supervisor or a worker does not affect other calls.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use climax_tests::{
    Folder, Server, count_processes, descendants, eventually, find_processes, fixtures, has_exited,
    mark, run, script_call, send_signal,
};
use serde_json::json;

#[test]
fn exit_codes_are_reported_even_if_sigchld_is_ignored() {
    let ignoring = ["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_fixtures")];
    let mut server = Server::start(Command::new("env").args(ignoring));
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a process");
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:\t"));
    let mask = u64::from_str_radix(mask.expect("a line"), 16).expect("a number");
    // SIGCHLD is signal 17.
    assert_ne!(
        mask & (1 << 16),
        0,
        "the server starts with SIGCHLD ignored"
    );
    for script in ["exit 3", "sleep 0.1; exit 3"] {
        let response = server.call("shell_run", &json!({"script": script}));
        assert_eq!(response.text, "[exit code: 3]", "{script}");
    }
}

#[test]
fn signals_that_the_client_blocks_still_reach_the_server() {
    let blocking = ["--block-signal=CHLD,TERM", env!("CARGO_BIN_EXE_fixtures")];
    let mut server = Server::start(mark(&mut Command::new("env")).args(blocking));
    let response = server.call("shell_brief", &json!({"script": "sleep 0.1; exit 3"}));
    assert_eq!(response.text, "[exit code: 3]");
    send_signal("TERM", server.id());
    assert!(server.wait().success());
}

#[test]
fn supervisor_and_workers_that_die_are_replaced() {
    let mut server = Server::start(&mut fixtures!());
    server.call("shell_run", &json!({"script": ":"}));
    let processes = descendants(server.id());
    assert_eq!(processes.len(), 2, "a supervisor and a worker");
    for &process in processes.keys() {
        send_signal("KILL", process);
    }
    eventually("the supervisor and the worker have exited", || {
        processes.keys().all(|&process| has_exited(process))
    });
    assert_eq!(
        server
            .call("shell_run", &json!({"script": "echo alive"}))
            .text,
        "alive"
    );
}

#[test]
fn a_worker_that_gets_sigterm_ends_its_command() {
    let mut server = Server::start(&mut fixtures!());
    let script = "setsid sleep 1151 & kill -TERM $PPID; sleep 1152";
    let response = server.call("shell_run", &json!({"script": script}));
    assert!(response.is_error, "{response:?}");
    eventually("the command and its child have exited", || {
        count_processes(&["sleep", "1151"]) + count_processes(&["sleep", "1152"]) == 0
    });
    assert_eq!(
        server
            .call("shell_run", &json!({"script": "echo alive"}))
            .text,
        "alive"
    );
}

#[test]
fn a_command_that_kills_its_process_group_kills_only_itself() {
    let mut server = Server::start(&mut fixtures!());
    let response = server.call("shell_run", &json!({"script": "kill -KILL 0"}));
    assert_eq!(response.text, "[exit code: -9]");
}

#[test]
fn an_idle_worker_ignores_sigterm() {
    let mut server = Server::start(&mut fixtures!());
    let response = server.call("shell_run", &json!({"script": "echo $PPID"}));
    let worker = response.text.parse().expect("a number");
    send_signal("TERM", worker);
    let response = server.call("shell_run", &json!({"script": "sleep 0.1; echo $PPID"}));
    assert_eq!(response.text, worker.to_string());
}

#[test]
fn killing_a_worker_ends_its_processes_and_no_others() {
    let mut server = Server::start(&mut fixtures!());
    // Removing the folder ends the daemon, even if this test fails.
    let folder = Folder::new();
    let daemon_script = format!(
        "while [ -e {} ]; do (sleep 1181 &); sleep 0.05; done",
        folder.text()
    );
    let script = format!("setsid sh -c '{daemon_script}' & sleep 0.1");
    server.call("shell_run", &json!({"script": script}));
    let other = server.send("tools/call", &script_call("shell_run", "sleep 1182; :"));
    eventually("the other command runs", || {
        count_processes(&["sleep", "1182"]) == 1
    });
    eventually("the daemon starts children", || {
        count_processes(&["sleep", "1181"]) > 3
    });
    let before = find_processes(&["sleep", "1181"]);
    let script = "sleep 1183 & (sh -c 'sleep 1183; :' &) ; kill -KILL $PPID; sleep 1183";
    let response = server.call("shell_run", &json!({"script": script}));
    assert!(
        response
            .text
            .contains("its worker process exited unexpectedly"),
        "{response:?}"
    );
    eventually("the killed worker's processes have exited", || {
        count_processes(&["sleep", "1183"]) == 0
    });
    assert_eq!(
        count_processes(&["sleep", "1182"]),
        1,
        "the command of another worker still runs"
    );
    let after = find_processes(&["sleep", "1181"]);
    assert!(before.iter().all(|process| after.contains(process)));
    server.notify("notifications/cancelled", &json!({"requestId": other}));
    // There may be more than one: a child that was just forked still has the daemon's command line.
    let daemon = ["sh", "-c", &daemon_script];
    assert!(count_processes(&daemon) > 0);
    eventually("the daemon has exited", || {
        for process in find_processes(&daemon) {
            run(Command::new("kill").args(["-KILL", &process.to_string()]));
        }
        count_processes(&daemon) == 0
    });
    eventually("the daemon's children have exited and were reaped", || {
        for process in find_processes(&["sleep", "1181"]) {
            run(Command::new("kill").args(["-KILL", &process.to_string()]));
        }
        let left = descendants(server.id());
        after.iter().all(|process| !left.contains_key(process))
    });
}

#[test]
fn a_stopped_idle_worker_is_resumed_for_the_next_call() {
    let mut server = Server::start(&mut fixtures!());
    let worker = server.call("shell_run", &json!({"script": "echo $PPID"}));
    let worker: u32 = worker.text.parse().expect("a number");
    send_signal("STOP", worker);
    // The request exceeds the socket's buffer, and a stopped worker would not read it.
    let long_script = format!(": {}", "x".repeat(100_000)) + &"\n: xxxxxxxx".repeat(200_000);
    let response = server.call("shell_run", &json!({"script": long_script}));
    assert!(
        response.text.contains("too long for the system"),
        "{response:?}"
    );
    let id = server.send("tools/call", &script_call("shell_run", &long_script));
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    let response = server.call("shell_run", &json!({"script": "echo alive"}));
    assert_eq!(response.text, "alive");
}

#[test]
fn a_stopped_worker_is_resumed_and_ends_its_command() {
    let mut server = Server::start(&mut fixtures!());
    let script = "kill -STOP $PPID; exec sleep 1191";
    let response = server.call("shell_brief", &json!({"script": script}));
    assert!(response.text.contains("Command timed out"), "{response:?}");
    eventually("the command has exited", || {
        count_processes(&["sleep", "1191"]) == 0
    });
    // When the server exits, the supervisor resumes stopped workers without being asked.
    let script = "kill -STOP $PPID; exec sleep 1192";
    server.send("tools/call", &script_call("shell_run", script));
    eventually("the command runs", || {
        count_processes(&["sleep", "1192"]) == 1
    });
    let (status, _) = server.close();
    assert!(status.success());
    eventually("the command has exited", || {
        count_processes(&["sleep", "1192"]) == 0
    });
}

#[test]
fn the_processes_of_256_calls_are_ended_within_seconds() {
    let mut server = Server::start(&mut fixtures!());
    let script = "trap '' TERM; sleep 1193 & sleep 1193 & wait; wait";
    for _ in 0..256 {
        server.send("tools/call", &script_call("shell_run", script));
    }
    eventually("all commands run", || {
        count_processes(&["sleep", "1193"]) == 512
    });
    let start = Instant::now();
    send_signal("KILL", server.id());
    eventually("all commands have exited", || {
        count_processes(&["sleep", "1193"]) == 0
    });
    // The documented limit is one second; a busy machine may take longer. If each worker scanned all processes,
    // it would take several times as long.
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_stopped_worker_does_not_delay_the_response() {
    let mut server = Server::start(&mut fixtures!());
    let script = "echo so far; kill -STOP $PPID; exec sleep 1171";
    let response = server.call("shell_brief", &json!({"script": script}));
    assert!(
        response
            .text
            .starts_with("so far\n\n[stderr]\nCommand timed out"),
        "{response:?}"
    );
    for process in descendants(server.id()).into_keys() {
        run(Command::new("kill").args(["-CONT", &process.to_string()]));
    }
    eventually("the command has exited", || {
        count_processes(&["sleep", "1171"]) == 0
    });
}

#[test]
fn a_stopped_worker_does_not_keep_the_server_from_ending() {
    let mut server = Server::start(&mut fixtures!());
    server.send("tools/call", &script_call("shell_run", "sleep 1161"));
    eventually("the command runs", || {
        count_processes(&["sleep", "1161"]) == 1
    });
    let command = find_processes(&["sleep", "1161"]);
    let mut supervisor_and_worker = descendants(server.id());
    supervisor_and_worker.retain(|process, _| !command.contains(process));
    for &process in supervisor_and_worker.keys() {
        send_signal("STOP", process);
    }
    let (status, _) = server.close();
    assert!(status.success(), "{status}");
    // The kernel may have resumed them already, as their process group is orphaned.
    for process in supervisor_and_worker.keys() {
        run(Command::new("kill").args(["-CONT", &process.to_string()]));
    }
    eventually("the command has exited", || {
        count_processes(&["sleep", "1161"]) == 0
    });
}
