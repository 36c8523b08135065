//! Commands cannot reach the server that runs them, and cannot keep it from ending them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use climax_tests::{
    Folder, OtherUser, Server, count_processes, descendants, eventually, find_processes, fixtures,
    mark, script_call, server, tool_response,
};
use serde_json::json;

/// Starts a script with the process ids of the server, the supervisor and its worker in variables.
const FIND_SERVER: &str = "parent() { cut -d ' ' -f 4 /proc/$1/stat; }
worker=$PPID supervisor=$(parent $PPID) server=$(parent $supervisor)
";

/// A server of a user other than root.
fn start(user: &OtherUser) -> Server {
    Server::start(&mut user.command(&server!(user.program())))
}

fn other_user() -> Option<OtherUser> {
    OtherUser::new(env!("CARGO_BIN_EXE_fixtures"))
}

#[test]
fn a_command_cannot_open_files_variables_or_memory_of_the_server_and_its_helpers() {
    let Some(user) = other_user() else { return };
    let mut server = start(&user);
    let script = FIND_SERVER.to_owned()
        + r#"
for process in $server $supervisor $worker; do
    folder=/proc/$process
    for file in environ mem maps fd/0; do
        { head -c 1 < $folder/$file; } > /dev/null 2>&1 && echo "$process: $file was read"
    done
    ls $folder/fd $folder/cwd/ > /dev/null 2>&1 && echo "$process: files were listed"
    for number in $(seq 0 63); do
        { echo '{"jsonrpc":"2.0","id":1,"result":{}}' >> $folder/fd/$number; } 2> /dev/null \
            && echo "$process: descriptor $number was written"
    done
done
cat /proc/$server/comm"#;
    let response = server.call("shell_run", &json!({"script": script}));
    assert_eq!(response.text, "server");
    let response = server.call("shell_run", &json!({"script": "echo alive"}));
    assert_eq!(response.text, "alive");
}

#[test]
fn commands_are_dumpable_so_that_debuggers_and_user_namespaces_work() {
    let Some(user) = other_user() else { return };
    let mut server = start(&user);
    // The files in `/proc` of a process that is not dumpable belong to root.
    let script = FIND_SERVER.to_owned()
        + r"stat -c %u /proc/$server/fd /proc/$supervisor/fd /proc/$worker/fd /proc/$$/fd
tr '\0' '\n' < /proc/$$/environ | grep ^INHERITED=";
    let response = server.call("shell_run", &json!({"script": script}));
    let owner = user.id();
    assert_eq!(
        response.text,
        format!("0\n0\n0\n{owner}\nINHERITED=from the server")
    );
}

#[test]
fn every_descriptor_of_the_server_and_its_helpers_is_close_on_exec() {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    // The client leaves a descriptor open.
    let leaking = "exec 9< /dev/null; exec \"$0\"";
    let arguments = ["-c", leaking, env!("CARGO_BIN_EXE_fixtures")];
    let mut server = Server::start(mark(&mut Command::new("sh")).args(arguments));
    let response = server.call("shell_run", &json!({"script": "ls /proc/$$/fd; :"}));
    assert_eq!(response.text, "0\n1\n2");
    let id = server.send("tools/call", &script_call("shell_run", "exec sleep 1411"));
    let command = ["sleep", "1411"];
    eventually("the command runs", || count_processes(&command) == 1);
    let mut processes = descendants(server.id());
    processes.retain(|process, _| !find_processes(&command).contains(process));
    assert_eq!(processes.len(), 2, "the supervisor and a worker");
    for process in processes.into_keys().chain([server.id()]) {
        let folder = format!("/proc/{process}/fdinfo");
        let Ok(files) = fs::read_dir(&folder) else {
            eprintln!("skipped: this needs root, to list the files of the server");
            return;
        };
        for file in files.flatten() {
            let name = file.file_name();
            let number: u32 = name
                .to_str()
                .and_then(|name| name.parse().ok())
                .expect("a number");
            let info = fs::read_to_string(file.path()).expect("an open file");
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:\t"));
            let flags = u32::from_str_radix(flags.expect("flags"), 8).expect("a number");
            assert!(
                number <= 2 || flags & CLOSE_ON_EXEC != 0,
                "descriptor {number} of {process}"
            );
        }
    }
    server.notify("notifications/cancelled", &json!({"requestId": id}));
}

