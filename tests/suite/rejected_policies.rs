//! Invalid policies and their messages, which are the same in a build and at the start. `UPDATE_GOLDEN=1
//! cargo test` writes the expected files.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use climax_codegen::compile;
use climax_input::code::EXPLANATIONS;
use climax_input::draw::render;
use climax_input::source::read;
use climax_tests::{fixtures, run};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new("policies").join(folder);
    let mut cases: Vec<PathBuf> = fs::read_dir(Path::new(ROOT).join(&folder))
        .expect("a folder")
        .map(|entry| folder.join(entry.expect("an entry").file_name()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// The code generator's messages about a policy, and whether it accepts it.
fn compile_with_policy(case: &Path) -> (String, bool) {
    let sources = match read(ROOT.as_ref(), &["configs".into()], Some(case)) {
        Ok(sources) => sources,
        Err(errors) => panic!("{errors:?}"),
    };
    let compiled = compile(&sources);
    let mut messages = compiled.diagnostics;
    messages.retain(|message| {
        message
            .span
            .is_some_and(|span| span.source == sources.config_count)
    });
    for message in &messages {
        assert!(
            message.help.is_some(),
            "it does not say what to do: {message:?}"
        );
    }
    (render(&messages, &sources.all), compiled.source.is_some())
}

fn assert_golden(path: &Path, actual: &str) {
    let path = Path::new(ROOT).join(path).with_extension("stderr");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, actual).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{} is now:\n{actual}", path.display());
}

#[test]
fn an_invalid_policy_fails_the_build() {
    let cases = cases("rejected");
    assert!(cases.len() >= 30);
    for case in cases {
        let (report, is_accepted) = compile_with_policy(&case);
        assert!(!is_accepted, "{} was accepted", case.display());
        assert_golden(&case, &report);
    }
}

#[test]
fn an_invalid_policy_prevents_the_start() {
    for case in cases("rejected") {
        let output = run(fixtures!("--policy", &case).current_dir(ROOT));
        assert_eq!(output.status.code(), Some(2), "{}", case.display());
        assert_eq!(output.stdout, b"", "{}", case.display());
        assert_golden(&case, &String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_questionable_policy_is_accepted_with_a_warning() {
    for case in cases("warned") {
        let output = run(fixtures!("--policy", &case).current_dir(ROOT));
        assert_eq!(output.status.code(), Some(0), "{}", case.display());
        assert_golden(&case, &String::from_utf8_lossy(&output.stderr));
    }
    let (report, is_accepted) = compile_with_policy(Path::new("policies/warned/no_approval.yaml"));
    assert!(
        is_accepted && report.contains("warning[CLX109]"),
        "{report}"
    );
    // A build knows all tools, so there it is an error.
    let (report, is_accepted) = compile_with_policy(Path::new("policies/warned/unknown_tool.yaml"));
    assert!(!is_accepted && report.contains("error[CLX050]"), "{report}");
}

#[test]
fn every_error_code_about_policies_has_an_example() {
    let mut report = String::new();
    for case in cases("rejected").into_iter().chain(cases("warned")) {
        let path = Path::new(ROOT).join(case).with_extension("stderr");
        report += &fs::read_to_string(path).expect("a file");
    }
    for (code, _) in EXPLANATIONS {
        let number: u16 = code.id()[3..].parse().expect("a number");
        // Codes that depend on the environment of the server are tested in `execution_rules` and `containers`.
        if matches!(number, 50..=61 | 108..=109) {
            let id = code.id();
            assert!(report.contains(&format!("[{id}]")), "{id} {code:?}");
        }
    }
}
