//! Low limits of open files and processes: calls wait until a limit allows them to start.

use std::fs;
use std::process::Command;
use std::time::Duration;

use climax_tests::{
    Folder, OtherUser, Server, copy_variables, count_open_files, count_processes, descendants,
    eventually, find_processes, fixtures, process_status, run, script_call, send_signal, server,
    settled, tool_response,
};
use serde_json::json;

/// The command that starts a server with a limit, such as `--nofile=64`.
fn limited(limit: &str, server: &Command) -> Command {
    let mut command = Command::new("prlimit");
    command
        .arg(limit)
        .arg(server.get_program())
        .args(server.get_args());
    copy_variables(server, &mut command);
    command
}

/// Sets the soft limit of open files of a running process.
fn set_open_files(process: u32, limit: u32) {
    let arguments = [format!("--pid={process}"), format!("--nofile={limit}:")];
    let output = run(Command::new("prlimit").args(arguments));
    assert!(output.status.success(), "{output:?}");
}

/// How many files a process has open after its last command.
fn open_files(process: u32) -> u32 {
    let count = settled("open files", || count_open_files(process));
    u32::try_from(count).expect("few")
}

/// Sends calls of a script at once, and checks that all of them succeed.
fn assert_all_succeed(server: &mut Server, count: usize, script: &str) {
    let ids: Vec<u64> = (0..count)
        .map(|_| server.send("tools/call", &script_call("shell_run", script)))
        .collect();
    for id in ids {
        let response = tool_response(&server.wait_for(id));
        assert_eq!(response.text, "(no output)");
    }
}

/// The supervisor of a server that has run a command.
fn supervisor(server: &Server) -> u32 {
    let processes = descendants(server.id());
    let mut children = processes
        .into_keys()
        .filter(|&process| process_status(process, "PPid") == u64::from(server.id()));
    children.next().expect("a supervisor")
}

/// The idle worker of a server.
fn worker(server: &mut Server) -> u32 {
    let response = server.call("shell_run", &json!({"script": "echo $PPID"}));
    response.text.parse().expect("a number")
}

#[test]
fn hundreds_of_calls_succeed_with_few_open_files() {
    for (limit, count) in [(64, 100), (256, 500)] {
        let mut server = Server::start(&mut limited(&format!("--nofile={limit}"), &fixtures!()));
        assert_all_succeed(&mut server, count, "exec sleep 0.2");
        assert!(server.close().0.success());
        eventually("nothing is left", || {
            count_processes(&["sleep", "0.2"]) == 0
        });
    }
}

#[test]
fn fewer_commands_run_at_once_with_few_open_files() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    let folder = Folder::new();
    let text = folder.text();
    let script = format!("cd {text}; mkdir $$; ls | wc -l; sleep 0.2; rmdir $$");
    let ids: Vec<u64> = (0..30)
        .map(|_| server.send("tools/call", &script_call("shell_run", &script)))
        .collect();
    for id in ids {
        let response = tool_response(&server.wait_for(id));
        let count: usize = response.text.parse().expect("a number");
        assert!((1..=5).contains(&count), "{count}");
    }
}

/// Starts a server whose user may have 60 processes.
fn start_server(user: &OtherUser) -> Server {
    let server = limited("--nproc=60", &server!(user.program()));
    Server::start(&mut user.command(&server))
}

/// Starts processes of a user that sleep for this many seconds.
fn start_sleeps(user: &OtherUser, count: usize, seconds: u32) {
    let script = format!("for i in $(seq {count}); do sleep {seconds} & done");
    let mut start = user.command(Command::new("sh").args(["-c", &script]));
    assert!(start.status().expect("it runs").success());
    assert_eq!(user.count_processes(), count);
}

#[test]
fn hundreds_of_calls_succeed_with_few_processes() {
    // Alone, the server starts fewer commands than the limit allows. Beside 40 processes it reaches the limit.
    for others in [0, 40] {
        let Some(user) = OtherUser::new(env!("CARGO_BIN_EXE_fixtures")) else {
            return;
        };
        start_sleeps(&user, others, 1311);
        let mut server = start_server(&user);
        assert_all_succeed(&mut server, 200, "exec sleep 0.2");
        assert!(server.close().0.success());
        eventually("nothing is left", || user.count_processes() == others);
    }
}

