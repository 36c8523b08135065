//! `climax call` and `climax show`.

use std::fs;
use std::process::{Command, Stdio};

use climax_tests::{Folder, count_processes, eventually, fixtures, run, send_signal};
use serde_json::{Value, json};

fn stdout(command: &mut Command) -> (Option<i32>, String) {
    let output = run(command);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (output.status.code(), text)
}

fn stderr(command: &mut Command) -> (Option<i32>, String) {
    let output = run(command);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    (output.status.code(), text)
}

#[test]
fn a_call_prints_what_an_agent_would_read_and_its_exit_code_says_whether_it_failed() {
    assert_eq!(
        stdout(&mut fixtures!("call", "git_status")),
        (Some(0), "git status\n".to_owned())
    );
    assert_eq!(
        stdout(&mut fixtures!(
            "call",
            "shell_run",
            "script=echo out; exit 3"
        )),
        (Some(1), "out\n\n[exit code: 3]\n".to_owned())
    );
    assert_eq!(
        stdout(&mut fixtures!("call", "no_such_tool")),
        (Some(1), "Unknown tool: no_such_tool\n".to_owned())
    );
    let (code, text) = stdout(&mut fixtures!("call", "shell_run"));
    assert_eq!(code, Some(1));
    assert!(
        text.contains("Missing required argument 'script'"),
        "{text}"
    );
}

#[test]
fn a_misspelt_tool_and_ignored_arguments_are_noted_on_standard_error() {
    let (_, note) = stderr(&mut fixtures!("call", "git_statsu"));
    assert_eq!(
        note,
        "Did you mean git_status?\ngit_status takes no arguments\n"
    );
    let (_, note) = stderr(&mut fixtures!("call", "git_status", "colour=1"));
    assert!(
        note.starts_with("Ignored:\n  - Unknown argument 'colour'"),
        "{note}"
    );
}

