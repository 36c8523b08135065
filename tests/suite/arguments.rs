//! How generated code turns a call's JSON arguments into a command line, for every argument type.

use climax_tests::{Folder, Server, fixtures};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!())
}

/// The words that the program received.
fn argv(server: &mut Server, tool: &str, args: &Value) -> Vec<String> {
    let response = server.call(tool, args);
    assert!(!response.is_error, "{tool} {args}: {response:?}");
    serde_json::from_value(response.json()["argv"].clone()).expect("a list of words")
}

/// The error lines of a refused call.
fn refusal(server: &mut Server, tool: &str, args: &Value) -> Vec<String> {
    let response = server.call(tool, args);
    assert!(response.is_error, "{tool} {args}: {response:?}");
    let lines = response
        .text
        .strip_prefix("Argument validation failed:\n  - ");
    let lines = lines.unwrap_or_else(|| panic!("{response:?}"));
    lines.split("\n  - ").map(str::to_owned).collect()
}

#[test]
fn optional_arguments_that_are_absent_add_no_words() {
    let mut server = start();
    assert_eq!(argv(&mut server, "dump_nothing", &json!({})), [""; 0]);
    assert_eq!(
        argv(&mut server, "dump_kinds", &json!({})),
        ["show", "kinds"]
    );
}

#[test]
fn each_argument_type_becomes_words_in_definition_order() {
    let args = json!({
        "max_depth": 4, "dry_run": true, "key": "a b", "scale": 2.5, "level": -3,
        "format": "plain text", "verbose": true, "ratio": 0.25, "count": -7, "text": "t",
    });
    assert_eq!(
        argv(&mut start(), "dump_kinds", &args),
        [
            "show",
            "kinds",
            "-t",
            "t",
            "--count",
            "-7",
            "--ratio",
            "0.25",
            "-v",
            "-f",
            "plain text",
            "--level",
            "-3",
            "--scale",
            "2.5",
            "key=a b",
            "--dry-run",
            "--max-depth",
            "4",
        ]
    );
}

#[test]
fn values_are_coerced_to_the_arguments_type() {
    let mut server = start();
    for (args, words) in [
        (json!({"text": 5}), ["-t", "5"]),
        (json!({"text": 5.0}), ["-t", "5.0"]),
        (json!({"text": 1e16}), ["-t", "1e+16"]),
        (json!({"text": true}), ["-t", "true"]),
        (json!({"text": ""}), ["-t", ""]),
        (json!({"count": " +42 "}), ["--count", "42"]),
        (json!({"count": 3.0}), ["--count", "3"]),
        (json!({"count": true}), ["--count", "1"]),
        (json!({"ratio": 3}), ["--ratio", "3"]),
        (json!({"ratio": "3"}), ["--ratio", "3.0"]),
        (json!({"ratio": "1e-5"}), ["--ratio", "1e-05"]),
        (json!({"level": "2"}), ["--level", "2"]),
        (json!({"scale": 1.0}), ["--scale", "1"]),
    ] {
        let got = argv(&mut server, "dump_kinds", &args);
        assert_eq!(got[2..], words, "{args}");
    }
    for (value, is_there) in [
        (json!("TRUE"), true),
        (json!(1), true),
        (json!("false"), false),
        (json!(0), false),
        (json!(null), false),
    ] {
        let got = argv(&mut server, "dump_kinds", &json!({"verbose": value}));
        assert_eq!(got.contains(&"-v".to_owned()), is_there, "{value}");
    }
}