#[test]
fn a_call_that_cannot_fork_in_time_names_the_limit() {
    let Some(user) = OtherUser::new(env!("CARGO_BIN_EXE_fixtures")) else {
        return;
    };
    // Room for the server alone, for its supervisor, and for a worker without a command.
    for others in [59, 58, 57] {
        start_sleeps(&user, others, 1312);
        let mut server = start_server(&user);
        let response = server.call("shell_brief", &json!({"script": "echo on"}));
        assert_eq!(
            response.text,
            "[stderr]\nCannot run sh: the limit of processes (ulimit -u 60, or that of the container) is reached\n\n[exit code: -1]"
        );
        let id = server.send("tools/call", &script_call("shell_run", "echo on"));
        let processes = find_processes(&["sleep", "1312"]);
        assert_eq!(processes.len(), others);
        for process in processes {
            send_signal("KILL", process);
        }
        assert_eq!(tool_response(&server.wait_for(id)).text, "on");
        assert!(server.close().0.success());
        eventually("nothing is left", || user.count_processes() == 0);
    }
}

#[test]
fn calls_wait_while_the_server_can_open_no_files() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    // Before and after the first call: it starts the supervisor, and leaves an idle worker.
    for _ in 0..2 {
        set_open_files(server.id(), 3);
        let ids: Vec<u64> = (0..3)
            .map(|_| server.send("tools/call", &script_call("shell_run", "echo on")))
            .collect();
        assert_eq!(
            server.matching_tools(&json!({"query": "git_status"})),
            ["git_status"]
        );
        set_open_files(server.id(), 64);
        for id in ids {
            assert_eq!(tool_response(&server.wait_for(id)).text, "on");
        }
    }
}

#[test]
fn a_call_waits_while_its_working_directory_cannot_be_opened() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    let roots = format!("tools: {{shell_run: {{}}}}\nroots: [{:?}]\n", folder.text());
    fs::write(&policy, roots).expect("written");
    let server = fixtures!("--policy", &policy);
    let mut server = Server::start(&mut limited("--nofile=64", &server));
    let arguments = json!({"script": "pwd", "directory": folder.text()});
    // Afterwards a worker and pipes are ready for the next call.
    assert_eq!(server.call("shell_run", &arguments).text, folder.text());
    set_open_files(server.id(), 3);
    let arguments = json!({"tool_name": "shell_run", "args": arguments});
    let params = json!({"name": "climax_call", "arguments": arguments});
    let id = server.send("tools/call", &params);
    assert_eq!(
        server.matching_tools(&json!({"query": "shell_run"})),
        ["shell_run"]
    );
    set_open_files(server.id(), 64);
    let response = tool_response(&server.wait_for(id));
    assert_eq!(response.text, folder.text());
}

#[test]
fn a_call_that_waits_for_a_limit_can_be_cancelled() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    let folder = Folder::new();
    set_open_files(server.id(), 3);
    let script = |name| format!("touch {}/{name}", folder.text());
    let ids = ["a", "b", "c"]
        .map(|name| server.send("tools/call", &script_call("shell_run", &script(name))));
    // The first has its turn, and the second waits for it.
    for id in &ids[..2] {
        server.notify("notifications/cancelled", &json!({"requestId": id}));
    }
    assert_eq!(
        server.matching_tools(&json!({"query": "git_status"})),
        ["git_status"]
    );
    set_open_files(server.id(), 64);
    assert!(!tool_response(&server.wait_for(ids[2])).is_error);
    let files = fs::read_dir(folder.path()).expect("a folder");
    let files: Vec<_> = files
        .map(|file| file.expect("a file").file_name())
        .collect();
    assert_eq!(files, ["c"]);
}

