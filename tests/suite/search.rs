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
            // A part of the name.
            "git_recommit",
            // Elsewhere.
            "git_status",
            "git_log",
            "git_diff",
        ]
    );
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
        let rank = |name: &str| {
            let mut words = name.split(|character: char| !character.is_alphanumeric());
            if name == needle {
                0
            } else if words.any(|word| word == needle) {
                1
            } else if name.contains(&needle) {
                2
            } else {
                3
            }
        };
        let mut expected: Vec<_> = tools
            .iter()
            .filter(|tool| tool.2.contains(&needle))
            .collect();
        expected.sort_by_key(|tool| rank(&tool.1));
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