#[test]
fn a_command_that_stops_the_supervisor_delays_no_other_call() {
    let mut server = Server::start(&mut fixtures!());
    let script = FIND_SERVER.to_owned() + "kill -STOP $supervisor; exec sleep 1421";
    let attack = server.send("tools/call", &script_call("shell_run", &script));
    eventually("the supervisor is stopped", || {
        descendants(server.id()).values().any(|&state| state == 'T')
    });
    // Each needs a worker of its own.
    let others =
        [0; 4].map(|_| server.send("tools/call", &script_call("shell_brief", "sleep 0.1")));
    for other in others {
        let response = tool_response(&server.wait_for(other));
        assert_eq!(response.text, "(no output)");
    }
    server.notify("notifications/cancelled", &json!({"requestId": attack}));
    eventually("the command has exited", || {
        count_processes(&["sleep", "1421"]) == 0
    });
}

#[test]
fn a_command_that_keeps_stopping_its_helpers_is_ended_and_delays_no_other_call() {
    let mut server = Server::start(&mut fixtures!());
    let attack = "while :; do kill -STOP $supervisor $worker; done";
    let script = format!("{FIND_SERVER} sleep 1422 & setsid sleep 1422 & {attack}");
    let attack = server.send("tools/call", &script_call("shell_brief", &script));
    eventually("the command runs", || {
        count_processes(&["sleep", "1422"]) == 2
    });
    let response = server.call("shell_run", &json!({"script": "echo alive"}));
    assert_eq!(response.text, "alive");
    let response = tool_response(&server.wait_for(attack));
    assert!(response.text.contains("Command timed out"), "{response:?}");
    eventually("everything has exited", || {
        count_processes(&["sleep", "1422"]) == 0 && count_processes(&["sh", "-c", &script]) == 0
    });
}

#[test]
fn a_command_that_kills_its_worker_leaves_nothing_even_in_other_sessions() {
    let mut server = Server::start(&mut fixtures!());
    let script = "setsid sh -c 'sleep 1423; :' & setsid sleep 1423 & sleep 1423 &
sleep 0.1; kill -KILL $PPID; sleep 1423";
    let response = server.call("shell_run", &json!({"script": script}));
    assert!(response.is_error, "{response:?}");
    eventually("everything has exited", || {
        count_processes(&["sleep", "1423"]) == 0
    });
}

#[test]
fn a_command_that_kills_worker_and_supervisor_leaves_nothing_and_other_calls_go_on() {
    let mut server = Server::start(&mut fixtures!());
    let folder = Folder::new();
    let wait = format!(
        "until [ -e {}/go ]; do sleep 0.01; done; echo done",
        folder.text()
    );
    let other = server.send("tools/call", &script_call("shell_run", &wait));
    let script = FIND_SERVER.to_owned()
        + "setsid sh -c 'sleep 1424; :' & setsid sleep 1424 & sleep 1424 &
sleep 0.1; kill -KILL $supervisor $worker; sleep 1424";
    let response = server.call("shell_run", &json!({"script": script}));
    assert!(response.is_error, "{response:?}");
    eventually("everything has exited", || {
        count_processes(&["sleep", "1424"]) == 0
    });
    let response = server.call("shell_run", &json!({"script": "echo alive"}));
    assert_eq!(response.text, "alive");
    fs::write(folder.path().join("go"), "").expect("written");
    assert_eq!(tool_response(&server.wait_for(other)).text, "done");
    eventually("no zombie is left", || {
        descendants(server.id()).values().all(|&state| state != 'Z')
    });
}

#[test]
fn stopped_helpers_end_their_commands_when_the_server_is_killed() {
    let mut server = Server::start(&mut fixtures!());
    let script =
        format!("{FIND_SERVER} kill -STOP $supervisor $worker; kill -KILL $server; sleep 1425");
    server.send("tools/call", &script_call("shell_run", &script));
    assert!(!server.wait().success());
    eventually("everything has exited", || {
        count_processes(&["sleep", "1425"]) == 0 && count_processes(&["sh", "-c", &script]) == 0
    });
}

#[test]
fn a_program_in_the_directory_of_a_call_is_not_started_for_a_relative_entry_of_path() {
    let folder = Folder::new();
    let hostile = folder.path().join("sh");
    fs::write(&hostile, "#!/bin/echo hostile").expect("written");
    fs::set_permissions(&hostile, Permissions::from_mode(0o755)).expect("set");
    let arguments = json!({"script": "echo \"$0\"", "directory": folder.text()});
    // `env` starts another program.
    let through_env = json!({"script": "env sh -c 'echo \"$0\"'", "directory": folder.text()});
    for path in [".:/usr/bin:/bin", ":/usr/bin:/bin", "./:..:/usr/bin:/bin"] {
        let mut server = Server::start(fixtures!().env("PATH", path));
        for arguments in [&arguments, &through_env] {
            assert_eq!(server.call("shell_run", arguments).text, "sh", "{path}");
        }
    }
    let mut server = Server::start(fixtures!().env("PATH", "."));
    let response = server.call("shell_run", &arguments);
    assert_eq!(
        response.text,
        "[stderr]\nCommand not found: sh\n\n[exit code: -1]"
    );
}
