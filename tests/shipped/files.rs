//! Files and archives: what is written is what was given, and nothing is overwritten by default.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use climax_tests::Folder;
use serde_json::{Value, json};

use crate::{call, server};

fn read(folder: &Folder, path: &str) -> String {
    fs::read_to_string(folder.path().join(path)).expect("a file")
}

fn write(folder: &Folder, path: &str, content: &str) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, content).expect("a file");
}

#[test]
fn write_file_replaces_the_whole_file_and_prints_nothing() {
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "file", &"long ".repeat(100_000));
    // No newline at the end, several blocks, an empty text, and a name that looks like an option.
    let blocks = "0123456789\tä\r\n".repeat(20_000);
    for (path, content) in [
        ("file", "a\0b"),
        ("file", &blocks),
        ("file", ""),
        ("-n", "x"),
    ] {
        let arguments = json!({"directory": folder.text(), "path": path, "content": content});
        assert_eq!(call(&mut server, "write_file", &arguments), "(no output)");
        assert!(read(&folder, path) == content, "{path}");
    }
}

#[test]
fn append_file_adds_to_the_end_and_prints_nothing() {
    let folder = Folder::new();
    let mut server = server();
    for content in ["one\n", "two"] {
        let arguments = json!({"directory": folder.text(), "path": "new", "content": content});
        assert_eq!(call(&mut server, "append_file", &arguments), "(no output)");
    }
    assert_eq!(read(&folder, "new"), "one\ntwo");
}

#[test]
fn read_lines_shows_a_range_of_lines() {
    let folder = Folder::new();
    let mut server = server();
    let lines: Vec<String> = (1..=300).map(|number| format!("line {number}\n")).collect();
    let lines = lines.concat();
    // awk takes operands with an equals sign for variables.
    for path in ["file", "a=b", "-"] {
        write(&folder, path, &lines);
        let mut arguments =
            json!({"directory": folder.text(), "path": path, "first_line": 99, "last_line": 101});
        let text = call(&mut server, "read_lines", &arguments);
        assert_eq!(text, "line 99\nline 100\nline 101");
        arguments["line_numbers"] = json!(true);
        let text = call(&mut server, "read_lines", &arguments);
        assert_eq!(text, "99\tline 99\n100\tline 100\n101\tline 101");
        arguments["first_line"] = json!(300);
        arguments["last_line"] = json!(1000);
        let text = call(&mut server, "read_lines", &arguments);
        assert_eq!(text, "300\tline 300");
    }
    let missing = server.call(
        "read_lines",
        &json!({"directory": folder.text(), "path": "none", "first_line": 1, "last_line": 2}),
    );
    assert!(
        missing.is_error && missing.text.contains("No such file"),
        "{missing:?}"
    );
}

#[test]
fn replace_text_takes_the_text_literally_and_replaces_one_occurrence() {
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "file", "- a.b()\n- a+b()\r\nend");
    let path = folder.path().join("file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).expect("permissions");
    for (old_text, new_text, content) in [
        ("a.b()\n-", "$1 \\n @x\n-", "- $1 \\n @x\n- a+b()\r\nend"),
        ("- $1 \\n", "ä = b", "ä = b @x\n- a+b()\r\nend"),
        ("\r\nend", "", "ä = b @x\n- a+b()"),
    ] {
        let arguments = json!({
            "directory": folder.text(), "path": "file", "old_text": old_text, "new_text": new_text
        });
        let text = call(&mut server, "replace_text", &arguments);
        assert_eq!(text, "1 replaced in file");
        assert_eq!(read(&folder, "file"), content);
    }
    let mode = fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn replace_text_refuses_what_is_missing_or_ambiguous() {
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "file", "one two one\n");
    let arguments = |old_text: &str| json!({"directory": folder.text(), "path": "file", "old_text": old_text, "new_text": "X"});
    for (old_text, error) in [
        ("three", "old_text does not occur in file"),
        ("", "old_text does not occur in file"),
        ("one", "old_text occurs 2 times in file"),
    ] {
        let response = server.call("replace_text", &arguments(old_text));
        assert!(
            response.is_error && response.text.contains(error),
            "{response:?}"
        );
        assert_eq!(read(&folder, "file"), "one two one\n");
    }
    let mut all = arguments("one");
    all["all"] = json!(true);
    assert_eq!(
        call(&mut server, "replace_text", &all),
        "2 replaced in file"
    );
    assert_eq!(read(&folder, "file"), "X two X\n");
}

#[test]
fn moving_and_copying_keep_an_existing_destination_and_report_an_error() {
    let folder = Folder::new();
    let mut server = server();
    for (tool, source) in [
        ("copy_file", "file"),
        ("move_file", "file"),
        ("copy_directory", "tree"),
        ("move_file", "tree"),
    ] {
        write(&folder, "file", "source");
        write(&folder, "tree/file", "source");
        write(&folder, "taken", "kept");
        write(&folder, "into/file", "kept");
        write(&folder, "into/tree/file", "kept");
        for destination in ["taken", "into"] {
            let arguments =
                json!({"directory": folder.text(), "source": source, "destination": destination});
            let response = server.call(tool, &arguments);
            assert!(
                response.is_error && response.text.contains("File exists"),
                "{tool} {arguments}: {response:?}"
            );
            assert!(folder.path().join(source).exists(), "{tool} {arguments}");
        }
        for path in ["taken", "into/file", "into/tree/file"] {
            assert_eq!(read(&folder, path), "kept", "{tool} {source}");
        }
    }
}

