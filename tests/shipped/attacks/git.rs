//! A repository whose settings and hooks name programs, and values that git reads as more than names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use climax_tests::{Folder, Server, run};
use serde_json::{Value, json};

use super::{HostileProject, Trap, assert_is_write_because, refuses};
use crate::{call, repository, server};

fn git(directory: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(words);
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "A"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "A"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ] {
        git.env(name, value);
    }
    let output = run(&mut git);
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Settings whose values are programs, or commands of a shell.
const PROGRAMS: [&str; 18] = [
    "core.fsmonitor",
    "core.pager",
    "pager.log",
    "core.editor",
    "core.askPass",
    "core.sshCommand",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "gpg.program",
    "gpg.ssh.program",
    "remote.evil.uploadpack",
    "trailer.evil.command",
];

/// Settings that make git use the programs more often.
const SETTINGS: [(&str, &str); 9] = [
    ("log.showSignature", "true"),
    ("format.pretty", "%G? %(trailers)"),
    ("protocol.ext.allow", "always"),
    ("grep.fullName", "true"),
    ("status.submoduleSummary", "true"),
    ("submodule.recurse", "true"),
    ("diff.submodule", "log"),
    // Missing objects are fetched with a program.
    ("remote.evil.promisor", "true"),
    ("remote.evil.url", "."),
];

const HOOKS: [&str; 3] = [
    "post-index-change",
    "reference-transaction",
    "post-checkout",
];

/// A repository with commits v1.0, main and topic in which git finds a trap everywhere.
fn hostile_repository(server: &mut Server, trap: &Trap) -> Folder {
    let folder = repository(server, "first");
    let path = folder.path();
    for words in [
        &["branch", "-M", "main"][..],
        &["tag", "v1.0"],
        &["branch", "topic"],
        &["commit", "--all", "--message=second"],
    ] {
        git(path, words);
    }
    fs::write(path.join("file.txt"), "six\n").expect("a file");
    git(path, &["stash"]);
    // A submodule, which gets the same settings.
    git(path, &["clone", "--quiet", ".", "sub"]);
    git(path, &["add", "sub"]);
    fs::write(path.join("sub/file.txt"), "ten\n").expect("a file");
    // As long as the committed text: git has to read the file to see the difference.
    fs::write(path.join("file.txt"), "ten\n").expect("a file");
    for key in PROGRAMS {
        git(
            path,
            &["config", key, trap.program().to_str().expect("a path")],
        );
    }
    for (key, value) in SETTINGS {
        git(path, &["config", key, value]);
    }
    let settings = path.join(".git");
    for directory in [settings.clone(), path.join("sub/.git")] {
        if directory != settings {
            fs::copy(settings.join("config"), directory.join("config")).expect("a file");
        }
        // An index that is older than the files makes git read all of them.
        let index = fs::File::options()
            .append(true)
            .open(directory.join("index"));
        index
            .and_then(|index| index.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)))
            .expect("a time");
        fs::create_dir_all(directory.join("info")).expect("a directory");
        fs::write(
            directory.join("info/attributes"),
            "* filter=evil diff=evil\n",
        )
        .expect("a file");
        for hook in HOOKS {
            fs::copy(trap.program(), directory.join("hooks").join(hook)).expect("a hook");
        }
    }
    folder
}

