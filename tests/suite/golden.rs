//! Compiles the code generator's golden files and calls their tools.

use std::os::unix::fs::symlink;

use climax_tests::{Folder, Server, server};
use serde_json::{Value, json};

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
    for program in ["show", "odd", "docker"] {
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
