//! Search by meaning over the shipped tools: requests that share no content word with the tool that they mean.

use std::process::Command;

use climax_tests::Server;
use serde_json::json;

/// Requests and the tools that they mean. They were written without looking at any ranking.
const PARAPHRASES: [(&str, &str); 30] = [
    ("get rid of my local edits", "git_restore"),
    (
        "author responsible for this piece of source code",
        "git_blame",
    ),
    ("temporarily shelve my unfinished edits", "git_stash_push"),
    ("download a project's source code", "git_clone"),
    ("ranking of contributors", "git_shortlog"),
    (
        "reclaim storage occupied by obsolete layers",
        "docker_prune",
    ),
    ("increase the number of replicas", "kubectl_scale"),
    (
        "return to the previous release of an application",
        "kubectl_rollout_undo",
    ),
    ("verify my permissions", "kubectl_can_i"),
    ("reboot a daemon", "systemctl_restart"),
    (
        "launch a daemon automatically when the computer powers on",
        "systemctl_enable",
    ),
    (
        "periodic tasks planned on this machine",
        "systemctl_list_timers",
    ),
    ("look at syslog messages", "journal_read"),
    ("set up new software on this computer", "apt_install"),
    ("erase software from this computer", "apt_remove"),
    ("how full is my hard drive", "disk_free"),
    ("which folders are the biggest", "disk_usage"),
    ("erase a document permanently", "remove_file"),
    ("add a new folder", "make_directory"),
    ("modify access rights", "change_mode"),
    ("fingerprint to detect corruption", "file_checksum"),
    ("what day is it today", "current_date"),
    ("locate documents on my computer", "find_files"),
    ("duplicate a document", "copy_file"),
    ("relocate a folder elsewhere", "move_file"),
    ("are any of my javascript libraries unsafe", "npm_audit"),
    ("lint rust programs", "cargo_clippy"),
    ("file a bug", "gh_issue_create"),
    ("arrange records alphabetically", "sort_lines"),
    ("compare a pair of documents", "diff_files"),
];

/// How many of the paraphrases must find their tool among the first three results.
const MIN_FOUND: usize = 19;

#[test]
fn paraphrases_find_the_tool_that_they_mean() {
    let mut server = Server::start(&mut Command::new(env!("CARGO_BIN_EXE_climax")));
    let missed = PARAPHRASES.iter().filter(|(request, tool)| {
        let found = server.matching_tools(&json!({"query": request, "limit": 3}));
        !found.iter().any(|name| name == tool)
    });
    let missed: Vec<_> = missed.collect();
    let found = PARAPHRASES.len() - missed.len();
    assert!(found >= MIN_FOUND, "{found} found; missed: {missed:#?}");
}
