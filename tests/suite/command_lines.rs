//! Command lines of real programs, described by the configs in `fixtures/programs` and produced word for word.

use std::fs;
use std::path::Path;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, mark, run};
use serde_json::{Value, json};

fn programs() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_programs"));
    mark(&mut command).env_remove("CLIMAX_LOG_FILE");
    command
}

/// A tool, the arguments of a call, and the command line, in which single quotes enclose words.
type Case = (&'static str, Value, &'static str);

fn cases() -> Vec<Case> {
    let mut cases = containers_and_clusters();
    cases.extend(files_and_text());
    cases.extend(building_and_machines());
    cases.extend(data_and_network());
    cases
}

fn containers_and_clusters() -> Vec<Case> {
    vec![
        (
            "docker_run_shell",
            json!({
                "publish": ["80:80", "443:443"], "env": {"A": 1}, "volumes": "x:/y", "image": "IMAGE",
                "script": "echo $A && sleep 1"
            }),
            "docker run -d -p 80:80 -p 443:443 -e A=1 -v x:/y IMAGE sh -c 'echo $A && sleep 1'",
        ),
        (
            "docker_exec",
            json!({"container": "web", "words": ["ls", "-l", "/srv"]}),
            "docker exec -- web ls -l /srv",
        ),
        (
            "compose_up",
            json!({"files": ["a.yml", "b.yml"], "profile": ["dev"], "services": ["web", "db"]}),
            "docker compose -f a.yml -f b.yml --profile dev up -d web db",
        ),
        (
            "kubectl_exec",
            json!({"namespace": "web", "pod": "pod/x", "words": ["env"]}),
            "kubectl -n web exec pod/x -- env",
        ),
        (
            "kubectl_label",
            json!({"resource": "pods/x", "labels": ["tier=web", "old-"], "overwrite": true}),
            "kubectl label pods/x tier=web old- --overwrite",
        ),
        (
            "npm_exec",
            json!({"install": false, "program": "tsc", "words": ["--noEmit", "-p", "."]}),
            "npm exec --no -- tsc --noEmit -p .",
        ),
    ]
}

fn files_and_text() -> Vec<Case> {
    vec![
        (
            "ffmpeg_cut",
            json!({"begin": 1, "source": "in.mp4", "duration": 2, "destination": "out.mp4"}),
            "ffmpeg -ss 1 -i in.mp4 -t 2 out.mp4",
        ),
        (
            "tar_create",
            json!({"archive": "x.tgz", "exclude": ["a", "b"], "members": ["src", "doc"]}),
            "tar --create --file x.tgz --exclude=a --exclude=b src doc",
        ),
        (
            "rg_search",
            json!({"patterns": ["x", "y"], "glob": ["!*.lock"]}),
            "rg -e x -e y --glob '!*.lock'",
        ),
        (
            "rsync_copy",
            json!({"exclude": "a", "sources": ["src/"], "destination": "dst/"}),
            "rsync -a --exclude a src/ dst/",
        ),
        (
            "find_files",
            json!({"directories": ["src", "doc"], "type": "f", "name": "*.rs", "modified_days": "-7"}),
            "find src doc -type f -name '*.rs' -mtime -7",
        ),
        (
            "sort_rows",
            json!({"separator": ",", "keys": ["2,2n", "1"], "files": ["data.csv"]}),
            "sort -t, -k2,2n -k1 -- data.csv",
        ),
        (
            "awk_columns",
            json!({
                "separator": ":", "variables": {"n": 1}, "program": "{ print $n }", "files": ["passwd"]
            }),
            "awk -F: -v n=1 '{ print $n }' passwd",
        ),
        (
            "chmod",
            json!({"recursive": true, "mode": ["u+x", "go-w"], "paths": ["a", "b"]}),
            "chmod -R u+x,go-w a b",
        ),
        (
            "dd_copy",
            json!({"source": "/dev/zero", "destination": "x", "block_size": "1M", "blocks": 4}),
            "dd if=/dev/zero of=x bs=1M count=4",
        ),
        (
            "xz_compress",
            json!({"level": 9, "threads": 0, "files": ["-odd-name", "b"]}),
            "xz --keep -9 --threads=0 -- -odd-name b",
        ),
    ]
}

