//! Checks `promises.md`, `inherited.md`, `SECURITY.md` and `docs/dependencies.md` against the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const PROMISES: &str = include_str!("../promises.md");
const INHERITED: &str = include_str!("../inherited.md");
const SECURITY: &str = include_str!("../../SECURITY.md");

#[test]
fn every_test_that_a_page_names_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = BTreeSet::new();
    for part in [
        ".",
        "../src",
        "../crates/runner/src",
        "../crates/arguments/src",
        "../crates/catalog/src",
        "../crates/runtime/src",
        "../crates/core/src",
        "../crates/input/src",
        "../crates/policy/src",
        "../crates/discovery/src",
        "../codegen/src",
        "../codegen/tests",
    ] {
        collect_tests(&folder.join(part), &mut tests);
    }
    // Each row is a promise and its tests.
    let security = SECURITY.lines().filter_map(|line| {
        let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(row.split_once(" | ")?.1)
    });
    let pages = [PROMISES, INHERITED].into_iter().chain(security);
    let named: Vec<&str> = pages
        .flat_map(|page| page.split('`').skip(1).step_by(2))
        .collect();
    assert!(!named.is_empty());
    let missing: BTreeSet<&str> = named
        .into_iter()
        .filter(|name| !tests.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_row_of_the_inherited_page_names_a_test_or_a_reason() {
    let mut rows = 0;
    for line in INHERITED.lines().filter(|line| line.contains("::")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, tests, remark] = cells[..] else {
            panic!("not three cells: {line}")
        };
        assert!(
            tests.starts_with('`') || (tests == "-" && !remark.is_empty()),
            "{line}"
        );
        rows += 1;
    }
    assert!(rows > 0);
}

#[test]
fn the_dependencies_page_lists_exactly_the_dependencies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/dependencies.md")).expect("a page");
    let tables = page
        .lines()
        .filter(|line| line.starts_with('|') || line.starts_with("Only"));
    let tables: Vec<&str> = tables.collect();
    let tables = tables.join("\n");
    let named: BTreeSet<&str> = tables.split('`').skip(1).step_by(2).collect();
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--prefix",
            "none",
            "--format",
            "{lib}",
        ])
        .args(["--edges", "normal,build", "--no-default-features"])
        .args([
            "-p",
            "climax",
            "-p",
            "climax-codegen",
            "--target",
            "x86_64-unknown-linux-gnu",
        ])
        .current_dir(&root)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{output:?}");
    let used = String::from_utf8(output.stdout).expect("UTF-8");
    // Library names have underscores where package names may have dashes.
    let library_name = |name: &str| name.replace('-', "_");
    let used: BTreeSet<String> = used
        .lines()
        .map(|line| library_name(line.trim_end_matches(" (*)")))
        .filter(|name| !name.is_empty() && !name.starts_with("climax"))
        .collect();
    let named: BTreeSet<String> = named.into_iter().map(library_name).collect();
    let missing: Vec<_> = used.difference(&named).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
    let unused: Vec<_> = named.difference(&used).collect();
    assert!(unused.is_empty(), "not used: {unused:?}");
}

/// Adds the names of the tests in a folder's Rust files.
fn collect_tests(folder: &Path, tests: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect_tests(&path, tests);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let code = fs::read_to_string(&path).expect("a file");
            for test in code.split("#[test]").skip(1) {
                let name = test
                    .split_once("fn ")
                    .and_then(|(_, rest)| rest.split_once('('));
                tests.extend(name.map(|(name, _)| name.to_owned()));
            }
        }
    }
}
