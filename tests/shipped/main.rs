//! The shipped configs and policies, run with real programs.

mod files;
mod machine;
mod programs;
mod requests;
mod undo;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use climax_tests::{Folder, Server, run};
use serde_json::{Value, json};

fn climax() -> Command {
    Command::new(env!("CARGO_BIN_EXE_climax"))
}

/// A server whose git ignores the machine's configuration.
fn server() -> Server {
    Server::start(
        climax()
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org"),
    )
}

fn call(server: &mut Server, tool: &str, args: &Value) -> String {
    let response = server.call(tool, args);
    assert!(!response.is_error, "{tool} {args}: {response:?}");
    response.text
}

/// A repository with one commit and an uncommitted change.
fn repository(server: &mut Server, message: &str) -> Folder {
    let folder = Folder::new();
    let (repo, file) = (folder.text(), folder.path().join("file.txt"));
    call(server, "git_init", &json!({"directory": repo}));
    fs::write(&file, "one\n").expect("a file");
    call(
        server,
        "git_add",
        &json!({"directory": repo, "path": "file.txt"}),
    );
    call(
        server,
        "git_commit",
        &json!({"directory": repo, "message": message}),
    );
    fs::write(&file, "two\n").expect("a file");
    folder
}

#[test]
fn list_shows_the_shipped_tools() {
    let output = run(climax().arg("list"));
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["git_status", "git_commit", "read_file", "tools in all"] {
        assert!(table.contains(part), "{table}");
    }
}

#[test]
fn a_repository_can_be_created_changed_and_read() {
    let mut server = server();
    let folder = repository(&mut server, "-- first: $(id)");
    let repo = folder.text();
    let status = call(&mut server, "git_status", &json!({"directory": repo}));
    assert!(status.lines().any(|line| line == " M file.txt"), "{status}");
    let diff = call(
        &mut server,
        "git_diff",
        &json!({"directory": repo, "path": "file.txt"}),
    );
    assert!(diff.contains("-one\n+two"), "{diff}");
    let log = call(
        &mut server,
        "git_log",
        &json!({"directory": repo, "max_count": "1"}),
    );
    assert!(log.contains("-- first: $(id)"), "{log}");
}

#[test]
fn a_path_that_looks_like_an_option_is_not_used_as_one() {
    let folder = Folder::new();
    let repo = folder.text();
    let mut server = server();
    call(&mut server, "git_init", &json!({"directory": repo}));
    let written = folder.path().join("written");
    let path = format!("--output={}", written.display());
    for tool in ["git_diff", "git_log", "git_status"] {
        let response = server.call(tool, &json!({"directory": repo, "path": path}));
        assert!(!written.exists(), "{tool}: {response:?}");
        assert!(
            !response.text.contains("Unknown tool"),
            "{tool}: {response:?}"
        );
    }
}

#[test]
fn reading_a_hostile_repository_executes_none_of_its_hooks_or_programs() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let repo = folder.text();

    let sprung = folder.path().join("sprung");
    let trap = folder.path().join("trap");
    let script = format!("#!/bin/sh\ntouch '{}'\n", sprung.display());
    fs::write(&trap, script).expect("a script");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("executable");
    let git = || {
        let mut git = Command::new("git");
        git.current_dir(repo).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git
    };
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.editor",
    ] {
        run(git().args(["config", key]).arg(&trap));
    }
    for hook in [
        "post-index-change",
        "reference-transaction",
        "post-checkout",
    ] {
        fs::copy(&trap, folder.path().join(".git/hooks").join(hook)).expect("a hook");
    }
    run(git().arg("status"));
    assert!(sprung.exists(), "the trap works");
    fs::remove_file(&sprung).expect("there");

    for tool in [
        "git_status",
        "git_diff",
        "git_log",
        "git_branch_list",
        "git_ls_files",
    ] {
        call(&mut server, tool, &json!({"directory": repo}));
        assert!(!sprung.exists(), "{tool}");
    }
    call(
        &mut server,
        "git_show",
        &json!({"directory": repo, "revision": "HEAD"}),
    );
    assert!(!sprung.exists(), "git_show");
}

