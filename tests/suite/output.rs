//! Output that is too long for an answer: excerpts, stored output, and `climax_output`.

use std::fs;

use climax_tests::{
    Folder, Server, ToolResponse, count_open_files, eventually, fixtures, process_status,
};
use serde_json::{Value, json};

/// The call that a notice in a result gives, as name and arguments.
fn call_in_notice(text: &str) -> (String, Value) {
    let notice = text
        .lines()
        .find(|line| line.contains("To read"))
        .unwrap_or_else(|| panic!("no notice in {text:.300}"));
    let (_, call) = notice.split_once(": ").expect("a call");
    let (name, arguments) = call.split_once(' ').expect("arguments");
    let arguments = arguments.strip_suffix(']').expect("the end of the notice");
    (
        name.to_owned(),
        serde_json::from_str(arguments).expect("JSON"),
    )
}

/// Sends the call that a notice gives.
fn follow(server: &mut Server, text: &str) -> ToolResponse {
    let (name, arguments) = call_in_notice(text);
    server.call_registered(&name, &arguments)
}

fn numbered_lines(range: std::ops::RangeInclusive<u32>) -> String {
    let lines: Vec<String> = range.map(|number| number.to_string()).collect();
    lines.join("\n")
}

fn run_script(server: &mut Server, script: &str) -> ToolResponse {
    server.call("shell_run", &json!({"script": script}))
}

#[test]
fn long_output_is_read_on_with_the_call_that_the_notice_gives() {
    let mut server = Server::start(&mut fixtures!());
    let response = run_script(&mut server, "seq 1 20000");
    assert!(!response.is_error);
    assert!(response.text.len() < 33_000, "{}", response.text.len());
    assert!(response.text.starts_with("1\n2\n3\n"));
    assert!(response.text.ends_with("\n19999\n20000"));
    // Following the notices returns everything, without a gap or an overlap.
    let first = response.text.find("\n[").expect("a notice");
    let mut read = response.text[..first].to_owned();
    let mut page = follow(&mut server, &response.text);
    loop {
        assert!(!page.is_error, "{}", page.text);
        assert!(page.text.len() < 33_000, "{}", page.text.len());
        let (lines, notice) = page.text.rsplit_once('\n').expect("a last line");
        read = format!("{read}\n{lines}");
        if !notice.contains("To read on") {
            assert!(notice.ends_with(" to 20000 of 20000]"), "{notice}");
            break;
        }
        page = follow(&mut server, &page.text);
    }
    assert_eq!(read, numbered_lines(1..=20_000));
}

#[test]
fn standard_error_has_a_quarter_of_the_budget_and_its_own_notice() {
    let mut server = Server::start(&mut fixtures!("--inline-output", "4000"));
    let response = run_script(&mut server, "seq 1 5000; seq 1 5000 >&2");
    let (stdout, stderr) = response.text.split_once("\n\n[stderr]\n").expect("both");
    assert!((3_000..4_300).contains(&stdout.len()), "{}", stdout.len());
    assert!((700..1_300).contains(&stderr.len()), "{}", stderr.len());
    for part in [stdout, stderr] {
        let page = follow(&mut server, part);
        assert!(page.text.contains(" of 5000. To read on"), "{}", page.text);
    }
}

#[test]
fn output_within_the_budget_is_not_stored() {
    let mut server = Server::start(&mut fixtures!("--inline-output", "1000"));
    let response = run_script(&mut server, "seq 1 100");
    assert_eq!(response.text, numbered_lines(1..=100));
    let before = count_open_files(server.id());
    run_script(&mut server, "seq 1 100");
    assert_eq!(count_open_files(server.id()), before);
    run_script(&mut server, "seq 1 1000");
    assert_eq!(count_open_files(server.id()), before + 1);
}

