//! `climax_search`: matches, filters, limits and order.

use climax_tests::{Server, fixtures};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!())
}

#[test]
fn a_query_matches_name_description_cli_category_and_tags() {
    let mut server = start();
    for (query, tool) in [
        ("it_stat", "git_status"),
        ("working tree", "git_status"),
        ("git-tools", "git_status"),
        ("vcs", "git_status"),
        ("version-control", "git_status"),
        ("debugging", "dump_nothing"),
        ("GIT_Status", "git_status"),
        ("[with a name]", "git_tag"),
        ("(\"origin\")", "git_push"),
    ] {
        let found = server.matching_tools(&json!({"query": query}));
        assert!(found.contains(&tool.to_owned()), "{query}: {found:?}");
    }
}

#[test]
fn a_query_can_match_across_fields_of_a_tool_but_not_across_tools() {
    let mut server = start();
    let query = "git_tag mark a commit [with a name] git-tools vcs version-control commits";
    assert_eq!(server.matching_tools(&json!({"query": query})), ["git_tag"]);
    // A match does not extend into the next tool.
    let across = format!("{query}\ngit_recommit");
    let response = server.search(&json!({"query": across}));
    assert_eq!(response["match"], "ranked", "{response}");
}

#[test]
fn better_matches_come_first_and_ties_stay_in_catalog_order() {
    let mut server = start();
    assert_eq!(
        server.matching_tools(&json!({"query": "commit", "limit": 6})),
        [
            // A word of the name, in catalog order.
            "docker_commit",
            "git_commit",
            // A word elsewhere.
            "git_log",
            "git_add",
            "git_tag",
            // The start of a word elsewhere: all have the tag `commits`.
            "git_status",
        ]
    );
    let found = server.matching_tools(&json!({"query": "comm", "limit": 3}));
    assert_eq!(
        found,
        ["docker_commit", "git_commit", "git_status"],
        "the start of a word of the name, then of another word"
    );
    let found = server.matching_tools(&json!({"query": "ommi", "limit": 3}));
    assert_eq!(
        found,
        ["docker_commit", "git_status", "git_log"],
        "inside a word, of the name or not"
    );
    let found = server.matching_tools(&json!({"query": "it_com", "limit": 3}));
    assert_eq!(found, ["git_commit"], "inside two words");
    let found = server.matching_tools(&json!({"query": "git_commit"}));
    assert_eq!(found[0], "git_commit", "the exact name");
    let found = server.matching_tools(&json!({"query": "self"}));
    assert_eq!(found[0], "self");
}

#[test]
fn category_and_cli_filters_match_whole_names_ignoring_case() {
    let mut server = start();
    assert_eq!(
        server
            .matching_tools(&json!({"category": "VCS", "limit": 50}))
            .len(),
        10
    );
    assert_eq!(
        server
            .matching_tools(&json!({"cli": "Git-Tools", "limit": 50}))
            .len(),
        10
    );
    for filter in [
        json!({"category": "vc"}),
        json!({"category": "none"}),
        json!({"cli": "git"}),
        json!({"cli": "git-tools2"}),
    ] {
        assert_eq!(server.matching_tools(&filter), [""; 0], "{filter}");
    }
}

#[test]
fn a_missing_category_is_null_and_matches_no_filter() {
    let mut server = start();
    let response = server.search(&json!({"cli": "climax"}));
    assert_eq!(response["results"][0]["tool_name"], "plain_dump");
    assert_eq!(response["results"][0]["category"], Value::Null);
    assert_eq!(response["results"][0]["tags"], json!([]));
    let summary = server.search(&json!({"limit": 100}));
    let plain = summary["summary"].as_array().expect("a summary").iter();
    let plain = plain
        .clone()
        .find(|cli| cli["name"] == "climax")
        .expect("there");
    assert_eq!(plain["category"], Value::Null);
    assert_eq!(plain["description"], "");
}

#[test]
fn an_empty_query_matches_every_tool_and_null_counts_as_absent() {
    let mut server = start();
    let all = server.search(&json!({"query": "", "limit": 1000}));
    assert_eq!(all["mode"], "search");
    assert_eq!(all["results"].as_array().map(Vec::len), Some(43));
    assert_eq!(all.get("total_matches"), None);
    let summary = server.search(&json!({"query": null, "category": null, "cli": null}));
    assert_eq!(summary["mode"], "summary");
}

