//! However a call ends, the processes that its command started end with it.

use std::process::Command;
use std::thread;
use std::time::Duration;

use climax_tests::{
    Folder, PREPARED_PIPE_ENDS, Server, count_files_beside_workers, count_processes, descendants,
    eventually, find_processes, fixtures, has_exited, script_call, send_signal,
};
use serde_json::{Value, json};

/// A script that starts processes that are hard to find or to end. Each is a `sleep` of a different duration.
struct StubbornProcesses {
    script: String,
    durations: Vec<String>,
}

impl StubbornProcesses {
    /// The number must differ among the tests of a run; the test process's id tells runs apart.
    fn new(number: usize) -> Self {
        let run = std::process::id();
        let durations: Vec<String> = (1..=7)
            .map(|kind| format!("{}.0{kind}{run}", 1000 + number))
            .collect();
        let [
            group,
            session,
            orphan,
            without_environment,
            ignores_sigterm,
            stopped,
            last,
        ] = durations.as_slice()
        else {
            unreachable!("there are seven");
        };
        let script = format!(
            "sleep {group} & \
             setsid sleep {session} & \
             (setsid sh -c 'sleep {orphan} & exit' &) ; \
             (env -i setsid sh -c 'sleep {without_environment} & exit' &) ; \
             (trap '' TERM; setsid sh -c 'sleep {ignores_sigterm}; :') & \
             sh -c 'sleep {stopped} & sleep 0.1; kill -STOP $! $$' & \
             echo all started; \
             sleep {last}"
        );
        Self { script, durations }
    }

    fn call(&self, tool: &str) -> Value {
        let arguments = json!({"tool_name": tool, "args": {"script": self.script}});
        json!({"name": "climax_call", "arguments": arguments})
    }

    fn count_running(&self) -> usize {
        self.durations
            .iter()
            .map(|duration| count_processes(&["sleep", duration]))
            .sum()
    }

    fn wait_until_complete(&self) {
        eventually("all processes run", || {
            self.count_running() == self.durations.len()
        });
    }

    fn wait_until_empty(&self) {
        eventually("no process is left", || self.count_running() == 0);
    }
}

#[test]
fn a_timeout_ends_every_process_that_the_call_started() {
    let mut server = Server::start(&mut fixtures!());
    let stubborn = StubbornProcesses::new(0);
    let response = server.call("shell_brief", &json!({"script": stubborn.script}));
    assert_eq!(
        response.text,
        "all started\n\n[stderr]\nCommand timed out after 0.5s\n\n[exit code: -1]"
    );
    assert!(response.is_error);
    stubborn.wait_until_empty();
}

#[test]
fn a_cancellation_ends_every_process_of_its_call_and_none_of_another() {
    let mut server = Server::start(&mut fixtures!());
    let (first, second) = (StubbornProcesses::new(1), StubbornProcesses::new(2));
    let cancelled = server.send("tools/call", &first.call("shell_run"));
    let other = server.send("tools/call", &second.call("shell_run"));
    first.wait_until_complete();
    second.wait_until_complete();
    server.notify("notifications/cancelled", &json!({"requestId": cancelled}));
    first.wait_until_empty();
    second.wait_until_complete();
    server.notify("notifications/cancelled", &json!({"requestId": other}));
    second.wait_until_empty();
    // The server still works.
    assert_eq!(
        server.call("shell_run", &json!({"script": "echo on"})).text,
        "on"
    );
}

#[test]
fn the_end_of_input_ends_every_process_and_the_server() {
    let mut server = Server::start(&mut fixtures!());
    let stubborn = StubbornProcesses::new(3);
    server.send("tools/call", &stubborn.call("shell_run"));
    stubborn.wait_until_complete();
    let (status, _) = server.close();
    assert!(status.success(), "{status}");
    assert_eq!(
        stubborn.count_running(),
        0,
        "they are gone before the server is"
    );
}

#[test]
fn a_signal_ends_every_process_and_the_server() {
    for (number, signal) in [(4, "TERM"), (5, "INT"), (6, "HUP")] {
        let mut server = Server::start(&mut fixtures!());
        let stubborn = StubbornProcesses::new(number);
        server.send("tools/call", &stubborn.call("shell_run"));
        stubborn.wait_until_complete();
        send_signal(signal, server.id());
        let status = server.wait();
        assert!(status.success(), "{signal}: {status}");
        assert_eq!(
            stubborn.count_running(),
            0,
            "{signal}: they are gone before the server is"
        );
    }
}