#[test]
fn arguments_are_pairs_or_a_json_object_or_both() {
    let call = |arguments: &[&str]| {
        let (code, text) = stdout(fixtures!("call", "dump_kinds").args(arguments));
        assert_eq!(code, Some(0), "{text}");
        let dumped: Value = serde_json::from_str(&text).expect("JSON");
        dumped["argv"].clone()
    };
    let expected = json!(["show", "kinds", "-t", "a=b", "--count", "3"]);
    assert_eq!(call(&["text=a=b", "count=3"]), expected);
    assert_eq!(
        call(&["--json", r#"{"text": "a=b", "count": 3}"#]),
        expected
    );
    assert_eq!(call(&["count=3", "--json", r#"{"text": "a=b"}"#]), expected);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [
        &["call"][..],
        &["call", "dump_kinds", "text"],
        &["call", "dump_kinds", "--json", "[1]"],
        &["call", "dump_kinds", "text=a", "--json", r#"{"text": "b"}"#],
        &["call", "dump_kinds", "--policy", "/no/such/policy.yaml"],
        &["show"],
        &["show", "no_such_tool_at_all"],
    ] {
        let (code, text) = stderr(fixtures!().args(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {text}");
        assert!(text.contains("error"), "{arguments:?}: {text}");
    }
}

#[test]
fn a_policy_applies_to_a_call_and_to_a_dry_run() {
    let folder = Folder::new();
    let policy = folder.path().join("policy.yaml");
    let rules =
        "default: disabled\ntools:\n  dump_kinds:\n    args:\n      text: {pattern: '^[a-z]+$'}\n";
    fs::write(&policy, rules).expect("a file");
    for dry_run in [&[][..], &["--dry-run"]] {
        let (code, text) = stdout(
            fixtures!("call", "dump_kinds", "text=ABC", "--policy")
                .arg(&policy)
                .args(dry_run),
        );
        assert_eq!(code, Some(1));
        assert!(text.starts_with("Policy validation failed:\n"), "{text}");
        let (code, text) = stdout(
            fixtures!("call", "git_status", "--policy")
                .arg(&policy)
                .args(dry_run),
        );
        assert_eq!(code, Some(1));
        assert_eq!(text, "Unknown tool: git_status\n");
    }
}

#[test]
fn a_dry_run_prints_what_would_run_and_runs_nothing() {
    let folder = Folder::new();
    let witness = folder.path().join("witness");
    let script = format!("script=touch {}", witness.display());
    let directory = format!("directory={}", folder.text());
    let mut command = fixtures!("call", "shell_run", &script, &directory, "--dry-run");
    let (code, text) = stdout(&mut command);
    assert_eq!(code, Some(0));
    assert!(!witness.exists());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Program       /"), "{text}");
    assert!(lines[0].ends_with("/sh"), "{text}");
    assert_eq!(
        lines[1],
        format!("Command line  sh -c 'touch {}'", witness.display())
    );
    assert_eq!(lines[2], format!("Directory     {}", folder.text()));
    assert_eq!(lines[3], "Input         none");
    assert_eq!(lines[4], "Variables     none");
    assert_eq!(lines[5], "Timeout       100 s");
    let (_, text) = stdout(&mut fixtures!(
        "call",
        "dump_stdin",
        "text=one",
        "--dry-run"
    ));
    assert!(text.contains("Input         3 bytes\n"), "{text}");
    assert!(text.ends_with("\n\none\n"), "{text}");
    let (_, text) = stdout(&mut fixtures!("call", "dump_nothing", "--dry-run"));
    assert!(text.contains("Variables     FROM_CONFIG="), "{text}");
    let (_, note) = stderr(&mut fixtures!(
        "call",
        "git_status",
        "colour=1",
        "--dry-run"
    ));
    assert!(note.contains("Unknown argument 'colour'"), "{note}");
    let (_, text) = stdout(&mut fixtures!("call", "missing_program", "--dry-run"));
    assert!(text.contains("(not installed)"), "{text}");
}

#[test]
fn results_and_dry_runs_can_be_printed_as_json() {
    let json_of = |arguments: &[&str]| -> Value {
        let (_, text) = stdout(fixtures!("call").args(arguments));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    assert_eq!(
        json_of(&["git_status", "--print-json"]),
        json!({"is_error": false, "text": "git status", "hints": []})
    );
    assert_eq!(
        json_of(&["git_statsu", "--print-json", "--dry-run"]),
        json!({"is_error": true, "text": "Unknown tool: git_statsu", "hints": ["Did you mean git_status?", "git_status takes no arguments"]})
    );
    let plan = json_of(&["dump_stdin", "text=one", "--print-json", "--dry-run"]);
    assert_eq!(plan["stdin"], "one");
    for key in ["argv", "env"] {
        assert!(plan[key].is_array(), "{plan}");
    }
    assert!(plan["timeout_seconds"].is_number(), "{plan}");
    assert!(plan["program"].is_string(), "{plan}");
}

#[test]
fn a_signal_cancels_the_call_and_leaves_nothing_running() {
    for signal in ["INT", "TERM"] {
        let mut command = fixtures!("call", "shell_run", "script=sleep 1291 & sleep 1292");
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let running = || count_processes(&["sleep", "1291"]) + count_processes(&["sleep", "1292"]);
        eventually("it runs", || running() == 2);
        send_signal(signal, child.id());
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{signal}");
        assert_eq!(running(), 0, "{signal}");
    }
}

#[test]
fn a_terminal_shows_the_time_and_the_last_line_while_a_call_runs() {
    let folder = Folder::new();
    let [typescript, end] = ["typescript", "end"].map(|name| folder.path().join(name));
    let program = fixtures!().get_program().to_owned();
    let script = format!(
        "echo half done; until [ -e {} ]; do sleep 0.05; done",
        end.display()
    );
    let command = format!("{} call shell_run script='{script}'", program.display());
    // `script` runs a command with a terminal, and `-f` writes what it shows at once.
    let child = Command::new("script")
        .args(["-q", "-f", "-c", &command])
        .arg(&typescript)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let mut child = child.expect("`script` (bsdutils or util-linux) is installed");
    let shown = || {
        let bytes = fs::read(&typescript).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    eventually("the time and the last line are shown", || {
        shown().contains(" 1 s: half done")
    });
    fs::write(&end, "").expect("a file");
    assert!(child.wait().expect("it ends").success());
    // Without a terminal, only the result is printed.
    let (_, text) = stderr(&mut fixtures!("call", "shell_run", "script=sleep 0.5"));
    assert_eq!(text, "");
}

#[test]
fn show_describes_a_tool_with_its_arguments_example_and_program() {
    let (code, text) = stdout(&mut fixtures!("show", "shell_run"));
    assert_eq!(code, Some(0));
    assert!(text.starts_with("shell_run\nRuns a script\n"), "{text}");
    for part in [
        "Risk     not declared\n",
        "Program  /",
        "  ARGUMENT   TYPE    DEFAULT   DESCRIPTION",
        "  script     string  required",
        "Example\n  climax call shell_run ",
        "Its command line\n  sh -c ",
        "Schema\n{\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, text) = stdout(&mut fixtures!("show", "missing_program"));
    assert!(text.contains("(not installed)"), "{text}");
}

#[test]
fn the_example_that_show_prints_can_be_called() {
    let (_, text) = stdout(&mut fixtures!("show", "docker_rm"));
    let mut lines = text.lines().skip_while(|line| *line != "Example");
    let example = lines.nth(1).expect("an example");
    let arguments = example.trim().strip_prefix("climax ").expect("a command");
    let program = fixtures!().get_program().to_owned();
    let command = format!("{} {arguments}", program.display());
    let (code, text) = stdout(Command::new("sh").args(["-c", &command]));
    assert_eq!(code, Some(0), "{command}: {text}");
    let (_, text) = stdout(&mut fixtures!("show", "docker_rm", "--json"));
    let shown: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(shown["tool_name"], "docker_rm");
    assert!(shown["input_schema"]["properties"].is_object(), "{shown}");
    assert!(
        shown["examples"][0]["arguments"]["args"].is_object(),
        "{shown}"
    );
}

#[test]
fn show_suggests_names_for_an_unknown_tool() {
    let (_, text) = stderr(&mut fixtures!("show", "git_statsu"));
    assert!(text.contains("did you mean `git_status`"), "{text}");
}