#[test]
fn stored_output_is_found_by_line_byte_and_pattern() {
    let mut server = Server::start(&mut fixtures!("--inline-output", "1000"));
    let response = run_script(&mut server, "seq 1 5000");
    let (_, call) = call_in_notice(&response.text);
    let id = &call["args"]["id"];
    let mut read = |args: Value| {
        let mut args = args;
        args["id"] = id.clone();
        server.call("climax_output", &args).text
    };
    assert_eq!(
        read(json!({"from_line": 4999})),
        "4999\n5000\n[lines 4999 to 5000 of 5000]"
    );
    assert!(read(json!({"from_byte": 2, "bytes": 4})).starts_with("2\n3\n[bytes 2 to 5 of "));
    assert_eq!(
        read(json!({"pattern": "^49[0-9]9$", "lines": 9}))
            .lines()
            .next(),
        Some("4909: 4909")
    );
    assert!(read(json!({"pattern": "["})).contains("Argument 'pattern'"));
    assert!(read(json!({"line": 3})).contains("Unknown argument 'line'"));
}

#[test]
fn an_id_of_another_server_or_of_removed_output_is_an_error() {
    let mut one = Server::start(&mut fixtures!("--inline-output", "100"));
    let mut other = Server::start(&mut fixtures!("--inline-output", "100"));
    let response = run_script(&mut one, "seq 1 1000");
    let refused = follow(&mut other, &response.text);
    assert!(refused.is_error);
    assert!(
        refused.text.starts_with("Unknown output '"),
        "{}",
        refused.text
    );
    // Of outputs of 1000 bytes each, four fit.
    let mut small = Server::start(&mut fixtures!(
        "--inline-output",
        "100",
        "--max-output",
        "1000"
    ));
    let first = run_script(&mut small, "seq 1 1000");
    assert!(!follow(&mut small, &first.text).is_error);
    for _ in 0..4 {
        run_script(&mut small, "seq 1 1000");
    }
    let removed = follow(&mut small, &first.text);
    assert!(removed.is_error);
    assert!(
        removed.text.contains("Call the tool again"),
        "{}",
        removed.text
    );
}

#[test]
fn of_output_beyond_max_output_the_middle_is_not_stored() {
    let mut server = Server::start(&mut fixtures!(
        "--inline-output",
        "100",
        "--max-output",
        "2000"
    ));
    let response = run_script(&mut server, "seq 1 10000");
    assert!(
        response.text.contains("; 47019 bytes not stored. "),
        "{}",
        response.text
    );
    let (_, call) = call_in_notice(&response.text);
    let id = &call["args"]["id"];
    let end = server.call(
        "climax_output",
        &json!({"id": id, "from_line": 9990, "lines": 2}),
    );
    assert!(end.text.starts_with("9990\n9991\n"), "{}", end.text);
    // Following the notices leads across the gap to the end.
    let mut page = follow(&mut server, &response.text);
    let mut remarks = 0;
    while page.text.contains("To read on") {
        assert!(!page.is_error, "{}", page.text);
        remarks += page.text.matches(" are not stored").count();
        page = follow(&mut server, &page.text);
    }
    assert!(page.text.contains("\n10000\n["), "{}", page.text);
    assert_eq!(remarks, 1);
}

#[test]
fn binary_output_is_reported_with_its_id_and_read_as_a_hex_dump() {
    let mut server = Server::start(&mut fixtures!());
    for script in ["head -c 200000 /dev/zero", "printf '\\377\\376\\375'"] {
        let response = run_script(&mut server, script);
        let size = if script.contains("200000") {
            200_000
        } else {
            3
        };
        assert!(
            response
                .text
                .starts_with(&format!("(binary output, {size} bytes)\n[To read it: ")),
            "{}",
            response.text
        );
        let dump = follow(&mut server, &response.text);
        assert!(dump.text.starts_with("00000000  "), "{}", dump.text);
        assert!(dump.text.len() < 40_000);
    }
    // A few invalid bytes are replaced.
    let response = run_script(&mut server, "printf 'a long enough text \\377'");
    assert_eq!(response.text, "a long enough text \u{fffd}");
}

