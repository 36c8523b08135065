//! The sample policies, with real calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use climax_tests::{Folder, Server};
use serde_json::{Value, json};

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

/// Calls that are refused, with a part of the refusal.
fn assert_refused(server: &mut Server, calls: &[(&str, Value, &str)]) {
    for (tool, arguments, refusal) in calls {
        let response = server.call(tool, arguments);
        assert!(
            response.is_error && response.text.contains(refusal),
            "{tool} {arguments}: {response:?}"
        );
    }
}

/// The arguments of a call to the staging cluster.
fn on_staging(mut arguments: Value) -> Value {
    arguments["context"] = json!("staging");
    arguments["namespace"] = json!("web-shop");
    arguments
}

#[test]
fn the_git_read_only_policy_allows_no_changes() {
    let folder = repository(&mut server(), "first");
    let elsewhere = repository(&mut server(), "second");
    let mut server = with_policy("git-read-only", "unused", &folder);
    let log = call(&mut server, "git_log", &json!({"directory": folder.text()}));
    assert!(log.contains("first"), "{log}");
    assert_refused(
        &mut server,
        &[
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
            ("git_status", json!({}), "Unknown tool: git_status"),
            (
                "git_show",
                json!({"directory": "/", "revision": "HEAD"}),
                "is outside of the directories",
            ),
        ],
    );
}

#[test]
fn the_kubectl_staging_policy_allows_the_workloads_of_one_team() {
    let folder = Folder::new();
    let mut server = with_policy("kubectl-staging", "kubectl", &folder);
    let words = call(
        &mut server,
        "kubectl_scale",
        &on_staging(json!({"workload": "deployment/web-shop", "replicas": 3})),
    );
    assert_eq!(
        words,
        "scale deployment/web-shop --replicas=3 --namespace=web-shop --context=staging"
    );
    for arguments in [
        json!({"type": "pods", "all_namespaces": false}),
        json!({"type": "deployment", "name": ["web", "web-1"], "format": "yaml"}),
    ] {
        let words = call(&mut server, "kubectl_get", &on_staging(arguments));
        assert!(words.contains("web-shop"), "{words}");
    }
}

#[test]
fn the_kubectl_staging_policy_shows_no_secrets_and_needs_context_and_namespace() {
    let folder = Folder::new();
    let mut server = with_policy("kubectl-staging", "kubectl", &folder);
    assert_refused(
        &mut server,
        &[
            (
                "kubectl_get",
                on_staging(json!({"type": "secrets", "format": "yaml"})),
                "'type': value 'secrets' does not match",
            ),
            (
                "kubectl_get",
                on_staging(json!({"type": "pods,secrets"})),
                "value 'pods,secrets' does not match",
            ),
            (
                "kubectl_get",
                on_staging(json!({"type": "secret/db", "format": "yaml"})),
                "value 'secret/db' does not match",
            ),
            (
                "kubectl_get",
                on_staging(json!({"type": "pods", "name": ["web", "secret/db"]})),
                "'name': value 'secret/db' does not match",
            ),
            // Without a context or namespace, kubectl would use those of the kubeconfig.
            (
                "kubectl_get",
                json!({"type": "pods"}),
                "Missing required argument 'namespace'\n  - Missing required argument 'context'",
            ),
            (
                "kubectl_scale",
                json!({"workload": "deployment/web", "replicas": 2, "context": "staging"}),
                "Missing required argument 'namespace'",
            ),
            (
                "kubectl_logs",
                on_staging(json!({"pod": "x", "lines": -1})),
                "below minimum 1.0",
            ),
            (
                "kubectl_scale",
                on_staging(json!({"workload": "deployment/web,deployment/db", "replicas": 1})),
                "does not match",
            ),
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
        ],
    );
}

#[test]
fn the_git_read_only_policy_keeps_files_outside_of_repositories_private() {
    let folder = repository(&mut server(), "first");
    let plain = Folder::new();
    let secret = plain.path().join("secret");
    fs::write(&secret, "hunter2").expect("a file");
    let nested = folder.path().join("no-repository");
    fs::create_dir(&nested).expect("a directory");
    fs::write(nested.join(".git"), "").expect("a file");
    let mut server = with_policy("git-read-only", "unused", &folder);
    let secret = secret.to_str().expect("UTF-8");
    for (tool, arguments) in [
        (
            "git_diff_revisions",
            json!({"directory": nested, "first": "HEAD", "path": ["/dev/null", secret]}),
        ),
        (
            "git_diff_staged",
            json!({"directory": folder.text(), "path": ["/dev/null", secret]}),
        ),
        (
            "git_blame",
            json!({"directory": folder.text(), "path": secret}),
        ),
        (
            "git_show",
            json!({"directory": folder.text(), "revision": format!("HEAD:{secret}")}),
        ),
        (
            "git_log",
            json!({"directory": folder.text(), "path": secret}),
        ),
    ] {
        let response = server.call(tool, &arguments);
        assert!(
            response.is_error
                && response.text.contains("fatal: ")
                && !response.text.contains("hunter2"),
            "{tool} {arguments}: {response:?}"
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
    assert_refused(
        &mut server,
        &[
            (
                "git_add",
                json!({"path": "README.md"}),
                "'README.md' does not match",
            ),
            (
                "git_add",
                json!({"path": "src/../.env"}),
                "'src/../.env' does not match",
            ),
            (
                "git_add",
                json!({"path": ["src/a", ":/.env"]}),
                "':/.env' does not match",
            ),
            (
                "git_add",
                json!({"path": "src/a", "directory": "/workspace/vendor"}),
                "'/workspace/vendor' does not match",
            ),
            (
                "git_commit",
                json!({"message": "x", "path": ".env"}),
                "'.env' does not match",
            ),
            (
                "git_commit",
                json!({"message": "x", "all": true}),
                "'true' does not match",
            ),
        ],
    );
}
