//! The helper processes that run commands: what may happen to them, and what nobody notices of it.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use climax_tests::{
    Folder, Server, descendants, eventually, fixtures, is_gone, kill, mark, pids, processes, run,
    script,
};
use serde_json::json;

#[test]
fn a_client_that_ignores_the_end_of_its_children_still_hears_how_commands_end() {
    let ignoring = ["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_fixtures")];
    let mut server = Server::start(Command::new("env").args(ignoring));
    let ignored = fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a process");
    let mut lines = ignored.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:\t"));
    let ignored = u64::from_str_radix(ignored.expect("a line"), 16).expect("a number");
    assert_ne!(ignored & (1 << 16), 0, "it is ignored at the start");
    for text in ["exit 3", "sleep 0.1; exit 3"] {
        let answer = server.call("shell_run", &json!({"script": text}));
        assert_eq!(answer.text, "[exit code: 3]", "{text}");
    }
}

#[test]
fn signals_that_a_client_blocks_are_heard() {
    let blocking = ["--block-signal=CHLD,TERM", env!("CARGO_BIN_EXE_fixtures")];
    let mut server = Server::start(mark(&mut Command::new("env")).args(blocking));
    let answer = server.call("shell_brief", &json!({"script": "sleep 0.1; exit 3"}));
    assert_eq!(answer.text, "[exit code: 3]");
    kill("TERM", server.id());
    assert!(server.wait().success());
}

#[test]
fn a_helper_that_dies_is_replaced() {
    let mut server = Server::start(&mut fixtures!());
    server.call("shell_run", &json!({"script": ":"}));
    let helpers = descendants(server.id());
    assert_eq!(
        helpers.len(),
        2,
        "one that runs commands, and one that makes such"
    );
    for &helper in helpers.keys() {
        kill("KILL", helper);
    }
    eventually("the helpers are gone", || {
        helpers.keys().all(|&helper| is_gone(helper))
    });
    assert_eq!(
        server.call("shell_run", &json!({"script": "echo on"})).text,
        "on"
    );
}

#[test]
fn a_helper_that_is_asked_to_end_takes_its_command_with_it() {
    let mut server = Server::start(&mut fixtures!());
    let script_text = "setsid sleep 1151 & kill -TERM $PPID; sleep 1152";
    let answer = server.call("shell_run", &json!({"script": script_text}));
    assert!(answer.is_error, "{answer:?}");
    eventually("nothing is left", || {
        processes(&["sleep", "1151"]) + processes(&["sleep", "1152"]) == 0
    });
    assert_eq!(
        server.call("shell_run", &json!({"script": "echo on"})).text,
        "on"
    );
}

#[test]
fn a_command_that_kills_its_group_kills_nobody_else() {
    let mut server = Server::start(&mut fixtures!());
    let answer = server.call("shell_run", &json!({"script": "kill -KILL 0"}));
    assert_eq!(answer.text, "[exit code: -9]");
}

#[test]
fn a_helper_that_is_asked_to_end_while_it_is_idle_runs_the_next_command() {
    let mut server = Server::start(&mut fixtures!());
    let answer = server.call("shell_run", &json!({"script": "echo $PPID"}));
    let helper = answer.text.parse().expect("a number");
    kill("TERM", helper);
    let answer = server.call("shell_run", &json!({"script": "sleep 0.1; echo $PPID"}));
    assert_eq!(answer.text, helper.to_string());
}

#[test]
fn what_a_helper_kept_ends_when_it_is_killed_and_nothing_else() {
    let mut server = Server::start(&mut fixtures!());
    // It ends with the folder, so that a failure of this test leaves no daemon behind.
    let folder = Folder::new();
    let lines = format!(
        "while [ -e {} ]; do (sleep 1181 &); sleep 0.05; done",
        folder.text()
    );
    let start = format!("setsid sh -c '{lines}' & sleep 0.1");
    server.call("shell_run", &json!({"script": start}));
    let other = server.send("tools/call", &script("shell_run", "sleep 1182; :"));
    eventually("it runs", || processes(&["sleep", "1182"]) == 1);
    eventually("the daemon works", || processes(&["sleep", "1181"]) > 3);
    let before = pids(&["sleep", "1181"]);
    let text = "sleep 1183 & (sh -c 'sleep 1183; :' &) ; kill -KILL $PPID; sleep 1183";
    let answer = server.call("shell_run", &json!({"script": text}));
    assert!(
        answer
            .text
            .contains("its worker process exited unexpectedly"),
        "{answer:?}"
    );
    eventually("nothing is left", || processes(&["sleep", "1183"]) == 0);
    assert_eq!(processes(&["sleep", "1182"]), 1, "another helper keeps it");
    let after = pids(&["sleep", "1181"]);
    assert!(before.iter().all(|process| after.contains(process)));
    server.notify("notifications/cancelled", &json!({"requestId": other}));
    // A child that it has just forked has its command line too.
    let daemon = ["sh", "-c", &lines];
    assert!(processes(&daemon) > 0);
    eventually("the daemon is gone", || {
        for process in pids(&daemon) {
            run(Command::new("kill").args(["-KILL", &process.to_string()]));
        }
        processes(&daemon) == 0
    });
    eventually(
        "its workers are gone, and no zombie is left of them",
        || {
            for process in pids(&["sleep", "1181"]) {
                run(Command::new("kill").args(["-KILL", &process.to_string()]));
            }
            let left = descendants(server.id());
            after.iter().all(|process| !left.contains_key(process))
        },
    );
}

