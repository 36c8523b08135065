//! A project with plugins and Compose files, and an engine at a Unix socket.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, RecordingServer, Trap, assert_is_write_because, check_values};
use crate::climax;

const COMPOSE_TOOLS_THAT_LOOK: [&str; 3] = [
    "docker_compose_ps",
    "docker_compose_logs",
    "docker_compose_config",
];

/// An engine that has nothing.
fn engine(folder: &Path) -> (String, RecordingServer) {
    let socket = folder.join("engine");
    let record = RecordingServer::start_on_socket(&socket, |path| match path {
        "/_ping" => (200, "OK".into()),
        _ if path.ends_with("/json") && path.contains("/containers/") => (200, "[]".into()),
        _ => (404, "{\"message\": \"nothing\"}".into()),
    });
    (format!("unix://{}", socket.display()), record)
}

/// A script that answers as a plugin does and leaves the trap's mark.
fn write_plugin(path: &Path, trap: &Trap) {
    let metadata = r#"{"SchemaVersion":"0.1.0","Vendor":"x","Version":"1"}"#;
    let trap = trap.program();
    let script = format!(
        "#!/bin/sh\n'{}' plugin\necho '{metadata}'\n",
        trap.display()
    );
    fs::write(path, script).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

#[test]
fn looking_at_containers_in_a_hostile_project_starts_nothing() {
    if !is_installed("docker") {
        return;
    }
    let (project, home, trap) = (Folder::new(), Folder::new(), Trap::new());
    let (host, record) = engine(home.path());
    let plugins = project.path().join(".docker/cli-plugins");
    fs::create_dir_all(&plugins).expect("a folder");
    write_plugin(&plugins.join("docker-info2"), &trap);
    write_plugin(&project.path().join("docker-info2"), &trap);
    fs::write(project.path().join(".docker/config.json"), "{}").expect("a file");
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("HOME", home.path())
            .env("DOCKER_HOST", &host)
            .env("SECRET", "top-secret")
            .env_remove("DOCKER_CONFIG");
    };

    let mut docker = Command::new("docker");
    in_project(&mut docker);
    run(docker.args(["--config", ".docker", "info"]));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let calls = [("docker_ps", json!({"filter": "name=web", "format": "json"}))];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "docker",
        path: project.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&calls);
    assert!(
        record.take_requests().contains("/containers/json"),
        "the engine is asked"
    );
    let words = [
        "--config=.docker",
        "-H=unix://other",
        "../images/json",
        "web/../../info",
        "{{env \"SECRET\"}}",
        "a=b&c=d",
    ];
    hostile.call_read_tools_with_words(&words);
    let paths = record.take_requests();
    assert!(!paths.contains(".."), "{paths}");
}

#[test]
fn compose_fetches_nothing_that_a_hostile_project_includes() {
    let has_compose = is_installed("docker")
        && run(Command::new("docker").args(["compose", "version"]))
            .status
            .success();
    if !has_compose {
        eprintln!("skipped: docker compose is not installed");
        return;
    }
    let (project, home, trap) = (Folder::new(), Folder::new(), Trap::new());
    let (host, _) = engine(home.path());
    let write = |path: &str, text: &str| {
        fs::write(project.path().join(path), text).expect("a file");
    };
    let ssh = trap.program();
    write(
        ".env",
        &format!(
            "COMPOSE_EXPERIMENTAL_GIT_REMOTE=1\nGIT_SSH_COMMAND={}\n",
            ssh.display()
        ),
    );
    write(
        "compose.yaml",
        "include: ['git@127.0.0.1:x/${SECRET}.git']\nservices: {a: {image: a}}\n",
    );
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("DOCKER_HOST", &host)
            .env("SECRET", "top-secret");
    };
    let mut docker = Command::new("docker");
    in_project(&mut docker);
    run(docker.args(["compose", "ps"]));
    assert!(trap.take_marks().contains("top-secret"), "the trap works");

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    for tool in COMPOSE_TOOLS_THAT_LOOK {
        server.call(tool, &json!({"directory": project.text()}));
        assert_eq!(trap.take_marks(), "", "{tool}");
    }
}

#[test]
fn compose_tools_that_look_show_variables_and_are_not_read() {
    for tool in COMPOSE_TOOLS_THAT_LOOK {
        assert_is_write_because(tool, "variable");
    }
}

#[test]
fn names_of_containers_and_images_are_not_paths_of_the_engine() {
    let refused = ["../info", "a/../b", "-", "", "a b", "a?b"].map(|name| json!(name));
    let containers = ["web", "web_1.a-b", "4f5c"].map(|name| json!(name));
    let images = ["nginx:1.27", "localhost:5000/a/b", "a__b@sha256:0f1e"].map(|name| json!(name));
    for tool in [
        "docker_logs",
        "docker_exec",
        "docker_start",
        "docker_stop",
        "docker_restart",
        "docker_rm",
    ] {
        check_values(tool, "container", &containers, &refused);
    }
    for tool in [
        "docker_run",
        "docker_pull",
        "docker_push",
        "docker_rmi",
        "docker_tag",
    ] {
        check_values(tool, "image", &images, &refused);
    }
    check_values("docker_inspect", "name", &images, &refused);
    check_values("docker_volume_rm", "volume", &containers, &refused);
    check_values("docker_compose_logs", "service", &containers, &refused);
}

#[test]
fn other_arguments_of_docker_have_one_meaning() {
    for (tool, argument, accepted, refused) in [
        // A name without a value would send the server's variable.
        ("docker_run", "env", "A=", "HOME"),
        ("docker_exec", "env", "A=b", "HOME"),
        ("docker_run", "volume", "/srv:/srv:ro", "/srv"),
        ("docker_run", "network", "container:web", "name=a,alias=b"),
        ("docker_build", "path", "https://example.org/a.git#b", "-"),
        ("docker_build", "dockerfile", "docker/Dockerfile", "-"),
        ("docker_cp", "source", "web:/a", "-"),
        ("docker_cp", "destination", "./a", "-"),
        ("docker_images", "image", "app*", "../info"),
        ("docker_prune", "filter", "until=24h", "all"),
    ] {
        check_values(tool, argument, &[json!(accepted)], &[json!(refused)]);
    }
}