fn building_and_machines() -> Vec<Case> {
    vec![
        (
            "git_log",
            json!({"repository": "DIR", "author": ["A", "B"], "paths": ["a", "b"]}),
            "git -C DIR log --author A --author B -- a b",
        ),
        (
            "git_commit",
            json!({"settings": {"user.name": "A B", "gc.auto": 0}, "sign": false, "message": "-- fix"}),
            "git -c 'user.name=A B' -c gc.auto=0 commit --no-gpg-sign '-m-- fix'",
        ),
        (
            "gcc_link",
            json!({
                "optimisation": "2", "warnings": ["all", "extra"], "include": ["include", "lib"],
                "define": {"DEBUG": 1}, "output_file": "out", "sources": ["a.c", "b.c"], "libraries": ["m", "z"]
            }),
            "gcc -O2 -Wall -Wextra -Iinclude -Ilib -DDEBUG=1 -o out a.c b.c -lm -lz",
        ),
        (
            "make",
            json!({"jobs": 4, "folder": "src", "variables": {"CC": "clang"}, "targets": ["all", "check"]}),
            "make -j4 -C src CC=clang all check",
        ),
        (
            "cargo_test",
            json!({"features": ["a", "b"], "package": ["p"], "options": ["--nocapture", "--test-threads=1"]}),
            "cargo test --features a,b -p p -- --nocapture --test-threads=1",
        ),
        (
            "gh_issue_create",
            json!({"title": "Crash", "label": ["bug", "urgent"], "body": "It crashes."}),
            "gh issue create --body-file - --title Crash --label bug --label urgent",
        ),
        (
            "systemctl_list_units",
            json!({"user_services": true, "type": ["service", "socket"], "all": true, "globs": ["ssh*"]}),
            "systemctl --user list-units --no-pager --type=service,socket --all -- 'ssh*'",
        ),
        (
            "ip_addresses",
            json!({"json": true, "family": "inet6", "device": "eth0"}),
            "ip -j -f inet6 address show dev eth0",
        ),
        (
            "ssh_run",
            json!({
                "port": 2222, "options": {"BatchMode": "yes", "ConnectTimeout": 5}, "host": "me@host",
                "words": ["uptime", "-p"]
            }),
            "ssh -p 2222 -o BatchMode=yes -o ConnectTimeout=5 me@host -- uptime -p",
        ),
    ]
}

fn data_and_network() -> Vec<Case> {
    vec![
        (
            "curl_post",
            json!({
                "headers": {"Accept": "text/html", "X-A": "1"}, "fields": {"a": 1, "b": "2 3"},
                "url": "https://example.org/"
            }),
            "curl -sS -H 'Accept: text/html' -H 'X-A: 1' -d a=1 -d 'b=2 3' https://example.org/",
        ),
        (
            "curl_post_files",
            json!({"files": {"photo": "a.png"}, "compressed": true, "url": "https://example.org/"}),
            "curl -sS -F photo=@a.png --compressed https://example.org/",
        ),
        (
            "sqlite_query",
            json!({"format": "json", "database": "app.db", "sql": "select 1"}),
            "sqlite3 -json app.db 'select 1'",
        ),
        (
            "sqlite_schema",
            json!({"database": "app.db", "table": "users"}),
            "sqlite3 app.db '.schema users'",
        ),
        (
            "jq_select",
            json!({"value": "Ada", "filter": ".[] | select(.name == $name)", "files": ["a.json", "b.json"]}),
            "jq -r --arg name Ada '.[] | select(.name == $name)' a.json b.json",
        ),
        (
            "psql_command",
            json!({
                "host": "db", "user": "app", "variables": {"ON_ERROR_STOP": 1},
                "sql": ["begin", "select 1"], "database": "shop"
            }),
            "psql -X -h db -U app -v ON_ERROR_STOP=1 -c begin -c 'select 1' shop",
        ),
        (
            "openssl_certificate",
            json!({
                "key": "k.pem", "certificate": "c.pem", "days": 365, "subject": "/CN=example.org",
                "extensions": {"subjectAltName": "DNS:example.org"}
            }),
            "openssl req -x509 -nodes -newkey rsa:2048 -keyout k.pem -out c.pem -days 365 -subj /CN=example.org -addext subjectAltName=DNS:example.org",
        ),
    ]
}