#[test]
fn killing_the_server_leaves_no_process() {
    let mut server = Server::start(&mut fixtures!());
    let stubborn = StubbornProcesses::new(7);
    server.send("tools/call", &stubborn.call("shell_run"));
    stubborn.wait_until_complete();
    let workers = descendants(server.id());
    send_signal("KILL", server.id());
    server.wait();
    stubborn.wait_until_empty();
    eventually("the workers are gone", || {
        workers.keys().all(|&worker| has_exited(worker))
    });
}

#[test]
fn killing_the_server_while_it_starts_a_command_leaves_no_process() {
    for milliseconds in 0..20 {
        let mut server = Server::start(&mut fixtures!());
        let stubborn = StubbornProcesses::new(20 + usize::try_from(milliseconds).expect("few"));
        server.send("tools/call", &stubborn.call("shell_run"));
        // This sleep waits for nothing: it varies the phase of the start at which the server is killed.
        thread::sleep(Duration::from_millis(milliseconds));
        let workers = descendants(server.id());
        send_signal("KILL", server.id());
        server.wait();
        eventually("the workers are gone", || {
            workers.keys().all(|&worker| has_exited(worker))
        });
        stubborn.wait_until_empty();
    }
}

#[test]
fn a_command_gets_sigterm_before_sigkill_and_its_last_output_counts() {
    let mut server = Server::start(&mut fixtures!());
    let polite = "trap 'echo cleaned up; exit 3' TERM; echo begun; while :; do sleep 0.01; done";
    let response = server.call("shell_brief", &json!({"script": polite}));
    assert!(
        response.text.starts_with("begun\ncleaned up\n\n[stderr]\n"),
        "{}",
        response.text
    );
    let folder = Folder::new();
    let file = folder.path().join("cleaned");
    let script_text = format!(
        "trap 'touch {}; exit' TERM; echo $$; while :; do sleep 0.01; done",
        file.display()
    );
    let id = server.send("tools/call", &script_call("shell_run", &script_text));
    eventually("it runs", || {
        !find_processes(&["sh", "-c", &script_text]).is_empty()
    });
    // The shell sets its trap after it was started.
    eventually("its loop runs", || count_processes(&["sleep", "0.01"]) > 0);
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    eventually("it cleaned up", || file.exists());
}

#[test]
fn the_response_comes_at_the_timeout_even_if_stdout_stays_open() {
    let mut server = Server::start(&mut fixtures!());
    for script in [
        // A grandchild in another session holds stdout open.
        "echo so far; setsid sleep 1101 & sleep 1102",
        // The command has closed stdout.
        "echo so far; exec >&- 2>&-; sleep 1103",
        // The command ignores SIGTERM.
        "echo so far; trap '' TERM; while :; do sleep 1104; done",
    ] {
        let response = server.call("shell_brief", &json!({"script": script}));
        let expected = "so far\n\n[stderr]\nCommand timed out after 0.5s\n\n[exit code: -1]";
        assert_eq!(response.text, expected, "{script}");
    }
    for duration in ["1101", "1102", "1103", "1104"] {
        eventually("nothing is left", || {
            count_processes(&["sleep", duration]) == 0
        });
    }
}

#[test]
fn a_command_that_ends_just_before_its_timeout_succeeds() {
    let mut server = Server::start(&mut fixtures!());
    // The background process holds stdout open beyond the timeout.
    let ids: Vec<u64> = (40..50)
        .map(|hundredths| {
            let text = format!("sleep 1151 & sleep 0.{hundredths}; echo done");
            server.send("tools/call", &script_call("shell_brief", &text))
        })
        .collect();
    let responses = ids
        .into_iter()
        .map(|id| climax_tests::tool_response(&server.wait_for(id)));
    let done: Vec<_> = responses
        .filter(|response| response.text.starts_with("done"))
        .collect();
    let late = done.iter().filter(|response| response.is_error).count();
    // On a busy machine, some may time out between their last output and their exit.
    assert!(late < done.len(), "{done:?}");
}

#[test]
fn after_a_normal_exit_background_processes_end_and_daemons_stay() {
    let mut server = Server::start(&mut fixtures!());
    let script =
        "sleep 1111 & (trap '' TERM; sleep 1112) & setsid sleep 1113 & sleep 0.3; echo done";
    let response = server.call("shell_run", &json!({"script": script}));
    assert_eq!((response.text.as_str(), response.is_error), ("done", false));
    eventually("the background is gone", || {
        count_processes(&["sleep", "1111"]) + count_processes(&["sleep", "1112"]) == 0
    });
    assert_eq!(
        server.call("shell_run", &json!({"script": "echo on"})).text,
        "on"
    );
    let (status, _) = server.close();
    assert!(status.success());
    let daemon = find_processes(&["sleep", "1113"]);
    assert_eq!(daemon.len(), 1, "it outlives the server too");
    send_signal("TERM", daemon[0]);
}

