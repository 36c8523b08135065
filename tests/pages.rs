//! The pages that say which test proves what.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PROMISES: &str = include_str!("promises.md");
const INHERITED: &str = include_str!("inherited.md");

#[test]
fn every_test_that_a_page_names_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = BTreeSet::new();
    for part in [
        ".",
        "../src",
        "../runtime/src",
        "../core/src",
        "../input/src",
        "../policy/src",
        "../codegen/src",
        "../codegen/tests",
    ] {
        collect_tests(&folder.join(part), &mut tests);
    }
    let pages = [PROMISES, INHERITED].concat();
    let named: Vec<&str> = pages.split('`').skip(1).step_by(2).collect();
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
