//! The sample policies, with real calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use climax_tests::{Folder, Server};
use serde_json::json;

use crate::{call, climax, repository, server};

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
