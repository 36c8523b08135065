//! Commands in containers: what docker is asked for, by a program that writes it down; and with real
//! containers, which `tests/containers.sh` prepares.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use climax_tests::{Folder, Server, eventually, fixtures, kill, processes, run};
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

/// A folder with a policy in it and a program that stands in for docker: it writes its words into the
/// file `said`, and sleeps if it is to run a shell.
fn folder(program: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let stand_in = folder.path().join(program);
    let script = format!(
        "#!/bin/sh\n\
         printf '%s ' {program} \"$@\" >> {folder}/said\n\
         echo \"[$FROM_CONFIG]\" >> {folder}/said\n\
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

/// A server that finds the stand-in, and no docker or podman.
fn command(folder: &Folder, policy: &PathBuf) -> Command {
    let tools = folder.path().join("tools");
    if !tools.exists() {
        fs::create_dir(&tools).expect("a folder");
        for tool in ["sh", "sleep", "cat"] {
            let path = ["/bin", "/usr/bin"].map(|place| PathBuf::from(place).join(tool));
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

/// What the stand-in was told, line by line.
fn said(folder: &Folder) -> Vec<String> {
    let said = fs::read_to_string(folder.path().join("said")).unwrap_or_default();
    said.lines().map(str::to_owned).collect()
}

/// The container's name in what docker was asked for.
fn name(line: &str) -> String {
    let mut words = line.split(' ').skip_while(|word| *word != "--name");
    let name = words.nth(1).expect("a name");
    assert!(name.starts_with("climax-"), "{line}");
    name.to_owned()
}

#[test]
fn a_command_line_follows_what_docker_needs() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    assert_eq!(server.call("git_log", &json!({})).text, "(no output)");
    let answer = server.call("dump_stdin", &json!({"text": "some input"}));
    assert_eq!(answer.text, "some input");
    let said = said(&folder);
    let names: Vec<String> = said.iter().map(|line| name(line)).collect();
    let options = "-v /projects/mine:/workspace -v /tmp:/tmp:ro --network none -w /workspace";
    assert_eq!(
        said,
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
fn a_calls_directory_is_one_in_the_container() {
    let (folder, policy) = folder("docker");
    fs::write(
        &policy,
        "executor: {type: docker, image: i, volumes: [\".:/w\"], working_dir: /w}\n\
                        tools: {dump_directory: {}, dump_nothing: {}}\n",
    )
    .expect("written");
    let mut server = Server::start(command(&folder, &policy).current_dir(folder.path()));
    for place in ["/etc", "sub", "-x"] {
        assert!(
            !server
                .call("dump_directory", &json!({"where": place}))
                .is_error
        );
    }
    server.call("dump_nothing", &json!({}));
    let ends: Vec<String> = said(&folder)
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
        expected.map(|place| format!("{volume} {place} i argdump [value = with $SIGNS]"));
    assert_eq!(ends, expected);
}

#[test]
fn roots_mean_nothing_in_a_container() {
    let (folder, policy) = folder("docker");
    let other = folder.path().join("other.yaml");
    fs::write(
        &other,
        "default: enabled\napproval: {global: none}\nroots: [/]\n",
    )
    .expect("written");
    let output = run(command(&folder, &policy).arg("--policy").arg(&other));
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("has `roots`, and commands run in a container"),
        "{said}"
    );
}

#[test]
fn podman_stands_in_where_there_is_no_docker() {
    let (folder, policy) = folder("podman");
    let mut server = Server::start(&mut command(&folder, &policy));
    server.call("git_log", &json!({}));
    assert!(said(&folder)[0].starts_with("podman run --rm --name "));
}

/// Waits until the container of the only call was removed, and what asked for it is gone.
fn assert_removed(folder: &Folder) {
    eventually("the container is removed", || said(folder).len() > 1);
    let said = said(folder);
    let name = name(&said[0]);
    assert_eq!(said[1..], [format!("docker rm -f {name} []")]);
    for process in client(folder) {
        let place = format!("/proc/{process}");
        eventually("the client ends", || !fs::exists(&place).expect("a table"));
    }
}

/// The processes of what stands in for docker: itself and its child.
fn client(folder: &Folder) -> Vec<u32> {
    let text = fs::read_to_string(folder.path().join("client")).expect("a file");
    let numbers = text.split_whitespace();
    numbers
        .map(|number| number.parse().expect("a number"))
        .collect()
}

/// Starts a call that takes long, and waits until it runs.
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
fn a_container_ends_with_its_call() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    let answer = server.call("shell_brief", &json!({"script": "sleep 600"}));
    assert!(
        answer.text.contains("Command timed out after 0.5s"),
        "{answer:?}"
    );
    assert_removed(&folder);
}

#[test]
fn a_container_ends_when_its_call_is_cancelled() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    let id = long_call(&mut server, &folder);
    server.notify("notifications/cancelled", &json!({"requestId": id}));
    assert_removed(&folder);
}

#[test]
fn a_container_ends_when_the_server_is_killed() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    long_call(&mut server, &folder);
    kill("KILL", server.id());
    assert_removed(&folder);
}

#[test]
fn a_container_ends_when_its_client_is_killed() {
    let (folder, policy) = folder("docker");
    let mut server = Server::start(&mut command(&folder, &policy));
    let id = long_call(&mut server, &folder);
    kill("KILL", client(&folder)[0]);
    assert_removed(&folder);
    let answer = server.wait_for(id);
    assert!(answer.to_string().contains("[exit code: -9]"), "{answer}");
}

#[test]
fn an_unset_variable_refuses_the_start() {
    let (folder, policy) = folder("docker");
    let output = run(command(&folder, &policy).env_remove("PROJECT"));
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = format!(
        "error[CLX063]: `${{PROJECT}}:/workspace` in this policy needs the variable PROJECT, which is not \
         set
 --> {}:4:13",
        policy.display()
    );
    assert!(said.starts_with(&expected), "{said}");
}

#[test]
fn two_policies_with_different_containers_refuse_the_start() {
    let (folder, policy) = folder("docker");
    let other = folder.path().join("other.yaml");
    fs::write(&other, POLICY.replace("network: none", "network: host")).expect("written");
    let output = run(command(&folder, &policy).arg("--policy").arg(&other));
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error[CLX064]: "), "{said}");
    assert!(said.contains("name different containers"), "{said}");
    fs::write(&other, POLICY).expect("written");
    assert!(
        run(command(&folder, &policy).arg("--policy").arg(&other))
            .status
            .success()
    );
    // One that says nothing about it does not let commands out.
    fs::write(&other, "executor: {type: local}\ntools: {git_log: {}}\n").expect("written");
    let mut server = Server::start(command(&folder, &policy).arg("--policy").arg(&other));
    server.call("git_log", &json!({}));
    assert!(self::said(&folder)[0].starts_with("docker run"));
}

#[test]
fn the_list_says_that_there_are_containers() {
    let (_folder, policy) = folder("docker");
    let output = run(&mut fixtures!("list", "--policy", policy));
    let shown = String::from_utf8_lossy(&output.stdout);
    let end = "5 tools in all\nCommands run in containers from the image alpine/git:latest\n";
    assert!(shown.ends_with(end), "{shown}");
}

// With real containers.

/// A server whose commands run in an image with a shell and an `argdump` that shows its input and
/// variables. It finds podman and no docker.
fn real() -> (Server, Folder) {
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

/// The containers that there are, running or not, of a server.
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
    eventually("no process is left", || processes(words) == 0);
}

#[test]
#[ignore = "needs podman, see tests/containers.sh"]
fn real_containers_run_commands_and_go() {
    let (mut server, folder) = real();
    fs::write(folder.path().join("file"), "from outside\n").expect("written");
    let answer = server.call(
        "shell_run",
        &json!({"script": "cat file; pwd; ls -d /usr || exit 3"}),
    );
    assert!(answer.text.starts_with("from outside\n/data"), "{answer:?}");
    assert!(answer.text.ends_with("[exit code: 3]"), "{answer:?}");
    let answer = server.call("dump_stdin", &json!({"text": "some input"}));
    assert_eq!(
        answer.text,
        "input: some input\nvariable: value = with $SIGNS"
    );
    assert_nothing_is_left(server.id(), &["argdump"]);
}

#[test]
#[ignore = "needs podman, see tests/containers.sh"]
fn real_containers_end_with_their_calls() {
    let (mut server, folder) = real();
    let answer = server.call("shell_brief", &json!({"script": "trap '' TERM; sleep 601"}));
    assert!(
        answer.text.contains("Command timed out after 0.5s"),
        "{answer:?}"
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
    kill("KILL", id);
    assert_nothing_is_left(id, &["sleep", "602"]);
}