#[test]
fn files_can_be_written_read_and_searched() {
    let folder = Folder::new();
    let directory = folder.text();
    let mut server = server();
    let text = "alpha\nbeta\ngamma\n";
    call(
        &mut server,
        "write_file",
        &json!({"directory": directory, "path": "a.txt", "content": text}),
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).expect("a file"),
        text
    );
    let read = call(
        &mut server,
        "read_file",
        &json!({"directory": directory, "path": "a.txt"}),
    );
    assert_eq!(read, text.trim_end());
    let found = call(
        &mut server,
        "search_text",
        &json!({"directory": directory, "pattern": "bet", "path": "a.txt"}),
    );
    assert!(found.contains("beta"), "{found}");
    let files = call(&mut server, "list_files", &json!({"directory": directory}));
    assert!(files.contains("a.txt"), "{files}");
}

#[test]
fn searches_find_the_shipped_tools() {
    let mut server = server();
    for (query, tool) in [
        ("commit", "git_commit"),
        ("show changes that are not staged", "git_diff"),
        ("search for text in files", "search_text"),
    ] {
        let found = server.matching_tools(&json!({"query": query}));
        assert!(
            found.iter().take(10).any(|name| name == tool),
            "{query}: {found:?}"
        );
    }
}

#[test]
fn everyday_queries_find_the_tool_among_the_first_five() {
    let mut server = server();
    for (query, tool) in [
        ("list pods", "kubectl_get"),
        ("rollback deployment", "kubectl_rollout_undo"),
        ("take node out of service", "kubectl_drain"),
        ("who wrote this line", "git_blame"),
        ("save work in progress", "git_stash_push"),
        ("show uncommitted changes", "git_status"),
        ("git checkout -b", "git_switch_create"),
        ("bring up compose stack", "docker_compose_up"),
        ("list running containers", "docker_ps"),
        ("grep recursively TODO", "search_directory"),
        ("sha256 of file", "file_checksum"),
        ("how many lines does this file have", "count_text"),
        ("extract field from json", "jq_file"),
        ("check whether a website is up", "curl_head"),
        ("http request", "curl_get"),
        (
            "check my node dependencies for security problems",
            "npm_audit",
        ),
        ("service failed to start", "journal_read"),
        ("scheduled jobs", "systemctl_list_timers"),
        ("available updates", "apt_list_upgradable"),
        ("which crate pulls in openssl", "cargo_tree"),
    ] {
        let found = server.matching_tools(&json!({"query": query, "limit": 5}));
        assert!(found.iter().any(|name| name == tool), "{query}: {found:?}");
    }
}

#[test]
fn a_short_word_does_not_find_longer_words_that_contain_it_first() {
    let mut server = server();
    for (query, weak) in [("sed", "cargo_clippy_fix"), ("tar", "docker_start")] {
        let found = server.matching_tools(&json!({"query": query}));
        assert!(!found.is_empty() && found[0] != weak, "{query}: {found:?}");
    }
}

// The shipped policies.

/// A server with a shipped policy, whose program of this name is replaced by one that prints its arguments.
fn with_policy(policy: &str, program: &str, folder: &Folder) -> Server {
    let stand_in = folder.path().join(program);
    fs::write(&stand_in, "#!/bin/sh\necho \"$@\"\n").expect("written");
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).expect("a program");
    let path = std::env::var("PATH").unwrap_or_default();
    let policy = format!("{}/policies/{policy}.yaml", env!("CARGO_MANIFEST_DIR"));
    Server::start(
        climax()
            .args(["--policy", &policy])
            .env("PATH", format!("{}:{path}", folder.text()))
            .env("HOME", folder.path())
            .env("PROJECT_DIR", "/projects/mine"),
    )
}