#[test]
fn output_that_cannot_be_stored_does_not_fail_the_call() {
    let mut server = Server::start(&mut fixtures!(
        "--inline-output",
        "100",
        "--output-dir",
        "/no/such/directory"
    ));
    let response = run_script(&mut server, "seq 1 1000");
    assert!(!response.is_error);
    assert!(response.text.ends_with("\n999\n1000"), "{}", response.text);
    assert!(
        response.text.contains(" omitted, not stored: No such file"),
        "{}",
        response.text
    );
}

#[test]
fn stored_output_has_no_name_in_the_output_directory() {
    let folder = Folder::new();
    let mut server = Server::start(&mut fixtures!(
        "--inline-output",
        "100",
        "--output-dir",
        folder.text()
    ));
    let response = run_script(&mut server, "seq 1 1000");
    assert!(!follow(&mut server, &response.text).is_error);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn memory_does_not_grow_with_output_however_long_it_is() {
    let mut server = Server::start(&mut fixtures!());
    run_script(&mut server, "head -c 3000000 /dev/urandom | base64");
    let before = process_status(server.id(), "VmHWM");
    let response = run_script(&mut server, "yes 'some line of text' | head -c 1000000000");
    assert!(
        response.text.contains(" bytes not stored. To read on"),
        "{:.200}",
        response.text
    );
    let grown = process_status(server.id(), "VmHWM") - before;
    assert!(grown < 4_000, "{grown} kB more");
}

#[test]
fn many_stored_outputs_use_a_limited_number_of_files() {
    let mut server = Server::start(&mut fixtures!("--inline-output", "100"));
    run_script(&mut server, ":");
    let before = count_open_files(server.id());
    for _ in 0..300 {
        let response = run_script(&mut server, "seq 1 100");
        assert!(!response.is_error);
    }
    eventually("files are closed", || {
        count_open_files(server.id()) <= before + 260
    });
}

#[test]
fn climax_output_is_neither_listed_nor_found_by_a_search() {
    let mut server = Server::start(&mut fixtures!());
    assert_eq!(server.tool_names(), ["climax_search", "climax_call"]);
    assert_eq!(
        server.matching_tools(&json!({"query": "climax_output"})),
        Vec::<String>::new()
    );
}

#[test]
fn with_split_calls_the_notice_names_a_registered_tool() {
    let mut server = Server::start(&mut fixtures!("--split-calls", "--inline-output", "100"));
    let arguments = json!({"tool_name": "shell_run", "args": {"script": "seq 1 1000"}});
    let response = server.call_registered("climax_destructive", &arguments);
    let (name, _) = call_in_notice(&response.text);
    assert!(server.tool_names().contains(&name), "{name}");
    assert!(!follow(&mut server, &response.text).is_error);
}

#[test]
fn in_classic_mode_output_is_stored_only_with_keep_output() {
    let script = json!({"script": "seq 1 1000"});
    let mut classic = Server::start(&mut fixtures!("--classic", "--inline-output", "100"));
    let response = classic.call_registered("shell_run", &script);
    assert!(
        response.text.contains(" omitted, not stored]\n"),
        "{}",
        response.text
    );
    assert!(!classic.tool_names().contains(&"climax_output".to_owned()));
    let mut keeping = Server::start(&mut fixtures!(
        "--classic",
        "--keep-output",
        "--inline-output",
        "100"
    ));
    assert!(keeping.tool_names().contains(&"climax_output".to_owned()));
    let response = keeping.call_registered("shell_run", &script);
    let (name, _) = call_in_notice(&response.text);
    assert_eq!(name, "climax_output");
    assert!(!follow(&mut keeping, &response.text).is_error);
    let output = climax_tests::run(&mut fixtures!("--keep-output"));
    assert_eq!(output.status.code(), Some(2));
}