#[test]
fn an_unreadable_limit_falls_back_to_ten() {
    let mut server = start();
    for (limit, count) in [
        (json!(2), 2),
        (json!("2"), 2),
        (json!(2.0), 2),
        (json!(0), 0),
        (json!(-1), 0),
        (json!("junk"), 10),
        (json!(null), 10),
        (json!(1_000_000), 43),
    ] {
        let found = server.matching_tools(&json!({"query": "", "limit": limit}));
        assert_eq!(found.len(), count, "{limit}");
    }
    assert_eq!(server.matching_tools(&json!({"query": ""})).len(), 10);
}

#[test]
fn total_matches_counts_matches_beyond_the_limit() {
    let mut server = start();
    let some = server.search(&json!({"category": "vcs", "limit": 4}));
    assert_eq!(some["total_matches"], 10);
    let summary = server.search(&json!({"limit": 1}));
    assert_eq!(summary["total_matches"], 9);
    let all = server.search(&json!({"category": "vcs", "limit": 10}));
    assert_eq!(all.get("total_matches"), None);
}

#[test]
fn a_single_word_without_matches_gives_an_empty_list() {
    let response = start().call_registered("climax_search", &json!({"query": "xyzzy"}));
    assert_eq!(response.text, r#"{"mode":"search","results":[]}"#);
}

#[test]
fn a_query_of_several_words_is_ranked_by_shared_words() {
    let mut server = start();
    let response = server.search(&json!({"query": "please remove the old container", "limit": 3}));
    assert_eq!(response["match"], "ranked");
    assert_eq!(response["results"][0]["tool_name"], "docker_rm");
    let filtered = server.search(&json!({"query": "remove the container", "category": "vcs"}));
    let names = filtered["results"].as_array().expect("results");
    assert!(
        names.iter().all(|result| result["category"] == "vcs"),
        "{filtered}"
    );
    for query in ["xyzzy plugh", "how do I do it, please"] {
        let nothing = server.search(&json!({"query": query}));
        assert_eq!(nothing, json!({"mode": "search", "results": []}));
    }
}

#[test]
fn a_search_response_is_one_line_of_json_and_deterministic() {
    let mut server = start();
    let arguments = json!({"query": "commit"});
    let first = server.call_registered("climax_search", &arguments);
    assert!(
        first.text.starts_with(
            r#"{"mode":"search","results":[{"tool_name":"docker_commit","description":"#
        )
    );
    assert!(!first.text.contains('\n'));
    assert_eq!(first, server.call_registered("climax_search", &arguments));
    assert_eq!(first, start().call_registered("climax_search", &arguments));
}

#[test]
fn long_queries_and_arguments_of_wrong_types_do_no_harm() {
    let mut server = start();
    let long = server.search(&json!({"query": "x".repeat(100_000)}));
    assert_eq!(long["results"], json!([]));
    // A query with half a million words is still answered in time.
    let words: Vec<String> = (0..500_000)
        .map(|number| format!("commit{number}"))
        .collect();
    let words = words.join(" ");
    let many = server.search(&json!({"query": format!("commit {words}")}));
    assert_eq!(many["match"], "ranked");
    for odd in [
        json!({"query": ["a"]}),
        json!({"query": 5}),
        json!({"unknown": true}),
    ] {
        server.search(&odd);
    }
}

#[test]
fn a_search_finds_the_same_tools_as_a_linear_scan() {
    let mut server = start();
    let everything = server.search(&json!({"query": "", "limit": 100_000}));
    let tools: Vec<(String, String, String)> = everything["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|tool| {
            let text = |field: &str| tool[field].as_str().unwrap_or_default().to_lowercase();
            let tags = tool["tags"].as_array().expect("a list");
            let parts = [text("description"), text("cli_name"), text("category")];
            let tags = tags
                .iter()
                .map(|tag| climax_tests::text(tag).to_lowercase());
            let parts = parts.into_iter().chain(tags);
            let parts = parts.filter(|part| !part.is_empty());
            let name = text("tool_name");
            let line = parts.fold(name.clone(), |line, part| line + " " + &part);
            (climax_tests::text(&tool["tool_name"]), name, line)
        })
        .collect();
    // Words, parts of words, and parts that cross words.
    let mut needles: Vec<String> = Vec::new();
    for (_, _, line) in &tools {
        needles.extend(line.split_whitespace().map(str::to_owned));
        let line: Vec<char> = line.chars().collect();
        for (start, length) in [(0, 3), (1, 1), (2, 6), (4, 4), (7, 2), (11, 9)] {
            needles.extend(
                line.get(start..start + length)
                    .map(|part| part.iter().collect()),
            );
        }
    }
    needles.extend(["commit", "git", "nosuchthing", "e", "_", "tool", "x y"].map(str::to_owned));
    needles.sort_unstable();
    needles.dedup();
    let mut word_searches = 0;
    for needle in needles {
        let mut expected: Vec<_> = tools
            .iter()
            .filter(|tool| tool.2.contains(&needle))
            .collect();
        expected.sort_by_key(|tool| tier(&tool.1, &tool.2, &needle));
        let expected: Vec<&String> = expected.iter().map(|tool| &tool.0).collect();
        let response = server.search(&json!({"query": needle, "limit": 3}));
        if response["match"] == "ranked" {
            assert_eq!(expected, [""; 0], "{needle:?}");
            continue;
        }
        let found = response["results"].as_array().expect("results").iter();
        let found: Vec<String> = found
            .map(|result| climax_tests::text(&result["tool_name"]))
            .collect();
        let best: Vec<&String> = expected.iter().copied().take(3).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), best, "{needle:?}");
        let total = response["total_matches"]
            .as_u64()
            .unwrap_or(found.len() as u64);
        assert_eq!(total, expected.len() as u64, "{needle:?}");
        word_searches += usize::from(needle.chars().all(char::is_alphanumeric) && total > 0);
    }
    assert!(word_searches > 100, "{word_searches}");
}

