//! Commands cannot reach the server that runs them. All servers here run as a user other than root, because root
//! may do everything.

use std::fs;
use std::process::Command;

use climax_tests::{
    OtherUser, Server, count_processes, descendants, eventually, find_processes, mark, script_call,
    server,
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
