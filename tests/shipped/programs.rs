//! Tools of programs that are not part of every system. Tests skip a program that is not installed.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use climax_tests::{Folder, Server, is_installed};
use serde_json::{Value, json};

use crate::attacks::without_proxies;
use crate::{call, climax, server};

fn write(folder: &Folder, path: &str, content: &str) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, content).expect("a file");
}

#[test]
fn sqlite_query_reads_and_cannot_change_attach_or_start_anything() {
    if !is_installed("sqlite3") {
        return;
    }
    let folder = Folder::new();
    let mut server = server();
    let arguments = |sql: &str| json!({"directory": folder.text(), "path": "app.db", "sql": sql});
    let create = "create table users (name text); insert into users values ('Ada')";
    call(&mut server, "sqlite_execute", &arguments(create));
    let rows = call(
        &mut server,
        "sqlite_query",
        &arguments("select * from users"),
    );
    assert_eq!(rows, r#"[{"name":"Ada"}]"#);
    for sql in [
        "delete from users",
        ".shell touch sprung",
        " .shell touch sprung",
        "attach 'sprung' as x; create table x.y (z)",
        "vacuum into 'sprung'",
        "select writefile('sprung', 'x')",
        "select load_extension('sprung')",
        "select readfile('app.db')",
    ] {
        let response = server.call("sqlite_query", &arguments(sql));
        assert!(response.is_error, "{sql}: {response:?}");
        assert!(!folder.path().join("sprung").exists(), "{sql}");
    }
}

#[test]
fn rg_ignores_the_users_configuration_and_no_match_is_not_an_error() {
    if !is_installed("rg") {
        return;
    }
    let folder = Folder::new();
    write(&folder, "a.txt", "alpha\nbeta\n");
    write(&folder, "a.lock", "alpha\n");
    let mut server = server();
    let mut arguments =
        json!({"directory": folder.text(), "pattern": ["alpha", "gamma"], "glob": "!*.lock"});
    let found = call(&mut server, "rg_search", &arguments);
    assert_eq!(found, "./a.txt:1:alpha");
    arguments["pattern"] = json!("delta");
    let found = call(&mut server, "rg_search", &arguments);
    assert_eq!(found.trim(), "[exit code: 1]");
}

#[test]
fn rsync_copy_keeps_files_that_exist_and_rsync_compare_changes_nothing() {
    if !is_installed("rsync") {
        return;
    }
    let folder = Folder::new();
    write(&folder, "source/a", "new");
    write(&folder, "source/b", "new");
    write(&folder, "copy/a", "kept");
    let mut server = server();
    let mut arguments =
        json!({"directory": folder.text(), "source": "source/", "destination": "copy/"});
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap_or_default();
    let differences = call(&mut server, "rsync_compare", &arguments);
    assert_eq!(differences.lines().count(), 2, "{differences}");
    assert_eq!(read("copy/b"), "");
    call(&mut server, "rsync_copy", &arguments);
    assert_eq!(
        (read("copy/a"), read("copy/b")),
        ("kept".into(), "new".into())
    );
    arguments["overwrite"] = json!(true);
    arguments["checksum"] = json!(true);
    call(&mut server, "rsync_copy", &arguments);
    assert_eq!(read("copy/a"), "new");
}

/// A WAV file with 1,000 samples of silence.
pub(crate) fn silence() -> Vec<u8> {
    let mut sound =
        b"RIFF\xf4\x07\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\xd0\x07\0\0"
            .to_vec();
    sound.resize(sound.len() + 2_000, 0);
    sound
}

#[test]
fn ffmpeg_info_is_structured_and_only_local_files_are_read_and_written() {
    if !is_installed("ffmpeg") {
        return;
    }
    let folder = Folder::new();
    fs::write(folder.path().join("in.wav"), silence()).expect("a file");
    let mut server = server();
    let arguments = json!({"directory": folder.text(), "source": "in.wav"});
    let response = server.call("ffmpeg_info", &arguments);
    let information = response.structured.expect("an object");
    assert_eq!(information["format"]["duration"], "0.125000");
    let mut convert = |source: &str, destination: &str| {
        let arguments: Value = json!({
            "directory": folder.text(), "source": source, "destination": destination
        });
        server.call("ffmpeg_convert", &arguments)
    };
    assert!(!convert("in.wav", "out.flac").is_error);
    for (source, destination) in [
        ("in.wav", "out.flac"),
        ("in.wav", "tee:other.flac"),
        ("concat:in.wav|in.wav", "other.flac"),
        ("http://localhost/in.wav", "other.flac"),
    ] {
        let response = convert(source, destination);
        assert!(response.is_error, "{source} {destination}: {response:?}");
    }
    assert!(!folder.path().join("other.flac").exists());
}

#[test]
fn a_backup_of_a_missing_database_creates_and_replaces_nothing() {
    if !is_installed("sqlite3") {
        return;
    }
    let folder = Folder::new();
    let mut server = server();
    write(&folder, "copy.db", "not a database, but precious");
    let arguments =
        json!({"directory": folder.text(), "path": "missing.db", "destination": "copy.db"});
    let response = server.call("sqlite_backup", &arguments);
    assert!(response.is_error, "{response:?}");
    assert!(!folder.path().join("missing.db").exists());
    let copy = fs::read_to_string(folder.path().join("copy.db")).expect("a file");
    assert_eq!(copy, "not a database, but precious");
}

/// Answers each request with three bytes, and announces another number of them at `/broken`.
fn serve_downloads() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let is_broken = request[..length].starts_with(b"GET /broken ");
            let length = if is_broken { 1000 } else { 3 };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let _ = stream.write_all(format!("{head}new").as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn a_download_keeps_an_existing_file_unless_overwrite_is_set() {
    if !is_installed("curl") {
        return;
    }
    let folder = Folder::new();
    let mut server = Server::start(without_proxies(&mut climax()));
    write(&folder, "file", "old");
    let url = serve_downloads();
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).expect("a file");
    let mut arguments =
        json!({"directory": folder.text(), "url": format!("{url}/broken"), "path": "file"});
    let response = server.call("curl_download", &arguments);
    assert!(response.is_error, "{response:?}");
    let entries = fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(entries.count(), 1, "the part that arrived is removed");
    assert_eq!(read("file"), "old");

    arguments["url"] = json!(url);
    let text = call(&mut server, "curl_download", &arguments);
    assert!(text.contains("file.1"), "{text}");
    assert_eq!((&*read("file"), &*read("file.1")), ("old", "new"));
    arguments["overwrite"] = json!(true);
    call(&mut server, "curl_download", &arguments);
    assert_eq!(read("file"), "new");
}
