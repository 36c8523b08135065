//! A package whose settings name a toolchain, a compiler, an alias and a program for credentials.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, assert_is_write_because, refuses};
use crate::climax;

/// A package that names a trap wherever cargo and rustup start a program.
fn hostile_package(trap: &Trap) -> Folder {
    let folder = Folder::new();
    let toolchain = folder.path().join("toolchain");
    for directory in [".cargo", "src", "toolchain/bin"] {
        fs::create_dir_all(folder.path().join(directory)).expect("a directory");
    }
    for program in ["cargo", "rustc", "rustfmt", "cargo-fmt"] {
        fs::copy(trap.program(), toolchain.join("bin").join(program)).expect("a program");
    }
    let program = trap.program();
    let program = program.display();
    let settings = format!(
        "[build]\nrustc = '{program}'\nrustc-wrapper = '{program}'\n\
         [registry]\nglobal-credential-providers = ['{program}']\n\
         [alias]\nfmt = 'run'\n"
    );
    let manifest = "[package]\nname = 'hostile'\nversion = '0.1.0'\nedition = '2021'\n";
    for (name, text) in [
        ("Cargo.toml", manifest),
        (
            "Cargo.lock",
            "version = 3\n[[package]]\nname = 'hostile'\nversion = '0.1.0'\n",
        ),
        ("src/main.rs", "fn main( ) {}\n"),
        (".cargo/config.toml", &settings),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// Names a toolchain of the package, which only rustup reads.
fn add_toolchain(package: &Folder) {
    let text = format!("[toolchain]\npath = '{}/toolchain'\n", package.text());
    fs::write(package.path().join("rust-toolchain.toml"), text).expect("a file");
}

/// A command in the package, with settings of its own and without network.
fn isolated(mut command: Command, package: &Folder, home: &Folder) -> Command {
    command
        .current_dir(package.path())
        .env("CARGO_HOME", home.path())
        .env("CARGO_HTTP_PROXY", "http://127.0.0.1:9")
        .env("CARGO_NET_RETRY", "0")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTC")
        .env_remove("RUSTC_WRAPPER");
    command
}

#[test]
fn looking_at_a_hostile_package_executes_none_of_its_programs() {
    if !is_installed("cargo") {
        return;
    }
    let (trap, home, outside) = (Trap::new(), Folder::new(), Folder::new());
    let secret = outside.path().join("secret");
    fs::write(&secret, "top-secret\n").expect("a file");
    let package = hostile_package(&trap);
    // cargo keeps facts about the compiler in this folder.
    fs::create_dir(package.path().join("target")).expect("a directory");
    let path = package.path().join("Cargo.toml");
    let tree = || {
        let mut tree = Command::new("cargo");
        tree.args(["tree", "--offline"]);
        run(&mut isolated(tree, &package, &home));
    };
    tree();
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut server = Server::start(&mut isolated(climax(), &package, &home));
    let calls = [
        ("cargo_tree", json!({"path": path})),
        ("cargo_tree", json!({"path": path, "edges": ["features"]})),
        ("cargo_metadata", json!({"path": path})),
        ("cargo_metadata", json!({"path": path, "no_deps": false})),
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "crates",
        path: package.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&calls);
    add_toolchain(&package);
    tree();
    trap.take_marks();
    hostile.call_read_tools(&calls);

    let settings = format!("--config={}", secret.display());
    let words = [&*settings, "-C..", "../hostile", "path+file:///hostile"];
    hostile.call_read_tools_with_words(&words);

    // The tools still do what they are for.
    for (tool, part) in [
        ("cargo_tree", "hostile v0.1.0"),
        ("cargo_metadata", "\"name\":\"hostile\""),
    ] {
        let response = hostile.server.call(tool, &json!({"path": path}));
        assert!(response.text.contains(part), "{tool}: {response:?}");
    }

    // A lock file that is missing is not written.
    fs::remove_file(package.path().join("Cargo.lock")).expect("a lock file");
    hostile.call_read_tools(&calls);
}

#[test]
fn cargo_tools_refuse_values_that_are_more_than_names() {
    let mut server = Server::start(&mut climax());
    for (tool, arguments) in [
        ("cargo_tree", json!({"path": "Cargo.toml"})),
        ("cargo_metadata", json!({"path": "/etc/passwd"})),
        (
            "cargo_tree",
            json!({"path": "/a/Cargo.toml", "dependents_of": "path+file:///a"}),
        ),
        (
            "cargo_tree",
            json!({"path": "/a/Cargo.toml", "package": "https://example.org/#a"}),
        ),
        ("cargo_info", json!({"package": "file:///a"})),
        ("cargo_info", json!({"package": "../a"})),
        ("cargo_add", json!({"dependency": "./a"})),
        (
            "cargo_add",
            json!({"dependency": "serde", "features": "derive rc"}),
        ),
        ("cargo_update", json!({"package": "file:///a"})),
        ("cargo_check", json!({"target": "../target.json"})),
        ("cargo_check", json!({"features": "a,b"})),
    ] {
        refuses(&mut server, tool, &arguments);
    }
}

#[test]
fn tools_that_execute_or_read_what_the_project_names_are_not_read() {
    assert_is_write_because("cargo_fmt_check", "toolchain");
    for tool in ["cargo_tree", "cargo_metadata"] {
        assert_is_write_because(tool, "files and downloads packages that the project names");
    }
}
