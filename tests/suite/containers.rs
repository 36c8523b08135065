//! Commands in containers. Most tests replace docker by a program that records its arguments; those with
//! real containers need the image that `tests/containers.sh` makes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use climax_tests::{Folder, Server, count_processes, eventually, fixtures, run, send_signal};
use serde_json::json;

const POLICY: &str = "\
executor:
  type: docker
  image: alpine/git:latest
  volumes: [\"${PROJECT}:/workspace\", \"/tmp:/tmp:ro\"]
  working_dir: /workspace
  network: none
tools: {dump_stdin: {}, dump_nothing: {}, git_log: {}, shell_run: {}, shell_brief: {}}
";

/// A folder with a policy and a fake docker. The fake appends its arguments to the file `calls`, and sleeps if
/// it should run a shell.
fn folder(program: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let stand_in = folder.path().join(program);
    let script = format!(
        "#!/bin/sh\n\
         printf '%s ' {program} \"$@\" >> {folder}/calls\n\
         echo \"[$FROM_CONFIG]\" >> {folder}/calls\n\
         case \"$* \" in *' sh '*) sleep 600 & echo $$ $! > {folder}/client; wait;; esac\n\
         case \"$* \" in *' -i '*) cat;; esac\n",
        folder = folder.text()
    );
    fs::write(&stand_in, script).expect("written");
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).expect("a program");
    let policy = folder.path().join("policy.yaml");
    fs::write(&policy, POLICY).expect("written");
    (folder, policy)
}

/// The command of a server that finds the fake docker in its `PATH`, and no real docker or podman.
fn command(folder: &Folder, policy: &PathBuf) -> Command {
    let tools = folder.path().join("tools");
    if !tools.exists() {
        fs::create_dir(&tools).expect("a folder");
        for tool in ["sh", "sleep", "cat"] {
            let path = ["/bin", "/usr/bin"].map(|folder| PathBuf::from(folder).join(tool));
            let path = path.iter().find(|path| path.exists()).expect("a tool");
            std::os::unix::fs::symlink(path, tools.join(tool)).expect("a link");
        }
    }
    let mut command = fixtures!("--policy", policy);
    command
        .env("PATH", format!("{}:{}", folder.text(), tools.display()))
        .env("PROJECT", "/projects/mine");
    command
}

/// The command lines that the fake docker was started with.
fn docker_calls(folder: &Folder) -> Vec<String> {
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
    calls.lines().map(str::to_owned).collect()
}

/// The container's name in a docker command line.
fn container_name(line: &str) -> String {
    let mut words = line.split(' ').skip_while(|word| *word != "--name");
    let name = words.nth(1).expect("a name");
    assert!(name.starts_with("climax-"), "{line}");
    name.to_owned()
}

#[test]
fn a_command_runs_as_docker_run_with_the_policys_options() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    assert_eq!(server.call("git_log", &json!({})).text, "(no output)");
    let response = server.call("dump_stdin", &json!({"text": "some input"}));
    assert_eq!(response.text, "some input");
    let calls = docker_calls(&folder);
    let names: Vec<String> = calls.iter().map(|call| container_name(call)).collect();
    let options = "-v /projects/mine:/workspace -v /tmp:/tmp:ro --network none -w /workspace";
    assert_eq!(
        calls,
        [
            format!(
                "docker run --rm --name {} {options} alpine/git:latest echo git log -n 10 []",
                names[0]
            ),
            format!(
                "docker run --rm --name {} -i -e FROM_CONFIG {options} alpine/git:latest argdump \
                 [value = with $SIGNS]",
                names[1]
            ),
        ]
    );
    assert_ne!(names[0], names[1]);
}

#[test]
fn the_working_directory_of_a_call_is_a_path_in_the_container() {
    let (folder, policy) = folder("docker");
    fs::write(
        &policy,
        "executor: {type: docker, image: i, volumes: [\".:/w\"], working_dir: /w}\n\
                        tools: {dump_directory: {}, dump_nothing: {}}\n",
    )
    .expect("written");
    let mut server = Server::start(command(&folder, &policy).current_dir(folder.path()));
    for directory in ["/etc", "sub", "-x"] {
        assert!(
            !server
                .call("dump_directory", &json!({"where": directory}))
                .is_error
        );
    }
    server.call("dump_nothing", &json!({}));
    let ends: Vec<String> = docker_calls(&folder)
        .iter()
        .map(|line| line.split_once(" -v ").expect("a volume").1.to_owned())
        .collect();
    let volume = format!("{}:/w", folder.text());
    let expected = [
        "--workdir=/etc",
        "--workdir=/w/sub",
        "--workdir=/w/-x",
        "-w /w",
    ];
    let expected =
        expected.map(|option| format!("{volume} {option} i argdump [value = with $SIGNS]"));
    assert_eq!(ends, expected);
}

