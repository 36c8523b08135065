//! Search by meaning over the shipped tools: requests that share no content word with the tool that they mean.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use climax_codegen::check::check;
use climax_codegen::facts::facts;
use climax_codegen::model::CliModel;
use climax_codegen::read_configs;
use climax_discovery::tokens::{TermStemmer, for_each_word};
use climax_input::source::read;
use climax_tests::{Server, plain_words, training_texts};
use serde_json::json;

/// Requests and the tools that they mean. They were written without looking at any ranking.
const PARAPHRASES: [(&str, &str); 30] = [
    ("revert uncommitted modifications", "git_restore"),
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
    ("run more instances of my service", "kubectl_scale"),
    (
        "reinstate the previous version of my app",
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
    ("what is eating up all my storage", "disk_usage"),
    ("erase a document permanently", "remove_file"),
    ("add a new folder", "make_directory"),
    ("modify access rights", "change_mode"),
    ("fingerprint to detect corruption", "file_checksum"),
    ("what day is it today", "current_date"),
    ("locate documents on my computer", "find_files"),
    ("duplicate a document", "copy_file"),
    ("relocate a folder elsewhere", "move_file"),
    ("are any of my javascript libraries unsafe", "npm_audit"),
    ("static analysis of a crate", "cargo_clippy"),
    ("submit a ticket", "gh_issue_create"),
    ("arrange records alphabetically", "sort_lines"),
    (
        "spot dissimilarities between a couple of documents",
        "diff_files",
    ),
];

/// How many of the paraphrases must find their tool among the first three results.
const MIN_FOUND: usize = 20;

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

#[test]
fn paraphrases_share_no_content_word_with_their_tool() {
    let clis = shipped_clis();
    let facts = facts(&clis);
    let shared = PARAPHRASES.iter().flat_map(|(request, name)| {
        let mut tools = facts.tools.iter();
        let tool = tools.find(|tool| tool.name == *name);
        let tool = tool.expect("the configs have the tool");
        let texts = [tool.name, tool.description].into_iter();
        let texts = texts.chain(tool.keywords.iter().copied());
        let tool_words: BTreeSet<String> = texts.flat_map(content_words).collect();
        let shared = content_words(request).into_iter();
        let shared = shared.filter(move |word| tool_words.contains(word));
        shared.map(move |word| (*name, word))
    });
    let shared: Vec<_> = shared.collect();
    assert!(shared.is_empty(), "shared words: {shared:#?}");
}

#[test]
fn word_vectors_are_trained_on_no_paraphrase_and_no_description_of_a_shipped_tool() {
    let clis = shipped_clis();
    let facts = facts(&clis);
    let requests = PARAPHRASES.iter().map(|(request, _)| *request);
    let descriptions = facts.tools.iter().flat_map(|tool| {
        let arguments = tool.arguments.iter();
        let of_arguments = arguments.map(|argument| argument.description);
        of_arguments.chain([tool.description])
    });
    let training_texts = training_texts();
    let texts = requests.chain(descriptions);
    let shared = texts.filter(|text| training_texts.contains(&plain_words(text)));
    let shared: Vec<_> = shared.collect();
    assert!(shared.is_empty(), "{shared:#?}");
}

/// The shipped configs, checked.
fn shipped_clis() -> Vec<CliModel> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = read(root, &[PathBuf::from("configs")], None).expect("the configs can be read");
    let mut diagnostics = Vec::new();
    let configs = read_configs(&sources.all[..sources.config_count], &mut diagnostics);
    check(configs, &mut diagnostics).0
}

/// The stems of the words of a text without stop words.
fn content_words(text: &str) -> BTreeSet<String> {
    let stemmer = TermStemmer::default();
    let mut words = BTreeSet::new();
    for_each_word(text, &mut |word| {
        words.extend(stemmer.term(word).map(Cow::into_owned));
    });
    words
}