/// The words of a command line.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(number, part)| {
        let is_quoted = number % 2 == 1;
        if is_quoted {
            vec![part]
        } else {
            part.split_whitespace().collect()
        }
    });
    words.collect()
}

#[test]
fn command_lines_of_real_programs_are_produced_word_for_word() {
    let cases = cases();
    assert!(cases.len() >= 25, "{}", cases.len());
    for (tool, arguments, line) in cases {
        let arguments = arguments.to_string();
        let options = ["--dry-run", "--print-json", "--json", &arguments];
        let output = run(programs().args(["call", tool]).args(options));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let plan: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            plan["argv"],
            json!(words(line)),
            "{tool} {arguments}: {text}"
        );
    }
}

#[test]
fn each_value_of_a_list_is_checked() {
    let mut server = Server::start(&mut programs());
    for (tool, arguments, refusal) in [
        (
            "tar_create",
            json!({"archive": "x.tar", "members": ["a", "--checkpoint-action=exec=id"]}),
            "would be read as an option",
        ),
        (
            "cargo_test",
            json!({"features": ["a", "b,c"]}),
            "must not contain the separator",
        ),
        (
            "kubectl_label",
            json!({"resource": "pods/x", "labels": ["a=1", "B"]}),
            "does not match pattern",
        ),
        (
            "git_commit",
            json!({"settings": {"core.fsmonitor=id; x": 1}, "message": "m"}),
            "must not be empty or contain '='",
        ),
        (
            "docker_exec",
            json!({"container": "web", "words": []}),
            "Missing required argument 'words'",
        ),
    ] {
        let response = server.call(tool, &arguments);
        assert!(
            response.is_error && response.text.contains(refusal),
            "{tool}: {response:?}"
        );
    }
}

// Programs that run for real. `tests/programs.sh` installs them.

fn call(server: &mut Server, tool: &str, arguments: &Value) -> String {
    let response = server.call(tool, arguments);
    assert!(!response.is_error, "{tool} {arguments}: {response:?}");
    response.text
}

