//! Compiles the code generator's golden files and calls their tools.

use std::os::unix::fs::symlink;

use climax_tests::{Folder, Server, server};
use serde_json::{Value, json};

mod added_fields {
    include!("../../codegen/tests/golden/added_fields.rs");
}

mod every_kind {
    include!("../../codegen/tests/golden/every_kind.rs");
}

mod odd_names {
    include!("../../codegen/tests/golden/odd_names.rs");
}

mod with_policy {
    include!("../../codegen/tests/golden/with_policy.rs");
}

#[test]
fn every_tool_of_a_golden_file_is_found_under_its_name() {
    for catalog in [
        &added_fields::CATALOG,
        &every_kind::CATALOG,
        &odd_names::CATALOG,
        &with_policy::CATALOG,
    ] {
        for (number, tool) in (0..).zip(catalog.tables.tools.rows().iter()) {
            let name = tool.name.of(&catalog.tables.text);
            assert_eq!((catalog.find)(name), Some(number), "{name}");
        }
        assert_eq!((catalog.find)("no_such_tool"), None);
    }
}

/// A server of a golden file with these variables set. Its commands are links to `argdump` in the folder.
fn serve_golden(name: &str, variables: &[(&str, &str)]) -> (Server, Folder) {
    let folder = Folder::new();
    for program in ["show", "odd", "docker", "program"] {
        let link = folder.path().join(program);
        symlink(env!("CARGO_BIN_EXE_argdump"), link).expect("a link");
    }
    let mut command = server!(env!("CARGO_BIN_EXE_golden"));
    command
        .env("GOLDEN", name)
        .env("PATH", folder.path())
        .env_remove("VAULT")
        .env_remove("DEBUG")
        .envs(variables.iter().copied());
    (Server::start(&mut command), folder)
}

/// What `argdump` received.
fn dumped(server: &mut Server, tool: &str, args: &Value) -> Value {
    let response = server.call(tool, args);
    assert!(!response.is_error, "{tool} {args}: {response:?}");
    response.json()
}

#[test]
fn the_golden_code_reads_and_writes_every_kind_of_argument() {
    let (mut server, folder) = serve_golden("every_kind", &[]);
    let args = json!({
        "message": "-x", "count": 3, "ratio": 0.25, "all": true, "format": "plain text", "level": 2,
        "scale": 2.5, "path": "p q", "number": -7, "directory": folder.path(), "input": "text\n",
    });
    let all = dumped(&mut server, "every_kind", &args);
    let structured = server.call("every_kind", &args).structured;
    assert_eq!(structured, None, "every byte would be sent twice");
    assert_eq!(
        all["argv"],
        json!([
            "every",
            "kind",
            "p q",
            "-7",
            "-m-x",
            "--count",
            "3",
            "ratio=0.25",
            "-a",
            "--format",
            "plain text",
            "--level",
            "2",
            "--scale",
            "2.5"
        ])
    );
    assert_eq!(all["cwd"], folder.text());
    assert_eq!(all["stdin"], "text\n");

    let required = json!({"message": "m", "level": "1"});
    let defaults = dumped(&mut server, "every_kind", &required);
    assert_eq!(
        defaults["argv"],
        json!([
            "every",
            "kind",
            "-m",
            "m",
            "--count",
            "10",
            "ratio=0.5",
            "--format",
            "json",
            "--level",
            "1",
            "--scale",
            "1"
        ])
    );
    assert_eq!(defaults["stdin"], "");

    let nothing = dumped(&mut server, "nothing", &json!({}));
    assert_eq!(nothing["argv"], json!([]));
}

#[test]
fn the_golden_code_refuses_missing_and_wrong_arguments() {
    let (mut server, _folder) = serve_golden("every_kind", &[]);
    let args = json!({
        "count": "x", "ratio": [], "all": "maybe", "format": "xml", "scale": 3, "path": "-p", "number": 1.5,
    });
    let response = server.call("every_kind", &args);
    assert!(response.is_error, "{response:?}");
    assert_eq!(
        response.text,
        "Argument validation failed:\n  \
         - Missing required argument 'message'\n  \
         - Missing required argument 'level'\n  \
         - Argument 'count': cannot convert 'x' to integer\n  \
         - Argument 'ratio': cannot convert '[]' to number\n  \
         - Argument 'all': cannot convert 'maybe' to boolean\n  \
         - Argument 'format' must be one of: json, plain text\n  \
         - Argument 'scale' must be one of: 1, 2.5\n  \
         - Argument 'number': cannot convert '1.5' to integer\n  \
         - Argument 'path': value '-p' would be read as an option"
    );
}