#[test]
fn roots_and_a_container_cannot_be_combined() {
    let (folder, policy) = folder("docker");
    let other = folder.path().join("other.yaml");
    fs::write(
        &other,
        "default: enabled\napproval: {global: none}\nroots: [/]\n",
    )
    .expect("written");
    let output = run(command(&folder, &policy).arg("--policy").arg(&other));
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("has `roots`, and commands run in a container"),
        "{stderr}"
    );
}

#[test]
fn podman_is_used_where_docker_is_missing() {
    let (folder, policy) = folder("podman");
    let mut server = Server::start(&mut command(&folder, &policy));
    server.call("git_log", &json!({}));
    assert!(docker_calls(&folder)[0].starts_with("podman run --rm --name "));
}

/// Waits until the container of the only call was removed and the docker client has ended.
fn assert_removed(folder: &Folder) {
    // The line may be read while it is written; its end is the list of variables.
    eventually("the container is removed", || {
        let calls = docker_calls(folder);
        calls.get(1).is_some_and(|call| call.ends_with(']'))
    });
    let calls = docker_calls(folder);
    let name = container_name(&calls[0]);
    assert_eq!(calls[1..], [format!("docker rm -f {name} []")]);
    for process in client_processes(folder) {
        let process = format!("/proc/{process}");
        eventually("the client ends", || {
            !fs::exists(&process).expect("a table")
        });
    }
}

/// The fake docker's process and its child.
fn client_processes(folder: &Folder) -> Vec<u32> {
    let text = fs::read_to_string(folder.path().join("client")).expect("a file");
    let numbers = text.split_whitespace();
    numbers
        .map(|number| number.parse().expect("a number"))
        .collect()
}

/// Starts a long call and waits until it runs.
fn long_call(server: &mut Server, folder: &Folder) -> u64 {
    let arguments = json!({"tool_name": "shell_run", "args": {"script": "sleep 600"}});
    let id = server.send(
        "tools/call",
        &json!({"name": "climax_call", "arguments": arguments}),
    );
    let client = folder.path().join("client");
    eventually("the call runs", || {
        fs::read_to_string(&client).is_ok_and(|text| text.ends_with('\n'))
    });
    id
}

#[test]
fn a_container_is_removed_when_its_call_times_out() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    let response = server.call("shell_brief", &json!({"script": "sleep 600"}));
    assert!(
        response.text.contains("Command timed out after 0.5s"),
        "{response:?}"
    );
    assert_removed(&folder);
}

#[test]
fn a_container_is_removed_when_its_call_is_cancelled() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    let id = long_call(&mut server, &folder);
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    assert_removed(&folder);
}

#[test]
fn a_container_is_removed_when_the_server_is_killed() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    long_call(&mut server, &folder);
    send_signal("KILL", server.id());
    assert_removed(&folder);
}

#[test]
fn a_container_is_removed_when_the_docker_client_is_killed() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    let id = long_call(&mut server, &folder);
    send_signal("KILL", client_processes(&folder)[0]);
    assert_removed(&folder);
    let response = server.wait_for(id);
    assert!(
        response.to_string().contains("[exit code: -9]"),
        "{response}"
    );
}