#[test]
fn values_that_cannot_be_coerced_are_refused() {
    let mut server = start();
    for (args, line) in [
        (
            json!({"count": 3.7}),
            "Argument 'count': cannot convert '3.7' to integer",
        ),
        (
            json!({"count": "3.0"}),
            "Argument 'count': cannot convert '3.0' to integer",
        ),
        (
            json!({"count": u64::MAX}),
            "Argument 'count': cannot convert '18446744073709551615' to integer",
        ),
        (
            json!({"count": [1]}),
            "Argument 'count': cannot convert '[1]' to integer",
        ),
        (
            json!({"ratio": "nan"}),
            "Argument 'ratio': cannot convert 'nan' to number",
        ),
        (
            json!({"verbose": "yes"}),
            "Argument 'verbose': cannot convert 'yes' to boolean",
        ),
        (
            json!({"verbose": 1.0}),
            "Argument 'verbose': cannot convert '1.0' to boolean",
        ),
        (
            json!({"text": {"a": 1}}),
            "Argument 'text': cannot convert '{\"a\":1}' to string",
        ),
        (
            json!({"format": "xml"}),
            "Argument 'format' must be one of: json, plain text, csv",
        ),
        (
            json!({"format": "JSON"}),
            "Argument 'format' must be one of: json, plain text, csv",
        ),
        (
            json!({"level": 3}),
            "Argument 'level' must be one of: 1, 2, -3",
        ),
        (
            json!({"level": "x"}),
            "Argument 'level': cannot convert 'x' to integer",
        ),
        (
            json!({"scale": 2}),
            "Argument 'scale' must be one of: 1, 2.5",
        ),
    ] {
        assert_eq!(refusal(&mut server, "dump_kinds", &args), [line], "{args}");
    }
}

#[test]
fn required_arguments_must_be_present_and_null_counts_as_absent() {
    let mut server = start();
    assert_eq!(
        refusal(&mut server, "dump_required", &json!({"message": null})),
        [
            "Missing required argument 'message'",
            "Missing required argument 'format'",
            "Missing required argument 'count'",
        ]
    );
    let args = json!({"message": "m", "format": "csv", "count": 1});
    assert_eq!(
        argv(&mut server, "dump_required", &args),
        ["-m", "m", "--format", "csv", "--count", "1"]
    );
}

#[test]
fn positional_arguments_come_before_flags() {
    let args =
        json!({"flagged": "f", "path": "p q", "number": -5, "switch": "-a", "yes_or_no": false});
    assert_eq!(
        argv(&mut start(), "dump_positional", &args),
        ["go", "p q", "-5", "-a", "false", "--flag", "f"]
    );
}

#[test]
fn a_positional_value_that_looks_like_an_option_is_refused_unless_the_config_lists_it() {
    let mut server = start();
    for path in ["-x", "--output=file", "--"] {
        assert_eq!(
            refusal(&mut server, "dump_positional", &json!({"path": path})),
            [format!(
                "Argument 'path': value '{path}' would be read as an option"
            )]
        );
    }
    let single = argv(
        &mut server,
        "dump_positional",
        &json!({"path": "-", "switch": "-b"}),
    );
    assert_eq!(single, ["go", "-", "-b"]);
}

#[test]
fn values_that_look_like_options_are_reported_with_the_other_errors() {
    let args = json!({"path": "--x", "number": "abc"});
    assert_eq!(
        refusal(&mut start(), "dump_positional", &args),
        [
            "Argument 'number': cannot convert 'abc' to integer",
            "Argument 'path': value '--x' would be read as an option",
        ]
    );
}

#[test]
fn a_flags_value_like_an_option_is_joined_to_it() {
    let args =
        json!({"long": "-x", "short": "-- fix", "odd": "-foo", "inline": "-y", "rest": "-z"});
    assert_eq!(
        argv(&mut start(), "dump_options", &args),
        ["--long=-x", "-s-- fix", "-name", "-foo", "k=-y", "--", "-z"]
    );
    let args = json!({"long": "-", "short": "a-b"});
    assert_eq!(
        argv(&mut start(), "dump_options", &args),
        ["--long", "-", "-s", "a-b"]
    );
}

#[test]
fn defaults_apply_to_words_directory_and_stdin() {
    let mut server = start();
    let dumped = server.call("dump_defaults", &json!({})).json();
    assert_eq!(
        dumped["argv"],
        json!([
            ".", "-n", "10", "--ratio", "0.5", "--whole", "3", "-q", "--format", "text"
        ])
    );
    assert_eq!(dumped["cwd"], "/");
    assert_eq!(dumped["stdin"], "default input");
    let folder = Folder::new();
    let args = json!({
        "path": "p", "count": 1, "ratio": 2, "whole": "4", "quiet": false, "loud": true,
        "format": "json", "directory": folder.text(), "input": "",
    });
    let dumped = server.call("dump_defaults", &args).json();
    assert_eq!(
        dumped["argv"],
        json!([
            "p", "-n", "1", "--ratio", "2", "--whole", "4.0", "-l", "--format", "json"
        ])
    );
    assert_eq!(dumped["cwd"], folder.text());
    assert_eq!(dumped["stdin"], "");
}

