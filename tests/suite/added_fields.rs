//! Fields that CLImax for Python does not have, with scripts as programs: `as_file` and `pass_env`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use climax_tests::{Folder, Server, eventually, run, send_signal, server};
use serde_json::{Value, json};

/// A server of the golden file with added fields, with a script as its program and its own temporary folder.
fn serve(folder: &Folder, script: &str) -> Server {
    Server::start(&mut golden(folder, script))
}

fn golden(folder: &Folder, script: &str) -> Command {
    write_script(&folder.path().join("program"), script);
    let mut command = server!(env!("CARGO_BIN_EXE_golden"));
    let path = format!("{}:/usr/bin:/bin", folder.text());
    command
        .env("GOLDEN", "added_fields")
        .env("PATH", path)
        .env("PROGRAM_TOKEN", "")
        .env("TMPDIR", folder.path());
    command
}

fn write_script(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// The files and folders below a folder, apart from the folder of all servers.
fn temporary_files(folder: &Folder) -> Vec<PathBuf> {
    fn visit(path: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            found.push(entry.path());
            visit(&entry.path(), found);
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.path()).expect("a folder").flatten() {
        if entry.file_name().to_string_lossy().starts_with("climax-") {
            visit(&entry.path(), &mut found);
        }
    }
    found
}

#[test]
fn a_command_reads_the_text_from_a_private_file_that_ends_with_the_call() {
    let folder = Folder::new();
    let script = r#"cat "$3"; stat -c %a "$3" "$(dirname "$3")""#;
    let mut server = serve(&folder, script);
    let args = json!({"manifest": "kind: Pod\n", "rest": "x"});
    let response = server.call("places", &args);
    assert_eq!(response.text, "kind: Pod\n600\n700");
    // The folder of the server stays as long as it runs.
    assert_eq!(temporary_files(&folder).len(), 1);
    drop(server);
    eventually("nothing is left", || temporary_files(&folder).is_empty());
}

#[test]
fn the_worker_removes_the_file_if_the_server_is_killed() {
    let folder = Folder::new();
    let started = folder.path().join("started");
    let script = format!("echo > {}; sleep 1393", started.display());
    let mut server = serve(&folder, &script);
    let call = json!({"tool_name": "places", "args": {"manifest": "secret", "rest": "x"}});
    let _ = server.send(
        "tools/call",
        &json!({"name": "climax_call", "arguments": call}),
    );
    eventually("it runs", || started.exists());
    let has_file = || temporary_files(&folder).iter().any(|path| path.is_file());
    assert!(has_file());
    send_signal("KILL", server.id());
    eventually("the file is gone", || !has_file());
    // The empty folder of the killed server is removed by the next one.
    let mut next = serve(&folder, "true");
    assert!(
        !next
            .call("places", &json!({"manifest": "", "rest": "x"}))
            .is_error
    );
    assert_eq!(temporary_files(&folder).len(), 1);
}

#[test]
fn a_container_gets_the_directory_of_the_files() {
    let folder = Folder::new();
    let mut command = golden(&folder, "true");
    write_script(&folder.path().join("docker"), r#"printf '%s\n' "$@""#);
    let policy = folder.path().join("policy.yaml");
    let text = "default: enabled\nexecutor: {type: docker, image: alpine}\n";
    fs::write(&policy, text).expect("a policy");
    let mut server = Server::start(command.arg("--policy").arg(policy));
    let response = server.call("places", &json!({"manifest": "a", "rest": "x"}));
    let words: Vec<&str> = response.text.lines().collect();
    let file = words.iter().find(|word| word.ends_with("/manifest-1.yaml"));
    let file = Path::new(file.expect("the path of the file"));
    let directory = file.parent().and_then(Path::to_str).expect("a directory");
    let volume = format!("{directory}:{directory}:ro");
    let position = words.iter().position(|word| *word == volume);
    let position = position.expect("a volume");
    assert_eq!(words[position - 1], "-v", "{words:?}");
    let image = words.iter().position(|word| *word == "alpine");
    assert!(image > Some(position), "{words:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_reported_and_nothing_runs() {
    let folder = Folder::new();
    let mut server = serve(&folder, "echo ran");
    let uid = fs::metadata(folder.path()).expect("a folder");
    let uid = std::os::unix::fs::MetadataExt::uid(&uid);
    fs::write(folder.path().join(format!("climax-{uid}")), "").expect("a file in its place");
    let response = server.call("places", &json!({"manifest": "", "rest": "x"}));
    assert!(response.is_error);
    assert!(
        response
            .text
            .contains("Cannot write the files of the call: "),
        "{response:?}"
    );
}

#[test]
fn text_that_begins_like_a_json_list_or_object_must_be_one() {
    let folder = Folder::new();
    let mut server = serve(&folder, "echo ran");
    for (arguments, line) in [
        (
            json!({"files": "[\"a.txt\""}),
            "Argument 'files': '[\"a.txt\"' is not a valid JSON list",
        ),
        (
            json!({"files": ["a"], "labels": "{\"team\": web}"}),
            "Argument 'labels': '{\"team\": web}' is not a valid JSON object",
        ),
    ] {
        let response = server.call("lists", &arguments);
        assert!(
            response.is_error && response.text.contains(line),
            "{response:?}"
        );
    }
    // A glob is no JSON.
    let response = server.call("lists", &json!({"files": "[ab].txt"}));
    assert_eq!((response.text.as_str(), response.is_error), ("ran", false));
}

#[test]
fn keywords_and_requests_are_found_but_not_shown() {
    let folder = Folder::new();
    let mut server = serve(&folder, "true");
    // A keyword, a keyword in a sentence, and words of a request only.
    for query in [
        "gather",
        "please gather something",
        "something under a label",
    ] {
        let response = server.search(&json!({"query": query}));
        assert_eq!(response["results"][0]["tool_name"], "lists", "{query}");
        assert!(!response.to_string().contains("gather"), "{response}");
    }
}

#[test]
fn the_examples_of_the_config_are_shown() {
    let folder = Folder::new();
    let output = run(golden(&folder, "true").args(["show", "lists", "--json"]));
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let example = &shown["examples"][0];
    assert_eq!(
        example["arguments"]["args"],
        json!({"files": ["a.txt", "b.txt"], "level": [1, 2], "labels": {"team": "web"}})
    );
    assert_eq!(
        example["command_line"],
        "program $PROGRAM_TOKEN run a.txt b.txt --fields name,size -l 1 -l 2 --label team=web"
    );
}

#[test]
fn a_list_or_map_that_a_policy_requires_must_not_be_empty_and_examples_without_it_are_gone() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    let text = "tools:\n  lists:\n    args:\n      level: {required: true}\n      labels: {required: true}\n      \
                fields: {required: true}\n";
    fs::write(&policy, text).expect("a policy");
    let mut command = golden(&folder, "true");
    let mut server = Server::start(command.arg("--policy").arg(&policy));
    let args = json!({"files": ["a"], "level": [], "labels": {}});
    let text = server.call("lists", &args).text;
    for name in ["level", "labels", "fields"] {
        assert!(
            text.contains(&format!("Missing required argument '{name}'")),
            "{text}"
        );
    }
    // The config's example has no `fields`.
    let output = run(golden(&folder, "true")
        .args(["show", "lists", "--json", "--policy"])
        .arg(&policy));
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let example = &shown["examples"][0]["arguments"]["args"];
    assert!(example["fields"].is_array(), "{shown}");
}

#[test]
fn limits_of_a_policy_apply_to_every_item_and_entry() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    let text = "default: disabled\ntools:\n  lists:\n    args:\n      level: {max: 5}\n      labels: {pattern: \"team=.*\"}\n";
    fs::write(&policy, text).expect("a policy");
    let mut command = golden(&folder, "true");
    let mut server = Server::start(command.arg("--policy").arg(policy));
    let args = json!({"level": [1, 6], "labels": {"team": "web", "size": "3"}});
    assert_eq!(
        server.call("lists", &args).text,
        "Policy validation failed:\n  - Argument 'level': value 6 exceeds maximum 5.0\n  - Argument 'labels': value \
         'size=3' does not match pattern 'team=.*'"
    );
    let allowed = json!({"level": [1, 5], "labels": {"team": "web"}});
    assert!(!server.call("lists", &allowed).is_error);
}

/// The variables that the program gets, of those that look like secrets.
fn secrets(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let mut command = golden(folder, "env | grep -E '_(TOKEN|KEY)=' | sort");
    command.args(arguments).env("PROGRAM_TOKEN", "0");
    for name in ["API_TOKEN", "AWS_SESSION_TOKEN", "GH_TOKEN"] {
        command.env(name, "1");
    }
    let response = Server::start(&mut command).call("lists", &json!({"files": "a"}));
    assert!(!response.is_error, "{response:?}");
    let lines = response
        .text
        .lines()
        .filter_map(|line| line.split('=').next());
    lines.map(str::to_owned).collect()
}

#[test]
fn a_program_gets_the_secrets_that_its_config_needs() {
    let folder = Folder::new();
    let needed = ["API_TOKEN", "AWS_SESSION_TOKEN", "PROGRAM_TOKEN"];
    assert_eq!(secrets(&folder, &["--env", "safe"]), needed);
    let all = secrets(&folder, &[]);
    assert!(all.contains(&"GH_TOKEN".to_owned()), "{all:?}");
    let policy = |env: &str| {
        let path = folder.path().join("policy.yaml");
        fs::write(&path, format!("default: enabled\nenv: {env}\n")).expect("a policy");
        path.to_str().expect("UTF-8").to_owned()
    };
    let denied = policy("{inherit: safe, deny: [API_TOKEN]}");
    assert_eq!(secrets(&folder, &["--policy", &denied]), &needed[1..]);
    // A flag cannot loosen a policy, and a config cannot loosen `minimal`.
    assert_eq!(
        secrets(&folder, &["--policy", &denied, "--env", "all"]),
        &needed[1..]
    );
    let minimal = policy("{inherit: minimal, allow: [AWS_SESSION_TOKEN]}");
    assert_eq!(secrets(&folder, &["--policy", &minimal]), &needed[1..2]);
}

#[test]
fn the_log_does_not_name_secrets_that_the_program_got() {
    let folder = Folder::new();
    let log = folder.path().join("log");
    let mut command = golden(&folder, "exit 3");
    command
        .args(["--env", "safe"])
        .env("CLIMAX_LOG_FILE", &log)
        .envs([("API_TOKEN", "1"), ("GH_TOKEN", "1")]);
    let mut server = Server::start(&mut command);
    assert!(server.call("lists", &json!({"files": "a"})).is_error);
    drop(server);
    let log = fs::read_to_string(log).expect("a log");
    assert!(log.contains("variables held back: GH_TOKEN"), "{log}");
    assert!(!log.contains("API_TOKEN"), "{log}");
}