#[test]
fn moving_and_copying_create_a_destination_and_overwrite_on_request() {
    let folder = Folder::new();
    let mut server = server();
    let mut run = |tool: &str, arguments: &Value| {
        let mut arguments = arguments.clone();
        arguments["directory"] = json!(folder.text());
        call(&mut server, tool, &arguments)
    };
    write(&folder, "a b", "one");
    write(&folder, "tree/sub/file", "one");
    run("copy_file", &json!({"source": "a b", "destination": "c"}));
    run("move_file", &json!({"source": "a b", "destination": "d"}));
    assert!(!folder.path().join("a b").exists());
    assert_eq!(read(&folder, "c") + &read(&folder, "d"), "oneone");
    run(
        "copy_directory",
        &json!({"source": "tree", "destination": "new"}),
    );
    run(
        "copy_directory",
        &json!({"source": "tree/", "destination": "new"}),
    );
    assert_eq!(read(&folder, "new/sub/file"), "one");
    assert_eq!(read(&folder, "new/tree/sub/file"), "one");

    write(&folder, "d", "two");
    run(
        "copy_file",
        &json!({"source": "d", "destination": "c", "overwrite": true}),
    );
    assert_eq!(read(&folder, "c"), "two");
    run(
        "move_file",
        &json!({"source": "d", "destination": "c", "overwrite": true}),
    );
    assert!(!folder.path().join("d").exists());
    write(&folder, "tree/sub/file", "two");
    run(
        "copy_directory",
        &json!({"source": "tree", "destination": "new", "overwrite": true}),
    );
    assert_eq!(read(&folder, "new/tree/sub/file"), "two");
}

#[test]
fn search_directory_skips_git_directories() {
    let folder = Folder::new();
    let mut server = server();
    for path in [
        ".git/packed",
        "sub/.git/packed",
        "sub/file",
        "node_modules/file",
    ] {
        write(&folder, path, "needle\n");
    }
    let arguments =
        json!({"directory": folder.text(), "pattern": "needle", "exclude_dir": "node_modules"});
    let found = call(&mut server, "search_directory", &arguments);
    assert_eq!(found, "./sub/file:1:needle");
}

#[test]
fn archives_are_created_listed_and_extracted_without_replacing_files() {
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "data/file", "packed");
    for (kind, archive) in [("tar", "data.tar.gz"), ("zip", "data.zip")] {
        let mut run = |action: &str, arguments: Value| {
            let mut arguments = arguments;
            arguments["directory"] = json!(folder.text());
            arguments["archive"] = json!(archive);
            server.call(&format!("{kind}_{action}"), &arguments)
        };
        let response = run("create", json!({"path": "data"}));
        assert!(!response.is_error, "{response:?}");
        let response = run("list", json!({}));
        assert!(response.text.contains("data/file"), "{response:?}");
        fs::create_dir(folder.path().join(kind)).expect("a directory");
        let response = run("extract", json!({"destination": kind}));
        assert!(!response.is_error, "{response:?}");
        let extracted = format!("{kind}/data/file");
        assert_eq!(read(&folder, &extracted), "packed");
        write(&folder, &extracted, "changed");
        run("extract", json!({"destination": kind}));
        assert_eq!(read(&folder, &extracted), "changed");
    }
}

#[test]
fn an_existing_archive_is_kept_even_if_packing_fails_unless_overwrite_is_set() {
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "file", "packed");
    write(&folder, "note.txt", "kept");
    std::os::unix::fs::symlink("note.txt", folder.path().join("link")).expect("a link");
    let mut create = |archive: &str, path: &str| {
        let arguments = json!({"directory": folder.text(), "archive": archive, "path": path});
        server.call("tar_create", &arguments)
    };
    assert!(!create("data.tar", "file").is_error);
    assert!(create("data.tar", "missing").is_error);
    let list = json!({"directory": folder.text(), "archive": "data.tar.~1~"});
    for archive in ["note.txt", "link"] {
        assert!(!create(archive, "file").is_error, "{archive}");
    }
    assert_eq!(read(&folder, "note.txt.~1~"), "kept");
    let list = server.call("tar_list", &list);
    assert!(list.text.contains("file"), "{list:?}");
    let arguments = json!({"directory": folder.text(), "archive": "note.txt.~1~", "path": "file", "overwrite": true});
    call(&mut server, "tar_create", &arguments);
    assert_ne!(read(&folder, "note.txt.~1~"), "kept");
    assert!(!folder.path().join("note.txt.~1~.~1~").exists());
}

#[test]
fn a_link_with_a_slash_does_not_delete_what_it_points_to() {
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "kept/file", "content");
    std::os::unix::fs::symlink("kept", folder.path().join("link")).expect("a link");
    let arguments = json!({"directory": folder.text(), "path": "link/", "recursive": true});
    let response = server.call("remove_file", &arguments);
    assert!(
        response.text.contains("'link/' does not match pattern"),
        "{response:?}"
    );
    assert_eq!(read(&folder, "kept/file"), "content");
    let arguments = json!({"directory": folder.text(), "path": ["link"], "recursive": true});
    assert!(!server.call("remove_file", &arguments).is_error);
    assert_eq!(read(&folder, "kept/file"), "content");
}