#[test]
fn a_directory_argument_sets_the_working_directory_and_adds_no_word() {
    let folder = Folder::new();
    let dumped = start()
        .call("dump_directory", &json!({"where": folder.text()}))
        .json();
    assert_eq!(dumped["cwd"], folder.text());
    assert_eq!(dumped["argv"], json!([]));
}

#[test]
fn the_working_directory_of_a_config_is_expanded_and_a_call_can_override_it() {
    let (config, call) = (Folder::new(), Folder::new());
    let mut server = Server::start(fixtures!().env("PLAIN_DIRECTORY", config.path()));
    let dumped = server.call("plain_dump", &json!({"where": ""})).json();
    assert_eq!(dumped["cwd"], config.text(), "an empty one is none");
    let dumped = server.call("plain_dump", &json!({})).json();
    assert_eq!(dumped["cwd"], config.text());
    let dumped = server
        .call("plain_dump", &json!({"where": call.text()}))
        .json();
    assert_eq!(dumped["cwd"], call.text());
}

#[test]
fn the_base_command_is_expanded_and_split_and_global_arguments_are_appended() {
    let folder = Folder::new();
    let mut server = Server::start(
        fixtures!()
            .env("PLAIN_DIRECTORY", folder.path())
            .env("PLAIN_VAULT", "my vault")
            .env("PLAIN_PROFILE", "")
            .env("PLAIN_DEBUG", "1"),
    );
    assert_eq!(
        argv(&mut server, "plain_dump", &json!({"flag": "x"})),
        [
            "base",
            "words",
            "run",
            "-f",
            "x",
            "vault=my vault",
            "--region-name",
            "eu",
            "--debug"
        ]
    );
}

#[test]
fn global_arguments_with_an_unset_variable_are_omitted_and_never_in_a_schema() {
    let folder = Folder::new();
    let mut server = Server::start(fixtures!().env("PLAIN_DIRECTORY", folder.path()));
    assert_eq!(
        argv(&mut server, "plain_dump", &json!({"vault": "mine"})),
        ["base", "words", "run", "--region-name", "eu"]
    );
    let response = server.search(&json!({"query": "plain_dump"}));
    let schema = &response["results"][0]["input_schema"];
    assert_eq!(
        schema,
        &json!({"type": "object", "properties": {"where": {"type": "string"}, "flag": {"type": "string"}}})
    );
}

#[test]
fn variables_of_a_config_are_set_literally_and_others_are_inherited() {
    let dumped = start().call("dump_nothing", &json!({})).json();
    assert_eq!(dumped["from_config"], "value = with $SIGNS");
    assert_eq!(dumped["inherited"], "from the server");
}

#[test]
fn values_reach_the_program_unchanged() {
    let mut server = start();
    for value in [
        "$HOME `id` $(id) ; | & > *",
        "a\nb\tc",
        "\"'\\",
        "größe \u{1f600}",
        " ",
        "x y",
    ] {
        let got = argv(&mut server, "dump_kinds", &json!({"text": value}));
        assert_eq!(got[3], value);
    }
}

#[test]
fn tool_and_argument_names_need_not_be_rust_identifiers() {
    let mut server = start();
    let args =
        json!({"self": "1", "type": "Self", "Größe": "3", "1st": "4", "a-b": "5", "a_b": "6"});
    assert_eq!(
        argv(&mut server, "self", &args),
        [
            "--self", "1", "--type", "Self", "--size", "3", "--first", "4", "--dash", "5",
            "--under", "6"
        ]
    );
    for (value, is_allowed) in [
        ("", true),
        ("-", true),
        ("1", true),
        ("type", true),
        ("2", false),
    ] {
        let response = server.call("self", &json!({"type": value}));
        assert_eq!(!response.is_error, is_allowed, "{value:?}: {response:?}");
    }
    assert_eq!(
        argv(&mut server, "dump-log", &json!({"format": "one"})),
        ["--format", "one"]
    );
    assert_eq!(
        argv(&mut server, "dump.log", &json!({"format": "two"})),
        ["--format", "two"]
    );
    for tool in ["dump_log_format", "1password", "tools"] {
        assert_eq!(argv(&mut server, tool, &json!({})), [""; 0]);
    }
}
