//! Checks the statements of ARCHITECTURE.md against the code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use climax_tests::run;

const PAGE: &str = include_str!("../../ARCHITECTURE.md");

/// The parts of the runtime that must not depend on a protocol.
const PROTOCOL_FREE: [&str; 6] = [
    "service",
    "call",
    "output",
    "search",
    "discovery",
    "catalog",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

/// The Rust files below a path, which may be a module's file or its folder.
fn rust_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            rust_files(&entry.expect("an entry").path(), files);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        files.push(path.to_owned());
    }
}

#[test]
fn the_service_and_the_modules_it_uses_name_no_protocol() {
    let runtime = root().join("crates/runtime/src");
    for part in PROTOCOL_FREE {
        let mut files = Vec::new();
        rust_files(&runtime.join(part), &mut files);
        rust_files(&runtime.join(format!("{part}.rs")), &mut files);
        assert!(!files.is_empty(), "{part}");
        for file in files {
            let code = fs::read_to_string(&file).expect("a file");
            for (number, line) in (1..).zip(code.lines()) {
                let is_service = part == "service";
                let later = ["rmcp", "crate::fronts", "crate::commands", "crate::service"];
                let later = &later[..later.len() - usize::from(is_service)];
                assert!(
                    !later.iter().any(|name| line.contains(name)),
                    "{}:{number}: {line}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn the_runner_depends_on_no_protocol_json_or_catalog() {
    let output = run(Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none"])
        .args(["--edges", "normal,build", "-p", "climax-runner"])
        .current_dir(root()));
    assert!(output.status.success(), "{output:?}");
    let tree = String::from_utf8(output.stdout).expect("UTF-8");
    let crates: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(crates.contains(&"climax-runner"), "{tree}");
    for name in crates {
        let is_own = name.starts_with("climax-") && name != "climax-runner";
        assert!(
            !is_own && name != "rmcp" && name != "serde_json",
            "the runner depends on {name}"
        );
    }
}

/// The files and functions in the tables that describe a route, row by row.
fn steps() -> Vec<(&'static str, Vec<&'static str>)> {
    let quoted =
        |cell: &'static str| -> Vec<&'static str> { cell.split('`').skip(1).step_by(2).collect() };
    PAGE.lines()
        .filter(|line| line.starts_with('|'))
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let [_, file, functions] = cells[..] else {
                return None;
            };
            let file = *quoted(file).first()?;
            file.contains('/').then(|| (file, quoted(functions)))
        })
        .collect()
}

#[test]
fn every_function_of_a_route_is_in_the_file_that_the_page_names() {
    let steps = steps();
    assert!(steps.len() > 20, "{}", steps.len());
    for (file, functions) in steps {
        let code = fs::read_to_string(root().join(file)).expect(file);
        for function in functions {
            let name = function.rsplit("::").next().expect("a name");
            let is_there = ["fn ", "struct ", "enum ", "trait ", "macro_rules! "]
                .iter()
                .any(|keyword| {
                    let declaration = format!("{keyword}{name}");
                    code.match_indices(&declaration).any(|(at, _)| {
                        let next = code[at + declaration.len()..].chars().next();
                        !next.is_some_and(|character| {
                            character.is_alphanumeric() || character == '_'
                        })
                    })
                });
            assert!(is_there, "{function} is not in {file}");
        }
    }
}

#[test]
fn every_file_that_the_page_names_exists_and_every_folder_is_on_it() {
    let named = PAGE.split('`').skip(1).step_by(2);
    for path in named.filter(|text| text.contains('/') && !text.contains([' ', '*', '<', '$'])) {
        assert!(root().join(path).exists(), "{path}");
    }
    let folders = |path: &str| -> Vec<String> {
        let entries = fs::read_dir(root().join(path)).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry"));
        entries
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().into_string().expect("UTF-8"))
            .filter(|name| !name.starts_with('.') && name != "target")
            .collect()
    };
    for (parent, prefix) in [(".", ""), ("crates", "crates/"), ("crates/runtime/src", "")] {
        for folder in folders(parent) {
            let name = format!("{prefix}{folder}/");
            assert!(PAGE.contains(&name), "{name} is not on the page");
        }
    }
}