#[test]
fn the_golden_code_appends_global_arguments_to_every_call() {
    let variables = [("VAULT", "mine"), ("DEBUG", "1")];
    let (mut server, _folder) = serve_golden("every_kind", &variables);
    let nothing = dumped(&mut server, "nothing", &json!({}));
    assert_eq!(nothing["argv"], json!(["vault=mine", "--debug"]));
    let all = dumped(
        &mut server,
        "every_kind",
        &json!({"message": "m", "level": 1}),
    );
    let words = all["argv"].as_array().expect("a list");
    assert_eq!(words[words.len() - 2..], ["vault=mine", "--debug"]);
}

#[test]
fn the_golden_code_keeps_names_apart_that_become_the_same_identifier() {
    let (mut server, _folder) = serve_golden("odd_names", &[]);
    let args = json!({"self": "1", "Größe": "2"});
    let log = dumped(&mut server, "git-log", &args);
    assert_eq!(log["argv"], json!(["-s", "1", "-g", "2"]));
    for value in ["", "-", "self", "Self"] {
        let log = dumped(&mut server, "git-log", &json!({"type": value}));
        assert_eq!(log["argv"], json!(["--type", value]));
    }
    let option = dumped(&mut server, "option", &json!({"some": "x"}));
    assert_eq!(option["argv"], json!(["--some", "x"]));
    // These have no arguments, although tools with similar names do.
    let args = json!({"self": "1", "Größe": "2", "type": "self", "some": "x"});
    for tool in [
        "git_log",
        "git-log_type",
        "1password",
        "self",
        "tools",
        "Argv",
    ] {
        assert_eq!(
            dumped(&mut server, tool, &args)["argv"],
            json!([]),
            "{tool}"
        );
    }
}

#[test]
fn the_golden_code_applies_its_policy_and_container() {
    let (mut server, _folder) = serve_golden("with_policy", &[("HOME", "/home/someone")]);
    let args = json!({"word": "abc", "most": 20, "format": "text"});
    let call = dumped(&mut server, "notes_find", &args);
    let words: Vec<String> = serde_json::from_value(call["argv"].clone()).expect("words");
    let (run, rest) = words.split_at(4);
    assert_eq!(run[..3], ["run", "--rm", "--name"]);
    assert_eq!(
        rest,
        [
            "-v",
            "/home/someone/notes:/notes",
            "--network",
            "none",
            "notes",
            "notes",
            "abc",
            "--most",
            "20",
            "--format",
            "text"
        ]
    );
    assert_eq!(
        call["inherited"],
        Value::Null,
        "the policy removes variables"
    );

    for (args, refusal) in [
        (json!({"word": "ABC"}), "does not match pattern '[a-z]+'"),
        (json!({"word": "abc", "most": 21}), "exceeds maximum 20.0"),
        (json!({"word": "abc", "most": 0}), "below minimum 1.0"),
        (
            json!({"word": "abc", "format": "html"}),
            "does not match pattern 'text'",
        ),
    ] {
        let response = server.call("notes_find", &args);
        assert!(response.is_error, "{args}: {response:?}");
        assert!(response.text.contains(refusal), "{args}: {response:?}");
    }
    let response = server.call("notes_delete", &json!({"name": "x"}));
    assert_eq!(response.text, "Unknown tool: notes_delete");
}

#[test]
fn the_golden_code_reads_and_writes_lists_and_maps() {
    let (mut server, _folder) = serve_golden("added_fields", &[("PROGRAM_TOKEN", "base")]);
    let args = json!({
        "files": ["a b", "c"], "exclude": ["x", "y"], "fields": ["name"], "level": [1, "2"], "ratio": [0.5, 2],
        "kind": ["folder", "file"], "labels": {"team": "web", "size": 3}, "headers": {"Accept": "text/html"},
    });
    let all = dumped(&mut server, "lists", &args);
    let expected = [
        "base",
        "run",
        "a b",
        "c",
        "--exclude=x",
        "--exclude=y",
        "--fields",
        "name",
        "-l",
        "1",
        "-l",
        "2",
        "-r0.5",
        "-r2",
        "-k",
        "folder",
        "-k",
        "file",
        "--label",
        "team=web",
        "--label",
        "size=3",
        "-H",
        "Accept: text/html",
    ];
    assert_eq!(all["argv"], json!(expected));
    let response = server.call("lists", &args);
    assert_eq!(response.structured, Some(response.json()), "`output: json`");
    // One value counts as a list, text that holds a JSON list is that list, and an empty list is absent.
    for (args, expected) in [
        (
            json!({"files": "a"}),
            json!(["base", "run", "a", "--fields", "name,size"]),
        ),
        (
            json!({"files": "[\"a\", \"b\"]", "level": 3, "exclude": []}),
            json!(["base", "run", "a", "b", "--fields", "name,size", "-l", "3"]),
        ),
        (
            json!({"labels": "{\"a\": \"b\"}", "fields": "one"}),
            json!(["base", "run", "--fields", "one", "--label", "a=b"]),
        ),
    ] {
        assert_eq!(
            dumped(&mut server, "lists", &args)["argv"],
            expected,
            "{args}"
        );
    }
}