/// How well the best occurrence of the needle in a tool's line matches; 0 is best.
fn tier(name: &str, line: &str, needle: &str) -> usize {
    if name == needle {
        return 0;
    }
    let is_boundary = |position: usize| {
        let mut neighbours = [
            line[..position].chars().next_back(),
            line[position..].chars().next(),
        ]
        .into_iter();
        neighbours.any(|neighbour| neighbour.is_none_or(|letter| !letter.is_alphanumeric()))
    };
    // A needle that spans words is never most of one.
    let word_length = |position: usize| {
        if !needle.chars().all(char::is_alphanumeric) {
            return usize::MAX;
        }
        let before = line[..position].rsplit(|letter: char| !letter.is_alphanumeric());
        let after = line[position..].split(|letter: char| !letter.is_alphanumeric());
        before.take(1).chain(after.take(1)).map(str::len).sum()
    };
    let places = line.char_indices().map(|(position, _)| position);
    let places = places.filter(|position| line[*position..].starts_with(needle));
    let tiers = places.map(|start| {
        let end = start + needle.len();
        match (is_boundary(start), is_boundary(end), end <= name.len()) {
            (true, true, true) => 1,
            (true, false, true) => 2,
            (true, true, false) => 3,
            (true, false, false) => 4,
            (false, ..) if 2 * needle.len() >= word_length(start) => 5,
            (false, ..) => 6,
        }
    });
    tiers.min().expect("the line contains the needle")
}

fn names(tools: &Value) -> Vec<String> {
    let tools = tools.as_array().expect("a list of tools").iter();
    tools
        .map(|tool| climax_tests::text(&tool["tool_name"]))
        .collect()
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().expect("an object").keys().collect()
}