#[test]
fn reading_a_hostile_repository_executes_none_of_its_hooks_or_programs() {
    let (mut server, trap, outside) = (server(), Trap::new(), Folder::new());
    let secret = outside.path().join("secret");
    fs::write(&secret, "top-secret\n").expect("a file");
    let folder = hostile_repository(&mut server, &trap);
    symlink(&secret, folder.path().join("link")).expect("a link");
    git(folder.path(), &["status"]);
    let marks = trap.take_marks();
    assert_ne!(marks, "", "the trap works");
    git(folder.path(), &["-c", "core.fsmonitor=false", "diff"]);
    assert_ne!(trap.take_marks(), "", "the trap works for filters, too");

    let calls = [
        ("git_log", json!({"show_patch": true})),
        (
            "git_log",
            json!({"all": true, "format": "raw", "stat": true}),
        ),
        (
            "git_show",
            json!({"revision": ["HEAD", "HEAD:file.txt", ":file.txt"]}),
        ),
        ("git_blame", json!({"path": "file.txt"})),
        ("git_blame", json!({"path": "file.txt", "revision": "v1.0"})),
        ("git_grep", json!({"pattern": "t"})),
        ("git_diff_revisions", json!({"first": "v1.0"})),
        (
            "git_diff_revisions",
            json!({"first": "v1.0", "second": "file.txt"}),
        ),
        ("git_diff_staged", json!({"revision": "v1.0"})),
        ("git_diff_staged", json!({"revision": "file.txt"})),
        ("git_stash_show", json!({"include_untracked": true})),
        (
            "git_ls_files",
            json!({"deleted": true, "untracked": true, "unmerged": true}),
        ),
        ("git_clean_preview", json!({"ignored": true})),
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "git",
        path: folder.path(),
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&calls);
    let (secret, program) = (secret.display(), trap.program());
    let words = [
        &*format!("--contents={secret}"),
        &*format!("--open-files-in-pager={}", program.display()),
        &*format!("{secret}"),
        "--output=written",
        "--ext-diff",
    ];
    hostile.call_read_tools_with_words(&words);

    // The tools still do what they are for.
    let repo = folder.text();
    let arguments = json!({"directory": repo, "first": "v1.0", "format": "patch"});
    let changes = call(&mut server, "git_diff_revisions", &arguments);
    assert!(changes.contains("-one\n+two"), "{changes}");
}

#[test]
fn reading_does_not_fetch_missing_objects() {
    let (mut server, trap) = (server(), Trap::new());
    let folder = hostile_repository(&mut server, &trap);
    let path = folder.path();
    let object = git(path, &["rev-parse", "v1.0:file.txt"]);
    let (first, rest) = object.split_at(2);
    let file = path.join(".git/objects").join(first).join(rest);
    fs::remove_file(file).expect("an object");
    trap.take_marks();
    git(path, &["cat-file", "-p", &object]);
    assert_ne!(trap.take_marks(), "", "the trap works");
    let calls = [
        ("git_show", json!({"revision": "v1.0:file.txt"})),
        ("git_log", json!({"show_patch": true, "all": true})),
        ("git_blame", json!({"path": "file.txt"})),
        ("git_grep", json!({"pattern": "one", "revision": "v1.0"})),
        ("git_ls_tree", json!({"revision": "v1.0", "sizes": true})),
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "git",
        path,
        trap: &trap,
        secret: "top-secret",
    };
    hostile.call_read_tools(&calls);
}

/// The settings of a repository decide where its working tree is.
#[test]
fn git_grep_searches_commits_and_no_working_tree() {
    let (mut server, outside) = (server(), Folder::new());
    let folder = repository(&mut server, "first");
    fs::write(outside.path().join("file.txt"), "password\n").expect("a file");
    git(folder.path(), &["config", "core.worktree", outside.text()]);
    let plain = git(folder.path(), &["grep", "password"]);
    assert!(plain.contains("password"), "git shows it: {plain}");
    let mut arguments = json!({"directory": folder.text(), "pattern": "password|one"});
    arguments["extended"] = json!(true);
    let found = call(&mut server, "git_grep", &arguments);
    assert_eq!(found, "HEAD:file.txt:1:one");
}