#[test]
fn commands_have_no_controlling_terminal() {
    let mut server = Server::start(&mut fixtures!());
    let script = "(exec </dev/tty) 2>/dev/null && echo asks || echo cannot ask";
    assert_eq!(
        server.call("shell_run", &json!({"script": script})).text,
        "cannot ask"
    );
}

#[test]
fn processes_and_open_files_do_not_accumulate() {
    let mut server = Server::start(&mut fixtures!());
    server.call("shell_run", &json!({"script": ":"}));
    let files = count_files_beside_workers(server.id());
    for round in 0..20 {
        let ids: Vec<u64> = (0..100)
            .map(|_| server.send("tools/call", &script_call("shell_run", ":")))
            .collect();
        for id in ids {
            assert!(server.wait_for(id)["result"].is_object());
        }
        let slow = if round % 2 == 0 {
            "shell_brief"
        } else {
            "shell_run"
        };
        let ids: Vec<u64> = (0..10)
            .map(|_| {
                server.send(
                    "tools/call",
                    &script_call(slow, "sleep 1121 & setsid sleep 1121"),
                )
            })
            .collect();
        for id in ids {
            if slow == "shell_brief" {
                assert_eq!(server.wait_for(id)["result"]["isError"], true);
            } else {
                server.notify("notifications/cancelled", &json!({"requestId": id}));
            }
        }
    }
    eventually("nothing is left", || {
        count_processes(&["sleep", "1121"]) == 0
    });
    eventually("only idle workers are left, and none is a zombie", || {
        let workers = descendants(server.id());
        workers.len() <= 17 && workers.values().all(|&state| state == 'S')
    });
    eventually("files are closed", || {
        count_files_beside_workers(server.id()) <= files + PREPARED_PIPE_ENDS
    });
}

#[test]
fn processes_that_keep_forking_are_ended() {
    let mut server = Server::start(&mut fixtures!());
    // Each one starts the next and ends, and all ignore SIGTERM.
    let script_text = "trap '' TERM; hop() { sleep 0.005; hop & }; hop & hop & hop & sleep 1141";
    let words = ["sh", "-c", script_text];
    let id = server.send("tools/call", &script_call("shell_run", script_text));
    eventually("they run", || count_processes(&words) > 2);
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    // A single look may miss a new process.
    eventually("none is left", || {
        (0..20).all(|_| count_processes(&words) == 0)
    });
}

#[test]
fn orphans_that_exit_during_a_call_are_reaped() {
    let mut server = Server::start(&mut fixtures!());
    let script_text = "for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.2 &); done; echo all; sleep 1131";
    let id = server.send("tools/call", &script_call("shell_run", script_text));
    eventually("it has come to its end", || {
        count_processes(&["sleep", "1131"]) == 1
    });
    eventually("no zombie is left", || {
        let processes = descendants(server.id());
        processes.len() == 4 && processes.values().all(|&state| state == 'S')
    });
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    eventually("it is gone", || count_processes(&["sleep", "1131"]) == 0);
}

#[test]
fn waiting_for_a_permit_does_not_count_towards_the_timeout() {
    let mut server = Server::start(&mut fixtures!("--max-concurrent", "1"));
    let first = server.send("tools/call", &script_call("shell_run", "sleep 1"));
    let second = server.call("shell_brief", &json!({"script": "echo in time"}));
    assert_eq!(second.text, "in time");
    assert_eq!(server.wait_for(first)["result"]["isError"], false);
}

#[test]
fn the_open_file_limit_is_raised_for_the_server_and_kept_for_commands() {
    // A common limit of open files, which 256 concurrent calls exceed. Commands keep it.
    let server = fixtures!();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -Sn 256; exec \"$0\""])
        .arg(server.get_program())
        .envs(
            server
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let mut server = Server::start(&mut command);
    let ids: Vec<u64> = (0..256)
        .map(|_| {
            server.send(
                "tools/call",
                &script_call("shell_run", "sleep 1; ulimit -n"),
            )
        })
        .collect();
    for id in ids {
        assert_eq!(server.wait_for(id)["result"]["content"][0]["text"], "256");
    }
}