#[test]
fn a_query_of_several_words_lists_tools_without_the_whole_query_as_related() {
    let mut server = start();
    let response = server.search(&json!({"query": "show commit history"}));
    assert_eq!(keys(&response), ["mode", "results", "related"]);
    assert_eq!(names(&response["results"]), ["git_log"]);
    let related = names(&response["related"]);
    assert!(related.contains(&"git_diff".to_owned()), "{related:?}");
    assert!(!related.contains(&"git_log".to_owned()), "{related:?}");
    assert_eq!(
        keys(&response["related"][0]),
        keys(&response["results"][0]),
        "entries have the same shape"
    );
    // Results and related tools share the limit.
    let two = server.search(&json!({"query": "show commit history", "limit": 2}));
    assert_eq!(names(&two["results"]), ["git_log"]);
    assert_eq!(names(&two["related"]), related[..1]);
    let one = server.search(&json!({"query": "show commit history", "limit": 1}));
    assert_eq!(keys(&one), ["mode", "results"]);
    // Filters hold for related tools, too.
    let filtered = server.search(&json!({"query": "show commit history", "cli": "git-tools"}));
    let related = filtered["related"].as_array().expect("related tools");
    assert!(related.iter().all(|tool| tool["cli_name"] == "git-tools"));
    // One word has no related tools.
    let word = server.search(&json!({"query": "history"}));
    assert_eq!(keys(&word), ["mode", "results"]);
}

#[test]
fn ranked_results_end_where_they_are_weak() {
    let mut server = start();
    let ranked = server.search(&json!({"query": "please remove the old container", "limit": 40}));
    assert_eq!(keys(&ranked), ["mode", "results", "match"]);
    let found = names(&ranked["results"]);
    assert_eq!(found[0], "docker_rm");
    assert!(found.len() <= 5, "{found:?}");
    // The total does not count what a larger limit would not return.
    let one = server.search(&json!({"query": "please remove the old container", "limit": 1}));
    assert_eq!(one["total_matches"], found.len());
}

#[test]
fn low_confidence_is_stated_if_even_the_best_result_is_weak() {
    let mut server = start();
    let weak = server.search(&json!({
        "query": "configure the quarterly marketing newsletter about images", "limit": 1
    }));
    let expected = ["mode", "results", "match", "confidence"];
    assert_eq!(keys(&weak)[..4], expected);
    assert_eq!(weak["confidence"], "low");
    let good = server.search(&json!({"query": "remove the old container"}));
    assert_eq!(good.get("confidence"), None);
}

#[test]
fn an_entry_has_the_risk_if_the_tool_changes_something() {
    let mut server = start();
    for (tool, risk) in [
        ("docker_ps", None),
        ("git_log", None),
        ("docker_commit", Some("write")),
        ("docker_rm", Some("destructive")),
    ] {
        let response = server.search(&json!({"query": tool}));
        let entry = &response["results"][0];
        assert_eq!(entry["tool_name"], tool);
        let mut expected = vec!["tool_name", "description", "cli_name", "category", "tags"];
        expected.extend(risk.map(|_| "risk"));
        expected.push("input_schema");
        assert_eq!(keys(entry), expected, "{entry}");
        assert_eq!(entry.get("risk").and_then(Value::as_str), risk, "{entry}");
    }
}

#[test]
fn a_filter_without_matches_gets_the_closest_offered_name() {
    let mut server = start();
    for (filters, expected) in [
        (
            json!({"cli": "git-tolls"}),
            r#","did_you_mean":["git-tools"]"#,
        ),
        (
            json!({"cli": "GITTOOLS"}),
            r#","did_you_mean":["git-tools"]"#,
        ),
        (json!({"category": "vsc"}), r#","did_you_mean":["vcs"]"#),
        (
            json!({"cli": "git-tool", "category": "containers", "query": "a b"}),
            r#","did_you_mean":["git-tools","container"]"#,
        ),
        (json!({"cli": "nosuchthing"}), ""),
        (json!({"cli": "x".repeat(100_000)}), ""),
        // Both exist, but no CLI has both.
        (json!({"cli": "git-tools", "category": "container"}), ""),
        (json!({"cli": "git-tools", "query": "xyzzy"}), ""),
    ] {
        let response = server.call_registered("climax_search", &filters);
        let expected = format!(r#"{{"mode":"search","results":[]{expected}}}"#);
        assert_eq!(response.text, expected, "{filters}");
    }
    // A CLI that the command line does not name is not offered.
    let mut docker_only = Server::start(&mut fixtures!("docker"));
    let response = docker_only.call_registered("climax_search", &json!({"cli": "git-tolls"}));
    assert_eq!(response.text, r#"{"mode":"search","results":[]}"#);
}
