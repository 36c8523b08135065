//! The environment variables and working directories that policies allow to commands.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use climax_tests::{
    Folder, Server, count_open_files, eventually, fixtures, guarded, run, tool_response,
};
use serde_json::{Value, json};

fn write_policy(folder: &Folder, policy: &str) -> PathBuf {
    let path = folder.path().join("policy.yaml");
    fs::write(&path, policy).expect("written");
    path
}

/// The names of a command's environment variables, without those that the shell sets.
fn variables(command: &mut Command) -> Vec<String> {
    let mut server = Server::start(
        command
            .env_clear()
            .envs([
                ("PATH", "/usr/bin:/bin"),
                ("HOME", "/"),
                ("LC_TIME", "C"),
                ("TZ", "UTC"),
            ])
            .envs([
                ("AWS_SECRET", "x"),
                ("GIT_DIR", "x"),
                ("GIT_SSH", "x"),
                ("CLIMAX_X", "x"),
            ]),
    );
    let script =
        "env | cut -d= -f1 | grep -v -e '^PWD$' -e '^_$' -e '^SHLVL$' -e '^OLDPWD$' | sort";
    let response = server.call("shell_run", &json!({"script": script}));
    assert!(!response.is_error, "{response:?}");
    response.text.lines().map(str::to_owned).collect()
}

#[test]
fn commands_inherit_only_the_variables_that_the_policy_allows() {
    let folder = Folder::new();
    for (env, names) in [
        (
            "",
            vec![
                "AWS_SECRET",
                "GIT_DIR",
                "GIT_SSH",
                "HOME",
                "LC_TIME",
                "PATH",
                "TZ",
            ],
        ),
        (
            "env: {deny: [AWS_*]}",
            vec!["GIT_DIR", "GIT_SSH", "HOME", "LC_TIME", "PATH", "TZ"],
        ),
        (
            "env: {inherit: safe}",
            vec!["GIT_DIR", "GIT_SSH", "HOME", "LC_TIME", "PATH", "TZ"],
        ),
        (
            "env: {inherit: safe, allow: [AWS_*], deny: [GIT_*]}",
            vec!["AWS_SECRET", "HOME", "LC_TIME", "PATH", "TZ"],
        ),
        (
            "env: {inherit: minimal}",
            vec!["HOME", "LC_TIME", "PATH", "TZ"],
        ),
        (
            "env: {inherit: minimal, allow: [GIT_*], deny: [GIT_SSH, TZ]}",
            vec!["GIT_DIR", "HOME", "LC_TIME", "PATH"],
        ),
    ] {
        let policy = format!("tools: {{shell_run: {{}}}}\n{env}\n");
        let policy = write_policy(&folder, &policy);
        assert_eq!(
            variables(&mut fixtures!("--policy", policy)),
            names,
            "{env}"
        );
    }
}

#[test]
fn the_env_option_holds_variables_back_and_cannot_loosen_a_policy() {
    let safe = ["GIT_DIR", "GIT_SSH", "HOME", "LC_TIME", "PATH", "TZ"];
    let minimal = ["HOME", "LC_TIME", "PATH", "TZ"];
    assert_eq!(variables(&mut fixtures!("--env", "safe")), safe);
    assert_eq!(variables(&mut fixtures!("--env", "minimal")), minimal);
    let folder = Folder::new();
    for (policy, option, names) in [
        ("safe", "all", safe.as_slice()),
        ("safe, allow: [AWS_*]", "safe", &safe),
        ("minimal", "safe", &minimal),
        ("safe", "minimal", &minimal),
    ] {
        let policy = format!("tools: {{shell_run: {{}}}}\nenv: {{inherit: {policy}}}\n");
        let path = write_policy(&folder, &policy);
        let mut command = fixtures!("--policy", path, "--env", option);
        assert_eq!(variables(&mut command), names, "{policy} {option}");
    }
}

#[test]
fn the_log_names_the_variables_that_were_held_back_when_a_call_fails() {
    let folder = Folder::new();
    let log = folder.path().join("log");
    let mut command = fixtures!("--env", "safe");
    let command = command
        .env("CLIMAX_LOG_FILE", &log)
        .envs([("SOME_TOKEN", "value-1"), ("OTHER_KEY", "value-2")]);
    let mut server = Server::start(command);
    server.call("shell_run", &json!({"script": "true"}));
    server.call("shell_run", &json!({"script": "exit 3"}));
    assert!(server.close().0.success());
    let text = fs::read_to_string(log).expect("a log");
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("held back"))
        .collect();
    let [line] = lines[..] else { panic!("{text}") };
    assert!(
        line.contains("failed") && line.contains("OTHER_KEY"),
        "{line}"
    );
    assert!(
        line.contains("SOME_TOKEN") && !text.contains("value-"),
        "{text}"
    );
}

#[test]
fn variables_of_a_config_are_set_whatever_the_policy_denies() {
    let mut server = Server::start(&mut guarded!());
    let dumped = server
        .call("dump_defaults", &json!({"directory": "/usr"}))
        .json();
    assert_eq!(dumped["from_config"], "value = with $SIGNS");
    assert_eq!(dumped["inherited"], Value::Null);
}

/// A server with two roots, the folders `in` and `nested`, and the folder that contains them.
fn start_with_roots() -> (Server, Folder) {
    start_with_roots_and(&[])
}