/// Settings for a remote can make a push without a branch delete or overwrite branches there.
#[test]
fn git_push_changes_one_branch_and_overwrites_nothing() {
    let (mut server, origin) = (server(), Folder::new());
    let folder = repository(&mut server, "first");
    let path = folder.path();
    git(path, &["branch", "-M", "main"]);
    git(origin.path(), &["init", "--quiet", "--bare"]);
    git(path, &["remote", "add", "origin", origin.text()]);
    let push = ["push", "origin", "main:main", "main:other"];
    git(path, &push);
    git(path, &["commit", "--amend", "--message=rewritten"]);
    let before = git(origin.path(), &["show-ref"]);
    for (key, value) in [
        ("remote.origin.mirror", "true"),
        ("remote.origin.push", "+refs/heads/main:refs/heads/main"),
        ("remote.origin.push", "+HEAD:refs/heads/main"),
    ] {
        git(path, &["config", key, value]);
        let plan = git(path, &["push", "--dry-run", "--porcelain"]);
        assert!(plan.contains("+\t"), "git overwrites with {key}: {plan}");
        let response = server.call("git_push", &json!({"directory": path}));
        assert!(response.is_error, "{key}: {response:?}");
        assert_eq!(git(origin.path(), &["show-ref"]), before, "{key}");
        git(path, &["config", "--unset", key]);
    }
    git(path, &["switch", "--quiet", "--create", "topic"]);
    let arguments = json!({"directory": path, "set_upstream": true});
    call(&mut server, "git_push", &arguments);
    let upstream = git(path, &["rev-parse", "--abbrev-ref", "@{upstream}"]);
    assert_eq!(upstream, "origin/topic");
}

#[test]
fn git_blame_shows_no_line_of_a_file_that_the_settings_name() {
    let (mut server, outside) = (server(), Folder::new());
    let folder = repository(&mut server, "first");
    let secret = outside.path().join("secret");
    fs::write(&secret, "password\n").expect("a file");
    let secret = secret.to_str().expect("a path");
    git(folder.path(), &["config", "blame.ignoreRevsFile", secret]);
    let plain = git(folder.path(), &["blame", "file.txt"]);
    assert_eq!(
        plain, "",
        "git reads the file, and shows its first line as an error"
    );
    let arguments = json!({"directory": folder.text(), "path": "file.txt"});
    let blame = call(&mut server, "git_blame", &arguments);
    assert!(!blame.contains("password"), "{blame}");
}

/// `git diff` compares any two files (`--no-index`) if it is not in a repository, or if one is outside of it.
#[test]
fn git_diff_shows_no_file_outside_of_the_repository() {
    let mut server = server();
    let (folder, outside) = (repository(&mut server, "first"), Folder::new());
    for (name, text) in [("secret", "password\n"), ("empty", "")] {
        fs::write(outside.path().join(name), text).expect("a file");
    }
    let paths = ["secret", "empty"].map(|name| outside.path().join(name));
    let shown = git(
        folder.path(),
        &["diff", paths[0].to_str().expect("a path"), "/dev/null"],
    );
    assert!(shown.contains("password"), "git shows it: {shown}");

    for directory in [folder.path(), outside.path()] {
        for arguments in [
            json!({"path": paths}),
            json!({"path": [paths[0], "/dev/null"]}),
            json!({"path": [paths[0]], "stat": true}),
            json!({"revision": paths[0], "path": [paths[1]]}),
            json!({"revision": paths[0], "staged": true}),
        ] {
            let mut arguments = arguments;
            arguments["directory"] = json!(directory);
            let response = server.call("git_diff", &arguments);
            assert!(
                !response.text.contains("password"),
                "{arguments}: {response:?}"
            );
        }
    }
    let arguments = json!({"directory": outside.path(), "path": ["secret", "empty"]});
    let response = server.call("git_diff", &arguments);
    assert!(response.is_error && !response.text.contains("password"));
    let grep = json!({"directory": outside.path(), "pattern": "password"});
    let response = server.call("git_grep", &grep);
    assert!(response.is_error && !response.text.contains("password"));
}