#[test]
fn the_git_read_only_policy_allows_no_changes() {
    let folder = repository(&mut server(), "first");
    let elsewhere = repository(&mut server(), "second");
    let mut server = with_policy("git-read-only", "unused", &folder);
    let log = call(&mut server, "git_log", &json!({"directory": folder.text()}));
    assert!(log.contains("first"), "{log}");
    for (tool, arguments, refusal) in [
        (
            "git_commit",
            json!({"message": "x"}),
            "Unknown tool: git_commit",
        ),
        (
            "git_log",
            json!({"max_count": 201}),
            "value 201 exceeds maximum 200.0",
        ),
        (
            "git_log",
            json!({"directory": elsewhere.text()}),
            "is outside of the directories",
        ),
        (
            "git_status",
            json!({"directory": "/"}),
            "is outside of the directories",
        ),
    ] {
        let response = server.call(tool, &arguments);
        assert!(
            response.is_error && response.text.contains(refusal),
            "{response:?}"
        );
    }
}

#[test]
fn the_kubectl_staging_policy_is_limited_to_one_context_and_team() {
    let folder = Folder::new();
    let mut server = with_policy("kubectl-staging", "kubectl", &folder);
    let arguments = json!({"workload": "deployment/web-shop", "replicas": 3, "context": "staging"});
    assert_eq!(
        call(&mut server, "kubectl_scale", &arguments),
        "scale deployment/web-shop --replicas=3 --context=staging"
    );
    let pods = json!({"type": "pods", "namespace": "web-shop", "all_namespaces": false});
    assert!(call(&mut server, "kubectl_get", &pods).contains("web-shop"));
    for (tool, arguments, refusal) in [
        ("kubectl_delete", json!({}), "Unknown tool: kubectl_delete"),
        (
            "kubectl_get",
            json!({"type": "pods", "context": "production"}),
            "pattern 'staging'",
        ),
        (
            "kubectl_get",
            json!({"type": "pods", "all_namespaces": true}),
            "pattern 'false'",
        ),
        (
            "kubectl_get",
            json!({"type": "pods", "namespace": "web-x\n"}),
            "does not match",
        ),
        (
            "kubectl_scale",
            json!({"workload": "deployment/web-x", "replicas": 0}),
            "below minimum 1.0",
        ),
        (
            "kubectl_scale",
            json!({"workload": "deployment/db", "replicas": 1}),
            "does not match",
        ),
        (
            "kubectl_logs",
            json!({"pod": "x", "lines": 100_000}),
            "exceeds maximum 1000.0",
        ),
    ] {
        let response = server.call(tool, &arguments);
        assert!(
            response.is_error && response.text.contains(refusal),
            "{response:?}"
        );
    }
}

#[test]
fn the_git_in_docker_policy_runs_git_in_a_container() {
    let folder = Folder::new();
    let mut server = with_policy("git-in-docker", "docker", &folder);
    let words = call(&mut server, "git_add", &json!({"path": "src/main.rs"}));
    let (begin, end) = words.split_once("-v ").expect("a volume");
    assert!(begin.starts_with("run --rm --name climax-"), "{words}");
    assert!(
        end.starts_with(
            "/projects/mine:/workspace --network none -w /workspace buildpack-deps:scm git "
        ) && end.ends_with("src/main.rs"),
        "{words}"
    );
    let response = server.call("git_add", &json!({"path": "README.md"}));
    assert!(
        response.text.contains("does not match pattern 'src/.*'"),
        "{response:?}"
    );
}

/// The build fails if a call with an example's arguments would be refused.
#[test]
fn every_shipped_tool_shows_example_calls_with_all_required_arguments() {
    let mut server = Server::start(climax().arg("--explore"));
    let all = server.matching_tools(&json!({"query": "", "limit": 1000}));
    assert_eq!(all.len(), 327);
    for tools in all.chunks(50) {
        let response = server.call_registered("get_tool_details", &json!({"tool_id": tools}));
        let responses = response.json();
        for details in responses.as_array().expect("a list") {
            let parameters = details["tool_details"]["parameters"]
                .as_array()
                .expect("a list");
            let examples = details["usage_examples"].as_array().expect("a list");
            assert!(!examples.is_empty(), "{details}");
            for example in examples {
                let args = example["arguments"]["args"].as_object().expect("an object");
                let required = parameters
                    .iter()
                    .filter(|parameter| parameter["required"] == true);
                for parameter in required {
                    let name = parameter["name"].as_str().expect("a name");
                    assert!(args.contains_key(name), "{example}");
                }
                assert!(example["command_line"].is_string(), "{example}");
            }
        }
    }
}