fn start_with_roots_and(arguments: &[&str]) -> (Server, Folder) {
    let folder = Folder::new();
    for path in ["in/deep", "out", "inside"] {
        fs::create_dir_all(folder.path().join(path)).expect("folders");
    }
    symlink("../out", folder.path().join("in/away")).expect("a link");
    symlink("in/deep", folder.path().join("back")).expect("a link");
    let policy =
        "tools: {dump_directory: {}, shell_run: {}}\nroots: [\"$ROOT/in\", \"$ROOT/nested\"]\n";
    let policy = write_policy(&folder, policy);
    fs::create_dir(folder.path().join("nested")).expect("a folder");
    let mut command = fixtures!("--policy", policy);
    let server = Server::start(command.args(arguments).env("ROOT", folder.path()));
    (server, folder)
}

#[test]
fn the_working_directory_of_a_call_must_be_within_the_roots() {
    let (mut server, folder) = start_with_roots();
    for (path, real) in [
        ("in", "in"),
        ("in/", "in"),
        ("in/deep", "in/deep"),
        ("in/deep/../deep/.", "in/deep"),
        ("out/../in/deep", "in/deep"),
        ("back", "in/deep"),
        ("nested", "nested"),
    ] {
        let response = server.call(
            "dump_directory",
            &json!({"where": folder.path().join(path)}),
        );
        let real = folder.path().join(real);
        assert_eq!(response.json()["cwd"], json!(real), "{path}");
    }
    for path in [
        "",
        "out",
        "inside",
        "in/..",
        "in/../out",
        "in/away",
        "in/deep/../../out",
        "/",
    ] {
        let path = folder.path().join(path);
        let response = server.call("dump_directory", &json!({"where": path}));
        assert!(response.is_error);
        assert_eq!(
            response.text,
            format!(
                "Policy validation failed:\n  - Working directory '{}' is outside of the directories \
                 that the policy allows",
                path.display()
            )
        );
    }
    let nowhere = folder.path().join("in/nowhere");
    let response = server.call("dump_directory", &json!({"where": nowhere}));
    assert!(response.text.contains("cannot be opened"), "{response:?}");
    // Roots do not apply to the server's own directory, which the agent does not choose.
    assert!(!server.call("dump_directory", &json!({})).is_error);
}

#[test]
fn a_command_runs_in_the_directory_that_was_checked_even_if_its_path_changes() {
    let (mut server, folder) = start_with_roots();
    // While calls run, the path is by turns a folder inside the roots and a link to one outside.
    let (path, other) = (folder.path().join("in/swap"), folder.path().join("in/real"));
    fs::create_dir(&path).expect("a folder");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let outcomes: Vec<String> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&path, &other).expect("renamed");
                symlink(folder.path().join("out"), &path).expect("a link");
                fs::remove_file(&path).expect("removed");
                fs::rename(&other, &path).expect("renamed");
            }
        });
        let outcomes = (0..200)
            .map(|_| {
                server
                    .call("shell_run", &json!({"script": "pwd -P", "directory": path}))
                    .text
            })
            .collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        outcomes
    });
    let outside = folder.path().join("out").display().to_string();
    assert!(!outcomes.contains(&outside), "a command ran outside");
    let inside = folder.path().join("in").display().to_string();
    assert!(
        outcomes.iter().any(|outcome| outcome.starts_with(&inside)),
        "{outcomes:?}"
    );
}

#[test]
fn the_working_directory_of_a_call_does_not_affect_the_next() {
    let (mut server, folder) = start_with_roots();
    let here = server.call("dump_directory", &json!({})).json()["cwd"].clone();
    let inside = folder.path().join("in");
    let response = server.call("dump_directory", &json!({"where": inside}));
    assert_eq!(response.json()["cwd"], json!(inside));
    assert_eq!(
        server.call("dump_directory", &json!({})).json()["cwd"],
        here
    );
}

#[test]
fn waiting_calls_hold_no_directory_open() {
    let (mut server, folder) = start_with_roots_and(&["--max-concurrent", "1"]);
    let inside = folder.path().join("in");
    let call = |script: &str| {
        let arguments = json!({"script": script, "directory": inside});
        let arguments = json!({"tool_name": "shell_run", "args": arguments});
        json!({"name": "climax_call", "arguments": arguments})
    };
    let started = folder.path().join("started");
    let first = call(&format!("touch {}; sleep 600", started.display()));
    let first = server.send("tools/call", &first);
    eventually("the first call runs", || started.exists());
    let before = count_open_files(server.id());
    let others: Vec<u64> = (0..50)
        .map(|_| server.send("tools/call", &call("pwd")))
        .collect();
    server.request("ping", &json!({}));
    assert!(count_open_files(server.id()) < before + 10);
    server.notify("notifications/cancelled", &json!({"requestId": first}));
    for other in others {
        let response = tool_response(&server.wait_for(other));
        assert_eq!(response.text, inside.display().to_string());
    }
}

#[test]
fn roots_must_exist_when_the_server_starts() {
    let folder = Folder::new();
    let policy = write_policy(
        &folder,
        "tools: {git_log: {}}\nroots: [\"$ROOT/x\", /no/such]\n",
    );
    let output = run(fixtures!("--policy", &policy).env_remove("ROOT"));
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    for part in [
        format!(
            "error[CLX063]: `$ROOT/x` in this policy needs the variable ROOT, which is not set
 --> {}:2:9",
            policy.display()
        ),
        format!(
            "error[CLX062]: the root `/no/such` in this policy cannot be used: No such file or \
             directory (os error 2)
 --> {}:2:20",
            policy.display()
        ),
    ] {
        assert!(stderr.contains(&part), "{part} is not in:\n{stderr}");
    }
    // An empty variable would make it another directory.
    let output = run(fixtures!("--policy", &policy).env("ROOT", ""));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("needs the variable ROOT, which is not set"),
        "{stderr}"
    );
    // `list` runs no commands, so the roots need not exist.
    assert!(
        run(&mut fixtures!("list", "--policy", &policy))
            .status
            .success()
    );
}
