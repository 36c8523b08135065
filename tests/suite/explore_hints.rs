//! Navigation hints and query suggestions of the discovery tools.

use climax_tests::explore::{CATEGORIES, SEARCH, expect_success, matching_tools, results, texts};
use climax_tests::{Server, fixtures, text};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!("--explore"))
}

#[test]
fn a_well_known_category_without_tools_gives_no_results_and_a_hint() {
    let mut server = start();
    for category in [
        "file_ops",
        "execution",
        "search",
        "web",
        "analysis",
        "development",
        "notebook",
        "workflow",
    ] {
        let response = expect_success(
            &mut server,
            SEARCH,
            &json!({"query": "commit", "category": category}),
        );
        assert_eq!(response["results"], json!([]));
        assert_eq!(response["total_results"], 0);
        assert_eq!(
            texts(&response["navigation_hints"]),
            [
                format!(
                    "Category '{category}' has no tools; search all categories: {SEARCH} {}",
                    json!({"query": "commit"})
                ),
                format!("Browse the categories: {CATEGORIES} {{}}"),
            ]
        );
    }
    let nothing = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "zzzzqqqq", "category": "vcs"}),
    );
    assert!(
        text(&nothing["navigation_hints"][0])
            .starts_with("No tool matches with these filters; search without them: ")
    );
}

#[test]
fn every_hint_contains_a_valid_call() {
    let mut server = start();
    let response = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "list branches and containers", "max_results": 5}),
    );
    let hints = texts(&response["navigation_hints"]);
    let starts = [
        "Call the best match: climax_call ",
        "Show its details: get_tool_details ",
        " of 5 results are in category ",
        "5 of ",
    ];
    assert_eq!(hints.len(), starts.len(), "{hints:?}");
    for (hint, start) in hints.iter().zip(starts) {
        assert!(hint.contains(start), "{hint}");
        let (before, arguments) = hint.split_at(hint.find('{').expect("arguments"));
        let tool = before.split_whitespace().next_back().expect("a tool");
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        assert!(!server.call_registered(tool, &arguments).is_error, "{hint}");
    }
    // Suggestions leave out an unknown word, or add a tag of some results.
    let response = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "show zzzzqqqq history", "search_mode": "keyword"}),
    );
    let suggestions = texts(&response["query_suggestions"]);
    assert_eq!(suggestions[0], "show history");
    assert!(
        suggestions[1].starts_with("show zzzzqqqq history "),
        "{suggestions:?}"
    );
}

#[test]
fn hints_never_suggest_calling_a_destructive_tool() {
    let mut server = start();
    let mut hints = |query: &str, best: &str| {
        let response = expect_success(&mut server, SEARCH, &json!({"query": query}));
        assert_eq!(results(&response)[0]["tool_id"], best, "{query}");
        texts(&response["navigation_hints"])
    };
    let reading = hints("docker_ps", "docker_ps");
    assert!(
        reading[0].starts_with("Call the best match: climax_call "),
        "{reading:?}"
    );
    let writing = hints("docker_commit", "docker_commit");
    assert!(
        writing[0].starts_with("Show details of the best match: "),
        "{writing:?}"
    );
    assert!(
        writing[1].starts_with("Call it (makes changes): climax_call "),
        "{writing:?}"
    );
    let destroying = hints("docker_rm", "docker_rm");
    assert!(
        destroying[0].starts_with("Best match, but it may destroy data; read its details first: "),
        "{destroying:?}"
    );
    assert!(
        !destroying.iter().any(|hint| hint.contains("climax_call")),
        "{destroying:?}"
    );
}

#[test]
fn hints_keep_the_filters_of_the_request() {
    let mut server = start();
    let arguments = json!({
        "query": "takes show docker", "tool_type": "system", "search_mode": "keyword", "max_results": 2,
    });
    let response = expect_success(&mut server, SEARCH, &arguments);
    let hints = texts(&response["navigation_hints"]);
    let wider = hints.last().expect("a hint");
    let (before, call) = wider.split_at(wider.find('{').expect("arguments"));
    let total: usize = before
        .split_whitespace()
        .nth(2)
        .expect("a number")
        .parse()
        .expect("a number");
    let call: Value = serde_json::from_str(call).expect("JSON");
    assert_eq!(call["tool_type"], "system");
    assert_eq!(call["search_mode"], "keyword");
    assert_eq!(matching_tools(&mut server, &call).len(), total, "{wider}");
    let nothing = json!({"query": "zzzzqqqq", "tool_type": "custom", "category": ""});
    let nothing = expect_success(&mut server, SEARCH, &nothing);
    let hint = text(&nothing["navigation_hints"][0]);
    assert_eq!(
        hint,
        r#"No tool matches with these filters; search without them: search_mcp_tools {"query":"zzzzqqqq"}"#
    );
}
