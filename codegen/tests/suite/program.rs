//! Tests the `climax-codegen` program.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn climax_codegen(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_climax-codegen"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
        .args(arguments)
        .output()
        .expect("climax-codegen runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn check_counts_the_tools_of_valid_configs() {
    let output = climax_codegen(&["check", "golden/every_kind.yaml"]);
    assert!(output.status.success());
    assert_eq!(stdout(&output), "every-kind: 2 tools\n");
}

#[test]
fn check_shows_all_errors_of_all_configs_and_fails() {
    let output = climax_codegen(&["check", "rejected/no_tools.yaml", "rejected/timeouts.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let stderr = stderr(&output);
    for part in [
        "error[CLX015]: a config needs at least one tool\n --> rejected/no_tools.yaml:2:8",
        "error[CLX023]: a timeout is a number of seconds above 0\n --> rejected/timeouts.yaml:3:45",
        "warning[CLX101]",
    ] {
        assert!(stderr.contains(part), "{part:?} is not in:\n{stderr}");
    }
}

#[test]
fn a_program_may_be_named_like_a_shell_operator() {
    let folder = std::env::temp_dir().join(format!("climax-operator-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let config = "name: sym\ncategory: text\ncommand: <\ntools: [{name: a, description: A}]\n";
    std::fs::write(folder.join("sym.yaml"), config).expect("a file");
    let output = climax_codegen(&["check", folder.to_str().expect("UTF-8")]);
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn check_prints_diagnostics_as_json() {
    let output = climax_codegen(&["check", "--json", "rejected/no_tools.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let diagnostics: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let mut diagnostics = diagnostics.as_array().expect("a list").iter();
    let error = diagnostics.find(|diagnostic| diagnostic["severity"] == "error");
    assert_eq!(
        error.expect("an error"),
        &json!({
            "file": "rejected/no_tools.yaml",
            "line": 2,
            "column": 8,
            "severity": "error",
            "code": "CLX015",
            "message": "a config needs at least one tool",
            "help": "add an entry with `name`, `description` and `command`",
        })
    );
    let valid = climax_codegen(&["check", "--json", "golden/every_kind.yaml"]);
    assert!(valid.status.success());
    let missing = climax_codegen(&["check", "--json", "no/such.yaml"]);
    assert_eq!(missing.status.code(), Some(1));
    let diagnostics: Value = serde_json::from_str(&stdout(&missing)).expect("JSON");
    assert_eq!(diagnostics[0]["code"], "CLX001");
    assert_eq!(diagnostics[0]["line"], Value::Null);
}

#[test]
fn check_applies_a_policy_to_the_configs() {
    let folder = std::env::temp_dir().join(format!("climax-program-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let check = |policy: &str| {
        let path = folder.join("policy.yaml");
        std::fs::write(&path, policy).expect("written");
        let path = path.to_str().expect("UTF-8");
        climax_codegen(&["check", "--policy", path, "golden/every_kind.yaml"])
    };
    let valid = check("tools: {nothing: {}}");
    assert!(valid.status.success(), "{}", stderr(&valid));
    assert_eq!(stdout(&valid), "every-kind: 1 tool\n");
    let invalid = check("tools: {nothing: {}, every_knid: {}}");
    assert_eq!(invalid.status.code(), Some(1));
    assert!(
        stderr(&invalid).contains("did you mean `every_kind`?"),
        "{}",
        stderr(&invalid)
    );
    let missing = climax_codegen(&["check", "--policy", "no.yaml", "golden/every_kind.yaml"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        stderr(&missing).contains("cannot read `no.yaml`"),
        "{}",
        stderr(&missing)
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn check_refuses_added_fields_for_the_base_schema() {
    let config = "golden/added_fields.yaml";
    let accepted = climax_codegen(&["check", config]);
    assert!(accepted.status.success(), "{}", stderr(&accepted));
    let refused = climax_codegen(&["check", "--base-schema", config]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(stdout(&refused), "");
    assert!(stderr(&refused).contains("error[CLX047]"));
}

#[test]
fn emit_prints_the_generated_code() {
    let output = climax_codegen(&["emit", "golden/every_kind.yaml"]);
    assert!(output.status.success());
    let golden = include_str!("../golden/every_kind.rs");
    assert!(
        stdout(&output) == golden,
        "the code differs from the golden file"
    );
    let invalid = climax_codegen(&["emit", "rejected/no_tools.yaml"]);
    assert_eq!(invalid.status.code(), Some(1));
    assert_eq!(stdout(&invalid), "");
}

#[test]
fn explain_describes_one_or_all_codes() {
    let output = climax_codegen(&["explain", "clx021"]);
    assert!(output.status.success());
    assert!(stdout(&output).starts_with("CLX021\n\nTwo tools have the same name"));
    let all = climax_codegen(&["explain"]);
    for line in [
        "CLX013  YAML 1.1 and YAML 1.2 read this value differently\n",
        "CLX104  The policy allows a tool with `risk: destructive`",
        "CLX105  The config has no category\n",
    ] {
        assert!(stdout(&all).contains(line), "{line}");
    }
    let unknown = climax_codegen(&["explain", "CLX999"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("unknown code `CLX999`"));
}