/// A folder with `src/keep.txt`, `src/skip.log` and `doc/page.md`.
fn tree() -> Folder {
    let folder = Folder::new();
    for (path, text) in [
        ("src/keep.txt", "alpha\nbeta\n"),
        ("src/skip.log", "alpha\n"),
        ("doc/page.md", "gamma\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    }
    folder
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("UTF-8"))
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn tar_packs_several_directories_and_leaves_out_several_globs() {
    if !is_installed("tar") {
        return;
    }
    let folder = tree();
    let mut server = Server::start(&mut programs());
    let arguments = json!({
        "directory": folder.text(), "archive": "x.tar", "exclude": ["*.log", "*.md"], "members": ["src", "doc"]
    });
    call(&mut server, "tar_create", &arguments);
    let archive = folder.path().join("x.tar");
    let listing = run(Command::new("tar").arg("-tf").arg(archive)).stdout;
    let listing = String::from_utf8(listing).expect("UTF-8");
    let mut members: Vec<&str> = listing.lines().collect();
    members.sort_unstable();
    assert_eq!(members, ["doc/", "src/", "src/keep.txt"]);
}

#[test]
fn rsync_copies_two_directories_without_what_is_excluded() {
    if !is_installed("rsync") {
        return;
    }
    let folder = tree();
    let mut server = Server::start(&mut programs());
    let arguments = json!({
        "directory": folder.text(), "exclude": ["*.log"], "sources": ["src/", "doc"], "destination": "copy/"
    });
    call(&mut server, "rsync_copy", &arguments);
    let copy = folder.path().join("copy");
    assert_eq!(names_in(&copy), ["doc", "keep.txt"]);
    assert_eq!(names_in(&copy.join("doc")), ["page.md"]);
}

#[test]
fn rg_searches_for_two_patterns_and_no_match_is_not_an_error() {
    if !is_installed("rg") {
        return;
    }
    let folder = tree();
    let mut server = Server::start(&mut programs());
    let mut arguments = json!({
        "directory": folder.text(), "patterns": ["alpha", "gamma"], "glob": ["!*.log"], "paths": ["src", "doc"]
    });
    let found = call(&mut server, "rg_search", &arguments);
    let mut lines: Vec<&str> = found.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["doc/page.md:gamma", "src/keep.txt:alpha"]);
    arguments["patterns"] = json!(["delta"]);
    let found = call(&mut server, "rg_search", &arguments);
    assert!(found.contains("[exit code: 1]"), "{found}");
}

#[test]
fn sqlite3_creates_a_table_and_reads_it_as_json() {
    if !is_installed("sqlite3") {
        return;
    }
    let folder = Folder::new();
    let mut server = Server::start(&mut programs());
    let mut query = |sql: &str| {
        let arguments = json!({
            "directory": folder.text(), "format": "json", "database": "app.db", "sql": sql
        });
        call(&mut server, "sqlite_query", &arguments)
    };
    query("create table users (name text); insert into users values ('Ada'), ('Bob')");
    let rows = query("select name from users order by name desc");
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!(rows, json!([{"name": "Bob"}, {"name": "Ada"}]));
    let arguments = json!({"directory": folder.text(), "database": "app.db", "table": "users"});
    let schema = call(&mut server, "sqlite_schema", &arguments);
    assert!(schema.contains("CREATE TABLE users"), "{schema}");
}

#[test]
fn git_shows_the_commits_of_two_authors_for_two_paths() {
    if !is_installed("git") {
        return;
    }
    let folder = Folder::new();
    let repository = folder.text();
    let mut server = Server::start(
        programs()
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null"),
    );
    call(&mut server, "git_init", &json!({"repository": repository}));
    for (author, path) in [("Ada", "a"), ("Bob", "b"), ("Cyd", "a"), ("Ada", "c")] {
        let file = folder.path().join(path);
        fs::write(file, author).expect("written");
        call(
            &mut server,
            "git_add",
            &json!({"repository": repository, "paths": [path]}),
        );
        let arguments = json!({
            "settings": {"user.name": author, "user.email": "a@example.org"}, "repository": repository,
            "sign": false, "message": format!("{author} changes {path}")
        });
        call(&mut server, "git_commit", &arguments);
    }
    let arguments =
        json!({"repository": repository, "author": ["Ada", "Bob"], "paths": ["a", "b"]});
    let log = call(&mut server, "git_log", &arguments);
    let found = |message: &str| log.contains(message);
    assert!(found("Ada changes a") && found("Bob changes b"), "{log}");
    assert!(!found("Cyd changes a") && !found("Ada changes c"), "{log}");
}

#[test]
fn ffmpeg_cuts_a_part_out_of_a_video() {
    if !is_installed("ffmpeg") {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| format!("{}/{name}", folder.text());
    let mut server = Server::start(&mut programs());
    let arguments = json!({"duration": 4, "destination": path("in.mp4")});
    call(&mut server, "ffmpeg_test_video", &arguments);
    let arguments = json!({
        "begin": 1, "source": path("in.mp4"), "duration": 2, "destination": path("out.mp4")
    });
    call(&mut server, "ffmpeg_cut", &arguments);
    let mut ffprobe = Command::new("ffprobe");
    ffprobe.args([
        "-v",
        "error",
        "-show_entries",
        "format=duration",
        "-of",
        "csv=p=0",
    ]);
    let duration = run(ffprobe.arg(path("out.mp4"))).stdout;
    assert_eq!(String::from_utf8_lossy(&duration).trim(), "2.000000");
}
