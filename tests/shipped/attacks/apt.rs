//! A project with settings for apt, and the operators that apt reads in names of packages.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, check_values};
use crate::climax;

#[test]
fn looking_at_packages_in_a_hostile_project_starts_nothing() {
    if !is_installed("apt-get") {
        return;
    }
    let (project, trap) = (Folder::new(), Trap::new());
    let settings = format!("Dir::Bin::dpkg \"{}\";\n", trap.program().display());
    for path in ["apt.conf", ".aptrc", "nginx.deb", "hello.deb"] {
        fs::write(project.path().join(path), &settings).expect("a file");
    }
    let mut apt = Command::new("apt-cache");
    apt.current_dir(project.path())
        .env("APT_CONFIG", "apt.conf");
    run(apt.args(["policy", "hello"]));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    command
        .current_dir(project.path())
        .env("HOME", project.path());
    let mut server = Server::start(&mut command);
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "apt",
        path: project.path(),
        trap: &trap,
        secret: "Dir::Bin",
    };
    hostile.call_read_tools(&[]);
    let words = ["-capt.conf", "./hello.deb"];
    hostile.call_read_tools_with_words(&words);
}

#[test]
fn names_of_packages_hold_no_operators_and_are_no_files() {
    let names = [
        "hello",
        "g++",
        "g++-12",
        "libstdc++6",
        "python3.11",
        "libc6:i386",
        "bonnie++:amd64",
    ];
    let operators = [
        "hello+",
        "hello-",
        "g+++",
        "memtest86++",
        "hello+=1.0",
        "hello^",
        "hello/stable",
        "./hello.deb",
        "/tmp/hello.deb",
        "hel*",
        "?name(hello)",
        "~nhello",
        "hello.",
        "Hello",
        "",
    ];
    let (names, operators) = (
        names.map(|name| json!(name)),
        operators.map(|name| json!(name)),
    );
    for tool in ["apt_install", "apt_remove"] {
        check_values(tool, "package", &names, &operators);
    }
    let versions = [json!("hello=2.10-3"), json!("hello=1:2.10~rc1+b2")];
    check_values(
        "apt_install",
        "package",
        &versions,
        &[json!("hello=2.10-3-"), json!("hello=2+")],
    );
    check_values("apt_remove", "package", &[], &versions);
    let refused = [
        json!("./hello.deb"),
        json!("?name(hello)"),
        json!("hel*"),
        json!("hello/stable"),
    ];
    for tool in [
        "apt_show",
        "apt_policy",
        "apt_depends",
        "apt_rdepends",
        "apt_package_files",
    ] {
        check_values(tool, "package", &names, &refused);
    }
    for tool in ["apt_list_installed", "apt_list_upgradable"] {
        let refused = [
            json!("./hello.deb"),
            json!("?name(hello)"),
            json!("~nhello"),
        ];
        check_values(tool, "glob", &[json!("python3*"), json!("g++")], &refused);
    }
}

#[test]
fn a_name_is_not_taken_for_a_regular_expression() {
    if !is_installed("apt-get") {
        return;
    }
    let mut server = Server::start(&mut climax());
    for tool in ["apt_install", "apt_remove"] {
        let arguments = json!({"package": "d.p.k.g", "dry_run": true});
        let response = server.call(tool, &arguments);
        assert!(
            response.is_error && response.text.contains("Unable to locate package d.p.k.g"),
            "{response:?}"
        );
    }
}