#[test]
fn git_tools_refuse_refspecs_pathspec_magic_and_transports_that_start_programs() {
    let mut server = server();
    for (tool, arguments) in [
        (
            "git_fetch",
            json!({"remote": "origin", "ref": "+main:other"}),
        ),
        (
            "git_fetch",
            json!({"remote": "origin", "ref": "main:other"}),
        ),
        ("git_fetch", json!({"remote": "origin", "ref": "^main"})),
        (
            "git_fetch",
            json!({"remote": "origin", "ref": "refs/heads/*"}),
        ),
        ("git_fetch", json!({"remote": "ext::sh -c id"})),
        (
            "git_pull",
            json!({"remote": "origin", "branch": "main:other"}),
        ),
        ("git_push", json!({"remote": "ext::sh -c id"})),
        ("git_clone", json!({"url": "ext::sh -c id"})),
        (
            "git_remote_add",
            json!({"remote": "a", "url": "ext::sh -c id"}),
        ),
        ("git_add", json!({"path": ":/.env"})),
        ("git_add", json!({"path": [":(top).env"]})),
        ("git_log", json!({"path": ":!src"})),
        ("git_restore", json!({"path": ":(glob)**"})),
        ("git_commit", json!({"message": "a", "path": ":/"})),
        ("git_blame", json!({"path": "a", "line_range": ":main"})),
        ("git_blame", json!({"path": "a", "line_range": "/a/,/b/"})),
        ("git_stash_apply", json!({"stash": "topic"})),
        ("git_branch_list", json!({"glob": "refs/stash"})),
        ("git_tag_list", json!({"glob": "refs/heads"})),
    ] {
        refuses(&mut server, tool, &arguments);
    }
}

#[test]
fn ordinary_names_urls_and_paths_pass() {
    let mut server = server();
    let (folder, origin) = (repository(&mut server, "first"), Folder::new());
    let (repo, url) = (folder.text(), format!("file://{}", origin.text()));
    call(
        &mut server,
        "git_init",
        &json!({"directory": origin.text(), "bare": true}),
    );
    let calls: [(&str, Value); 8] = [
        ("git_remote_add", json!({"remote": "origin", "url": url})),
        (
            "git_remote_add",
            json!({"remote": "ada", "url": "git@example.org:ada/project.git"}),
        ),
        ("git_switch_create", json!({"branch": "fix/größe"})),
        ("git_push", json!({"remote": "origin"})),
        ("git_fetch", json!({"remote": url, "ref": "fix/größe"})),
        (
            "git_fetch",
            json!({"remote": "origin", "ref": "refs/heads/fix/größe"}),
        ),
        ("git_add", json!({"path": ["./file.txt", "*.txt"]})),
        (
            "git_blame",
            json!({"path": "file.txt", "line_range": "1,+1"}),
        ),
    ];
    for (tool, mut arguments) in calls {
        arguments["directory"] = json!(repo);
        call(&mut server, tool, &arguments);
    }
}

#[test]
fn git_fetch_of_a_branch_moves_no_local_branch() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let path = folder.path();
    git(path, &["branch", "other"]);
    git(path, &["commit", "--all", "--message=second"]);
    let before = git(path, &["rev-parse", "other"]);
    git(path, &["fetch", ".", "+HEAD:other"]);
    assert_ne!(git(path, &["rev-parse", "other"]), before, "git moves it");
    git(path, &["branch", "--force", "other", &before]);
    for name in ["+HEAD:other", "HEAD:other", "HEAD"] {
        let arguments = json!({"directory": path, "remote": ".", "ref": name});
        server.call("git_fetch", &arguments);
        assert_eq!(git(path, &["rev-parse", "other"]), before, "{name}");
    }
}

#[test]
fn git_tools_that_start_filters_are_not_read_and_say_why() {
    for tool in ["git_status", "git_diff"] {
        assert_is_write_because(tool, "filters");
    }
}

/// Unlike `.git`, such a directory arrives with a clone.
#[test]
fn a_git_directory_among_the_files_of_a_project_is_not_used() {
    let (mut server, trap) = (server(), Trap::new());
    let folder = hostile_repository(&mut server, &trap);
    let hidden = folder.path().join("hidden");
    fs::rename(folder.path().join(".git"), &hidden).expect("a directory");
    let tree = folder.path().to_str().expect("a path");
    git(&hidden, &["config", "core.worktree", tree]);
    trap.take_marks();
    git(&hidden, &["status"]);
    assert_ne!(trap.take_marks(), "", "the trap works");
    for tool in ["git_status", "git_diff", "git_log", "git_fetch"] {
        let response = server.call(tool, &json!({"directory": hidden}));
        assert!(response.is_error, "{tool}: {response:?}");
        assert_eq!(trap.take_marks(), "", "{tool}");
    }
}
