//! Files whose names are options, and other words that the usual programs read in a special way.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use climax_tests::{Folder, Server, run};
use serde_json::json;

use super::{HostileProject, Trap, check_values};
use crate::climax;

#[test]
fn reading_files_in_a_hostile_project_starts_nothing_and_reads_no_other_file() {
    let (project, outside, trap) = (Folder::new(), Folder::new(), Trap::new());
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret of this test\n").expect("a file");
    let program = trap.program();
    let program = program.to_str().expect("UTF-8");
    let compress = format!("--compress-program={program}");
    let from_file = format!("--file={}", secret.display());
    let names_from = format!("--files0-from={}", secret.display());
    let random = format!("--random-source={}", secret.display());
    let date_file = format!("-f{}", secret.display());
    let magic = format!("-m{program}");
    let zone = format!("TZ=\":{}\" now", secret.display());
    let words = [
        compress.as_str(),
        &from_file,
        &names_from,
        &random,
        &date_file,
        &magic,
        &zone,
        "-exec",
        "-delete",
        "(",
        "!",
        "-ok",
        "-fprint",
        "-",
        "--",
        "+1",
        "@0",
        "a=b",
        "|id",
        "$(id)",
        "`id`",
    ];
    for word in words.iter().filter(|word| !word.contains('/')) {
        fs::write(project.path().join(word), "b\na\n").expect("a file");
    }
    fs::write(project.path().join("README.md"), "b\na\n".repeat(1_000)).expect("a file");
    for folder in ["src", "copy"] {
        fs::create_dir(project.path().join(folder)).expect("a folder");
    }
    fs::write(project.path().join("src/link"), "").expect("a file");
    symlink(&secret, project.path().join("copy/link")).expect("a link");
    let mut diff = Command::new("diff");
    diff.current_dir(project.path());
    let differences = run(diff.args(["-r", "src", "copy"])).stdout;
    assert!(
        String::from_utf8_lossy(&differences).contains("secret of this test"),
        "diff follows links"
    );
    let mut sort = Command::new("sort");
    sort.current_dir(project.path());
    run(sort.args(["-S1", "--parallel=1", &compress, "README.md"]));
    assert_ne!(trap.take_marks(), "", "the trap works");

    let mut command = climax();
    command
        .current_dir(project.path())
        .env("HOME", project.path())
        .env("PAGER", program)
        .env("LESSOPEN", format!("|{program} %s"));
    let mut server = Server::start(&mut command);
    let calls = [
        ("sort_lines", json!({"path": "README.md", "unique": true})),
        (
            "search_directory",
            json!({"pattern": "secret", "path": "."}),
        ),
        (
            "diff_files",
            json!({"first": "src", "second": "copy", "recursive": true}),
        ),
        (
            "read_lines",
            json!({"path": "a=b", "first_line": 1, "last_line": 2}),
        ),
    ];
    for cli in ["posix", "system"] {
        let mut hostile = HostileProject {
            server: &mut server,
            cli,
            path: project.path(),
            trap: &trap,
            secret: "secret of this test",
        };
        hostile.call_read_tools(&calls);
        hostile.call_read_tools_with_words(&words);
    }
}

#[test]
fn arguments_of_the_usual_programs_have_one_meaning() {
    for (tool, argument, accepted, refused) in [
        ("find_files", "path", json!("src"), json!("(")),
        ("find_files", "path", json!("."), json!("!")),
        ("find_files", "size", json!("+10M"), json!("-delete")),
        ("find_files", "modified_days", json!("-7"), json!("-delete")),
        ("find_files", "modified_minutes", json!("-60"), json!("now")),
        // A negative number means all lines but the last ones.
        ("head_file", "lines", json!(5), json!(-5)),
        ("tail_file", "lines", json!("+5"), json!(-5)),
        ("sort_lines", "key", json!("3,3n"), json!("-o")),
        ("sort_lines", "separator", json!("\t"), json!("ab")),
        ("cut_fields", "fields", json!("1,3-"), json!("a")),
        ("cut_fields", "separator", json!("-"), json!("ab")),
        ("current_date", "format", json!("+%s"), json!("12312359")),
        (
            "current_date",
            "time",
            json!("TZ=\"Asia/Tokyo\" 09:00"),
            json!("TZ=\"../x\" now"),
        ),
        (
            "current_date",
            "time",
            json!("TZ=\"Etc/GMT+5\" now"),
            json!("TZ=\"/x\""),
        ),
        (
            "touch_file",
            "time",
            json!("TZ=\"\" now"),
            json!("TZ=\"/x\""),
        ),
        (
            "touch_file",
            "time",
            json!("yesterday"),
            json!("TZ=\":/x\" now"),
        ),
        (
            "change_mode",
            "mode",
            json!("u+x,go-w"),
            json!("--reference=a"),
        ),
        ("make_directory", "mode", json!("700"), json!("--context")),
        // 0 is the group of the caller, and some versions take names of programs.
        ("signal_process", "pid", json!("4242"), json!("0")),
        ("signal_process", "pid", json!(4242), json!("sshd")),
        ("find_processes", "user", json!("www-data"), json!("a,b")),
    ] {
        check_values(tool, argument, &[accepted], &[refused]);
    }
}

#[test]
fn a_number_of_lines_with_a_plus_counts_from_the_end() {
    let mut server = Server::start(&mut climax());
    let arguments = json!({"lines": "+1", "text": "a\nb\nc\n"});
    assert_eq!(server.call("tail_file", &arguments).text.trim_end(), "c");
}
