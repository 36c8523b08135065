//! A database server on loopback, settings that start programs, and a password for another server.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::{mem, thread};

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, check_values};
use crate::climax;

/// What a server received.
type Record = Arc<Mutex<Vec<u8>>>;

/// What was received since the last call of this function.
fn take(record: &Record) -> String {
    let bytes = mem::take(&mut *record.lock().expect("no panic"));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A database server at the returned port of 127.0.0.1 that asks for a password in plain text, accepts any, and
/// answers every statement with nothing.
fn serve_postgresql() -> (u16, Record) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let record = Record::default();
    let messages = Arc::clone(&record);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let messages = Arc::clone(&messages);
            thread::spawn(move || converse(&stream, &stream, &messages));
        }
    });
    (port, record)
}

fn converse(
    mut input: impl Read,
    mut output: impl Write,
    record: &Mutex<Vec<u8>>,
) -> io::Result<()> {
    // Requests to encrypt come before the first message and are refused.
    while read_message(&mut input, record)?.len() == 4 {
        output.write_all(b"N")?;
    }
    output.write_all(b"R\0\0\0\x08\0\0\0\x03")?;
    let mut kind = [0];
    input.read_exact(&mut kind)?;
    read_message(&mut input, record)?;
    output.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")?;
    loop {
        input.read_exact(&mut kind)?;
        read_message(&mut input, record)?;
        match &kind {
            b"Q" => output.write_all(b"I\0\0\0\x04Z\0\0\0\x05I")?,
            b"X" => return Ok(()),
            _ => {}
        }
    }
}

/// Reads a message that begins with its length.
fn read_message(input: &mut impl Read, record: &Mutex<Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let mut message = vec![0; u32::from_be_bytes(length).saturating_sub(4) as usize];
    input.read_exact(&mut message)?;
    record.lock().expect("no panic").extend_from_slice(&message);
    Ok(message)
}

#[test]
fn reading_a_database_starts_nothing_and_sends_a_password_only_to_its_server() {
    if !is_installed("psql") {
        return;
    }
    let (project, trap) = (Folder::new(), Trap::new());
    let (port, record) = serve_postgresql();
    let write = |path: &str, text: &str| {
        let path = project.path().join(path);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("permissions");
    };
    write(".psqlrc", &format!("\\! {}\n", trap.program().display()));
    write(".pg_service.conf", "[hostile]\ndbname=hostile\n");
    // Whatever host a call names, the connection goes to the server on loopback.
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("HOME", project.path())
            .env("PGHOSTADDR", "127.0.0.1")
            .env("PGPORT", port.to_string())
            .env("PGPASSWORD", "top-secret")
            .env("PSQL_PAGER", trap.program())
            .env_remove("PGSERVICE")
            .env_remove("PGPASSFILE");
    };
    let mut psql = Command::new("psql");
    in_project(&mut psql);
    run(psql.args(["--dbname=a", "--command=select 1"]));
    assert_ne!(trap.take_marks(), "", "the trap works");
    assert!(
        take(&record).contains("top-secret"),
        "psql sends the password"
    );

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let arguments = json!({"host": "db.example.org", "user": "ada"});
    server.call("psql_databases", &arguments);
    let sent = take(&record);
    assert!(
        sent.contains("ada") && !sent.contains("top-secret"),
        "{sent}"
    );

    write(".pgpass", "db.example.org:*:*:*:from-file\n");
    server.call("psql_databases", &arguments);
    let sent = take(&record);
    assert!(sent.contains("from-file"), "{sent}");
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "psql",
        path: project.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&[]);
    let shell = format!("\\! {}", trap.program().display());
    let copy = format!("\\copy t to program '{}'", trap.program().display());
    let words = [
        &shell,
        &copy,
        "service=hostile",
        "postgresql://x",
        "dbname=x",
        "--file=.psqlrc",
        "a\n\\! id",
    ];
    hostile.call_read_tools_with_words(&words);
    for sql in &words[..2] {
        for tool in ["psql_query", "psql_execute"] {
            server.call(tool, &json!({"sql": sql, "host": "db.example.org"}));
            server.call(
                tool,
                &json!({"sql": format!("select 1;\n{sql}"), "host": "db.example.org"}),
            );
            assert_eq!(trap.take_marks(), "", "{tool} {sql}");
        }
    }
    let sent = take(&record);
    assert!(
        !sent.contains("top-secret") && !sent.contains("hostile"),
        "{sent}"
    );
}

#[test]
fn names_of_databases_hold_no_settings_and_statements_are_no_commands() {
    for tool in [
        "psql_tables",
        "psql_describe",
        "psql_activity",
        "psql_query",
        "psql_execute",
    ] {
        let refused = ["service=a", "host=b", "postgresql://a", "a b"].map(|name| json!(name));
        check_values(tool, "database", &[json!("shop-1"), json!("a.b")], &refused);
        let hosts = [
            json!("db.example.org"),
            json!("/run/postgresql"),
            json!("::1"),
        ];
        check_values(tool, "host", &hosts, &[json!("a,b"), json!("a b")]);
    }
    for tool in ["psql_query", "psql_execute"] {
        let refused = [json!("\\! id"), json!(" \n\\copy t to program 'id'")];
        check_values(tool, "sql", &[json!("select '\\n'")], &refused);
    }
    check_values("psql_query", "sql", &[], &[json!("commit; drop table t")]);
    check_values(
        "psql_tables",
        "glob",
        &[json!("sales.*")],
        &[json!("a\n\\! id"), json!("a;b")],
    );
    check_values(
        "psql_describe",
        "table",
        &[json!("sales.orders")],
        &[json!("a b"), json!("|id")],
    );
}