#[test]
fn a_call_that_cannot_start_in_time_names_the_limit() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    set_open_files(server.id(), 3);
    let ids =
        [":", ":"].map(|script| server.send("tools/call", &script_call("shell_brief", script)));
    for id in ids {
        let response = tool_response(&server.wait_for(id));
        assert!(response.is_error);
        assert_eq!(
            response.text,
            "[stderr]\nCannot run sh: the limit of open files (ulimit -n 3) is reached\n\n[exit code: -1]"
        );
    }
    set_open_files(server.id(), 64);
    assert_eq!(
        server
            .call("shell_brief", &json!({"script": "echo on"}))
            .text,
        "on"
    );
}

#[test]
fn waiting_for_a_limit_does_not_shorten_the_time_of_the_command() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    set_open_files(server.id(), 3);
    let id = server.send(
        "tools/call",
        &script_call("shell_brief", "sleep 0.3; echo on"),
    );
    // More than the command can spare of its 0.5 seconds.
    assert_eq!(server.receive_within(Duration::from_millis(300)), None);
    set_open_files(server.id(), 64);
    assert_eq!(tool_response(&server.wait_for(id)).text, "on");
}

#[test]
fn calls_wait_while_the_supervisor_can_open_no_files() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    worker(&mut server);
    let supervisor = supervisor(&server);
    let occupying = server.send("tools/call", &script_call("shell_run", "exec sleep 1301"));
    eventually("the idle worker is occupied", || {
        count_processes(&["sleep", "1301"]) == 1
    });
    let processes = descendants(server.id()).len();
    // No descriptor, some of three, or all of them and no pipe.
    let used = open_files(supervisor);
    for limit in [used, used + 2, used + 3] {
        set_open_files(supervisor, limit);
        let id = server.send(
            "tools/call",
            &script_call("shell_run", "echo on; exec sleep 0.1"),
        );
        assert_eq!(
            server.receive_within(Duration::from_millis(200)),
            None,
            "{limit}"
        );
        assert_eq!(descendants(server.id()).len(), processes, "{limit}");
        set_open_files(supervisor, 64);
        assert_eq!(tool_response(&server.wait_for(id)).text, "on", "{limit}");
        // The next round needs a new worker again.
        let idle = worker(&mut server);
        send_signal("KILL", idle);
        eventually("the idle worker is gone", || {
            descendants(server.id()).len() == processes
        });
    }
    server.notify("notifications/cancelled", &json!({"requestId": occupying}));
    eventually("it is gone", || count_processes(&["sleep", "1301"]) == 0);
}

#[test]
fn a_call_waits_while_its_worker_can_open_no_files() {
    let mut server = Server::start(&mut limited("--nofile=64", &fixtures!()));
    let worker = worker(&mut server);
    let used = open_files(worker);
    // It cannot receive descriptors, or cannot copy those that it received.
    for limit in [used, used + 2] {
        set_open_files(worker, limit);
        let id = server.send("tools/call", &script_call("shell_run", "echo $PPID"));
        assert_eq!(
            server.receive_within(Duration::from_millis(200)),
            None,
            "{limit}"
        );
        set_open_files(worker, 64);
        let response = tool_response(&server.wait_for(id));
        assert_eq!(response.text, worker.to_string());
    }
}

#[test]
fn commands_get_the_original_limit_of_open_files() {
    let arguments = json!({"script": "ulimit -n"});
    // The system does not start a program with a limit that is too low for the worker that starts it.
    let mut server = Server::start(&mut limited("--nofile=12:", &fixtures!()));
    assert_eq!(server.call("shell_run", &arguments).text, "24");
    let mut server = Server::start(&mut limited("--nofile=25:", &fixtures!()));
    assert_eq!(server.call("shell_run", &arguments).text, "25");
    // A supervisor that replaces another one knows the limit, too.
    for process in descendants(server.id()).into_keys() {
        send_signal("KILL", process);
    }
    eventually("the supervisor and its worker are gone", || {
        descendants(server.id()).values().all(|&state| state == 'Z')
    });
    assert_eq!(server.call("shell_run", &arguments).text, "25");
}
