//! Settings and databases that start programs or read other files.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, assert_is_write_because, check_values};
use crate::climax;

const TOOLS_THAT_LOOK: [&str; 4] = [
    "sqlite_query",
    "sqlite_tables",
    "sqlite_schema",
    "sqlite_check",
];

#[test]
fn tools_that_look_at_a_database_are_not_read_because_sqlite_creates_files() {
    for tool in ["sqlite_tables", "sqlite_schema", "sqlite_check"] {
        assert_is_write_because(tool, "leaves files beside a database");
    }
}

#[test]
fn looking_at_a_hostile_database_starts_nothing_and_reads_no_other_file() {
    if !is_installed("sqlite3") {
        return;
    }
    let (project, outside, trap) = (Folder::new(), Folder::new(), Trap::new());
    let secret = outside.path().join("secret");
    fs::write(&secret, "top-secret\n").expect("a file");
    let (secret, program) = (secret.display(), trap.program());
    let program = program.display();
    let settings = format!(".shell {program}\n");
    fs::write(project.path().join(".sqliterc"), settings).expect("a file");
    let create = format!(
        "create table t (a); insert into t values (1); create table orders (customer);
         create view edited as select edit(a, '{program}') from t;
         create view read as select readfile('{secret}') from t;"
    );
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("HOME", project.path());
    };
    for database in ["app.db", "shop.db"] {
        let mut sqlite = Command::new("sqlite3");
        in_project(&mut sqlite);
        run(sqlite.args(["-init", ".sqliterc", database, &create]));
        assert_ne!(trap.take_marks(), "", "the trap works");
    }

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let attach = format!("attach '{secret}' as x");
    let shell = format!(".shell {program}");
    let import = format!("select 1;\n.import {secret} t");
    let later = format!("select 1;\n.shell {program}");
    let words = [
        &attach,
        &shell,
        &import,
        &later,
        "select * from edited",
        "select * from read",
        "-cmd",
        "vacuum into 'copy.db'",
        "select load_extension('x')",
        "delete from t",
        "pragma journal_mode=wal",
        "select fts3_tokenizer('a', x'00')",
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "sqlite3",
        path: project.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_tools(&TOOLS_THAT_LOOK, &words);
    // The same statements may change the database here, but nothing else.
    for sql in &words[..9] {
        server.call(
            "sqlite_execute",
            &json!({"directory": project.text(), "path": "app.db", "sql": sql}),
        );
        assert_eq!(trap.take_marks(), "", "{sql}");
    }
    assert!(!project.path().join("copy.db").exists());
}

#[test]
fn paths_of_databases_have_no_options_and_statements_are_no_commands() {
    let paths = [json!("a b.db"), json!("/srv/x.sqlite")];
    let refused = [
        json!("file:a.db?mode=rwc"),
        json!(":memory:"),
        json!("-cmd"),
        json!(""),
    ];
    for tool in [
        "sqlite_query",
        "sqlite_tables",
        "sqlite_schema",
        "sqlite_check",
        "sqlite_backup",
        "sqlite_execute",
    ] {
        check_values(tool, "path", &paths, &refused);
    }
    let refused = [
        json!("file:b.db"),
        json!("main b"),
        json!("--append"),
        json!("'b'"),
    ];
    check_values("sqlite_backup", "destination", &[json!("b/c.db")], &refused);
    for tool in ["sqlite_query", "sqlite_execute"] {
        let refused = [json!(".shell id"), json!(" \n.shell id"), json!("-cmd")];
        check_values(tool, "sql", &[json!("\n select '.a'")], &refused);
    }
}