#[test]
fn an_unset_variable_in_a_volume_prevents_the_start() {
    let (folder, policy) = folder("docker");
    let output = run(command(&folder, &policy).env_remove("PROJECT"));
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = format!(
        "error[CLX063]: `${{PROJECT}}:/workspace` in this policy needs the variable PROJECT, which is not \
         set
 --> {}:4:13",
        policy.display()
    );
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn two_policies_with_different_containers_prevent_the_start() {
    let (folder, policy) = folder("docker");
    let other = folder.path().join("other.yaml");
    fs::write(&other, POLICY.replace("network: none", "network: host")).expect("written");
    let output = run(command(&folder, &policy).arg("--policy").arg(&other));
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error[CLX064]: "), "{stderr}");
    assert!(stderr.contains("name different containers"), "{stderr}");
    fs::write(&other, POLICY).expect("written");
    assert!(
        run(command(&folder, &policy).arg("--policy").arg(&other))
            .status
            .success()
    );
    // A policy without a container does not lift the container of the other.
    fs::write(&other, "executor: {type: local}\ntools: {git_log: {}}\n").expect("written");
    let mut server = Server::start(command(&folder, &policy).arg("--policy").arg(&other));
    server.call("git_log", &json!({}));
    assert!(docker_calls(&folder)[0].starts_with("docker run"));
}

#[test]
fn list_names_the_container_image() {
    let (_folder, policy) = folder("docker");
    let output = run(&mut fixtures!("list", "--policy", policy));
    let table = String::from_utf8_lossy(&output.stdout);
    let end = "5 tools in all\nCommands run in containers from the image alpine/git:latest\n";
    assert!(table.ends_with(end), "{table}");
}

// With real containers.

/// A server whose commands run in the image of `tests/containers.sh`. It finds podman and no docker.
fn start_with_podman() -> (Server, Folder) {
    let folder = Folder::new();
    let policy = "executor: {type: docker, image: localhost/climax-test, network: none,\n\
                  \x20          volumes: [\"$FOLDER:/data\"], working_dir: /data}\n\
                  tools: {dump_stdin: {}, shell_run: {}, shell_brief: {}}\n";
    fs::write(folder.path().join("policy.yaml"), policy).expect("written");
    let podman = run(Command::new("sh").args(["-c", "command -v podman"]));
    let podman = String::from_utf8_lossy(&podman.stdout).trim().to_owned();
    std::os::unix::fs::symlink(podman, folder.path().join("podman")).expect("a link");
    let policy = folder.path().join("policy.yaml");
    let mut command = fixtures!("--policy", policy);
    command
        .env("PATH", folder.path())
        .env("FOLDER", folder.path());
    (Server::start(&mut command), folder)
}

/// A server's containers, running or not.
fn containers(server: u32) -> Vec<String> {
    let output = run(Command::new("podman").args(["ps", "-a", "--format", "{{.Names}}"]));
    assert!(output.status.success(), "{output:?}");
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let prefix = format!("climax-{server}-");
    names
        .lines()
        .filter(|name| name.starts_with(&prefix))
        .map(str::to_owned)
        .collect()
}

fn assert_nothing_is_left(server: u32, words: &[&str]) {
    eventually("no container is left", || containers(server).is_empty());
    eventually("no process is left", || count_processes(words) == 0);
}

#[test]
#[ignore = "needs podman, see tests/containers.sh"]
fn real_containers_run_commands_and_are_removed() {
    let (mut server, folder) = start_with_podman();
    fs::write(folder.path().join("file"), "from outside\n").expect("written");
    let response = server.call(
        "shell_run",
        &json!({"script": "cat file; pwd; ls -d /usr || exit 3"}),
    );
    assert!(
        response.text.starts_with("from outside\n/data"),
        "{response:?}"
    );
    assert!(response.text.ends_with("[exit code: 3]"), "{response:?}");
    let response = server.call("dump_stdin", &json!({"text": "some input"}));
    assert_eq!(
        response.text,
        "input: some input\nvariable: value = with $SIGNS"
    );
    assert_nothing_is_left(server.id(), &["argdump"]);
}

#[test]
#[ignore = "needs podman, see tests/containers.sh"]
fn real_containers_are_removed_when_their_calls_end_early() {
    let (mut server, folder) = start_with_podman();
    let response = server.call("shell_brief", &json!({"script": "trap '' TERM; sleep 601"}));
    assert!(
        response.text.contains("Command timed out after 0.5s"),
        "{response:?}"
    );
    assert_nothing_is_left(server.id(), &["sleep", "601"]);

    let script = "trap '' TERM; echo here > started; sleep 602";
    let arguments = json!({"tool_name": "shell_run", "args": {"script": script}});
    let params = json!({"name": "climax_call", "arguments": arguments});
    let id = server.send("tools/call", &params);
    let started = folder.path().join("started");
    eventually("it runs", || started.exists());
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    assert_nothing_is_left(server.id(), &["sleep", "602"]);

    fs::remove_file(&started).expect("removed");
    server.send("tools/call", &params);
    eventually("it runs", || started.exists());
    assert!(!containers(server.id()).is_empty());
    let id = server.id();
    send_signal("KILL", id);
    assert_nothing_is_left(id, &["sleep", "602"]);
}