#[test]
fn a_long_call_that_is_taken_back_disturbs_nobody_and_one_that_is_not_taken_times_out() {
    let mut server = Server::start(&mut fixtures!());
    let helper = server.call("shell_run", &json!({"script": "echo $PPID"}));
    let helper: u32 = helper.text.parse().expect("a number");
    // More than a socket holds, to a helper that does not read.
    kill("STOP", helper);
    let long = format!(": {}", "x".repeat(100_000)) + &"\n: xxxxxxxx".repeat(200_000);
    let answer = server.call("shell_brief", &json!({"script": long}));
    assert!(answer.text.contains("Command timed out"), "{answer:?}");
    eventually("the helper goes on and leaves", || is_gone(helper));
    let id = server.send("tools/call", &script("shell_run", &long));
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    let answer = server.call("shell_run", &json!({"script": "echo on"}));
    assert_eq!(answer.text, "on");
}

#[test]
fn a_helper_that_is_stuck_goes_on_and_ends_its_command() {
    let mut server = Server::start(&mut fixtures!());
    let text = "kill -STOP $PPID; exec sleep 1191";
    let answer = server.call("shell_brief", &json!({"script": text}));
    assert!(answer.text.contains("Command timed out"), "{answer:?}");
    eventually("it is gone", || processes(&["sleep", "1191"]) == 0);
    // When the server ends, nobody tells the helper's parent.
    let stop = "kill -STOP $PPID; exec sleep 1192";
    server.send("tools/call", &script("shell_run", stop));
    eventually("it runs", || processes(&["sleep", "1192"]) == 1);
    let (status, _) = server.close();
    assert!(status.success());
    eventually("it is gone", || processes(&["sleep", "1192"]) == 0);
}

#[test]
fn the_processes_of_many_calls_are_ended_together() {
    let mut server = Server::start(&mut fixtures!());
    let text = "trap '' TERM; sleep 1193 & sleep 1193 & wait; wait";
    for _ in 0..256 {
        server.send("tools/call", &script("shell_run", text));
    }
    eventually("all run", || processes(&["sleep", "1193"]) == 512);
    let start = Instant::now();
    kill("KILL", server.id());
    eventually("none is left", || processes(&["sleep", "1193"]) == 0);
    // A second is the promise; the machine may be busy. A look at all processes, by each helper and
    // for each of its looks, takes several.
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_helper_that_is_stuck_does_not_hold_the_answer() {
    let mut server = Server::start(&mut fixtures!());
    let script_text = "echo so far; kill -STOP $PPID; exec sleep 1171";
    let answer = server.call("shell_brief", &json!({"script": script_text}));
    assert!(
        answer
            .text
            .starts_with("so far\n\n[stderr]\nCommand timed out"),
        "{answer:?}"
    );
    for helper in descendants(server.id()).into_keys() {
        run(Command::new("kill").args(["-CONT", &helper.to_string()]));
    }
    eventually("it is gone", || processes(&["sleep", "1171"]) == 0);
}

#[test]
fn a_helper_that_is_stuck_does_not_hold_the_server() {
    let mut server = Server::start(&mut fixtures!());
    server.send("tools/call", &script("shell_run", "sleep 1161"));
    eventually("it runs", || processes(&["sleep", "1161"]) == 1);
    let command = pids(&["sleep", "1161"]);
    let mut helpers = descendants(server.id());
    helpers.retain(|helper, _| !command.contains(helper));
    for &helper in helpers.keys() {
        kill("STOP", helper);
    }
    let (status, _) = server.close();
    assert!(status.success(), "{status}");
    // The system may have woken them up by itself, as nobody else is left who could.
    for helper in helpers.keys() {
        run(Command::new("kill").args(["-CONT", &helper.to_string()]));
    }
    eventually("it is gone", || processes(&["sleep", "1161"]) == 0);
}