#[test]
fn the_golden_code_refuses_wrong_lists_maps_and_combinations() {
    let (mut server, _folder) = serve_golden("added_fields", &[("PROGRAM_TOKEN", "")]);
    for (args, reasons) in [
        (
            json!({"files": ["a", "-x"], "level": [1, "x", 12], "kind": ["file", "link"]}),
            &[
                "Argument 'level': cannot convert 'x' to integer",
                "Argument 'level': value 12 exceeds maximum 9.0",
                "Argument 'kind' must be one of: file, folder",
                "Argument 'files': value '-x' would be read as an option",
            ][..],
        ),
        (
            json!({"files": ["a", "b", "c", "d"], "fields": ["a,b"]}),
            &[
                "Argument 'files': number of items 4 exceeds maximum 3",
                "Argument 'fields': item 'a,b' must not contain the separator ','",
            ],
        ),
        (
            json!({"labels": {"A": "x", "b=c": "x", "d": ["x"]}, "headers": "x"}),
            &[
                "Argument 'labels': key 'A' does not match pattern '[a-z]+'",
                "Argument 'labels': key 'b=c' must not be empty or contain '='",
                "Argument 'labels': cannot convert '[\"x\"]' to string",
                "Argument 'headers': cannot convert 'x' to object",
            ],
        ),
        (
            json!({}),
            &["At least one of the arguments 'files', 'labels' is required"],
        ),
        (
            json!({"labels": {"a": "b"}, "depth": 1, "all": true}),
            &[
                "Arguments 'depth', 'all' exclude each other: give only one",
                "Argument 'depth' requires 'files'",
            ],
        ),
    ] {
        let response = server.call("lists", &args);
        let reasons = reasons.join("\n  - ");
        let text = format!("Argument validation failed:\n  - {reasons}");
        assert_eq!((response.text, response.is_error), (text, true), "{args}");
    }
    let allowed = server.call("lists", &json!({"files": "a", "depth": 1, "all": false}));
    assert!(!allowed.is_error, "{allowed:?}");
}

#[test]
fn the_golden_code_puts_words_into_their_sections() {
    let (mut server, _folder) = serve_golden("added_fields", &[("PROGRAM_TOKEN", "base")]);
    let arguments = json!({
        "name": "n", "directory": "/d", "jobs": 4, "color": false, "pager": false, "manifest": "a: 1\n",
        "script": "echo", "target": "t", "rest": ["--force", "-"],
    });
    let all = dumped(&mut server, "places", &arguments);
    let argv: Vec<&str> = all["argv"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let [script, manifest] = [argv[5], argv[10]];
    assert_eq!(
        argv,
        [
            "base",
            "-C",
            "/d",
            "run",
            "n",
            script,
            "-j4",
            "--no-color",
            "--no-pager",
            "-f",
            manifest,
            "t",
            "--",
            "--force",
            "-",
        ]
    );
    assert!(manifest.ends_with("/manifest-2.yaml"), "{manifest}");
    assert!(script.ends_with("/script-1"), "{script}");
    let shorter = json!({"manifest": "", "rest": "x", "color": true, "pager": true});
    let shorter = dumped(&mut server, "places", &shorter);
    assert_eq!(shorter["argv"][2], "--color");
    let refused = server.call(
        "places",
        &json!({"manifest": "", "rest": [], "name": "N", "target": "-t"}),
    );
    assert_eq!(
        refused.text,
        "Argument validation failed:\n  - Missing required argument 'rest'\n  - Argument 'name': value 'N' does not \
         match pattern '[a-z-]+'\n  - Argument 'target': value '-t' would be read as an option"
    );
}
