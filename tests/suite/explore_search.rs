//! `search_mcp_tools`: matches, ranking, filters and refusals.

use climax_tests::explore::{
    SEARCH, expect_refusal, expect_success, matching_tools, results, sorted_keys, texts, tool_ids,
};
use climax_tests::{Server, fixtures, text};
use serde_json::{Value, json};

fn start() -> Server {
    Server::start(&mut fixtures!("--explore"))
}

#[test]
fn a_search_response_has_all_fields() {
    let mut server = start();
    let response = expect_success(&mut server, SEARCH, &json!({"query": "record my changes"}));
    assert_eq!(
        sorted_keys(&response),
        [
            "category_breakdown",
            "confidence_distribution",
            "execution_time",
            "navigation_hints",
            "query",
            "query_suggestions",
            "results",
            "search_mode",
            "search_strategy",
            "success",
            "timestamp",
            "total_results",
            "version",
        ]
    );
    assert_eq!(response["query"], "record my changes");
    assert_eq!(response["search_mode"], "hybrid");
    assert!(
        response["execution_time"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0 && seconds < 60.0)
    );
    assert_eq!(response["total_results"], results(&response).len());
    let best = &results(&response)[0];
    assert_eq!(
        sorted_keys(best),
        [
            "category",
            "cli_name",
            "complexity",
            "confidence_level",
            "description",
            "examples",
            "input_schema",
            "match_reasons",
            "name",
            "parameters",
            "score",
            "tags",
            "tool_id",
            "tool_type",
            "when_to_use",
        ]
    );
    assert_eq!(best["tool_id"], "git_commit");
    assert_eq!(best["name"], "git_commit");
    assert_eq!(best["description"], "Record changes to the repository");
    assert_eq!(best["category"], "vcs");
    assert_eq!(best["cli_name"], "git-tools");
    assert_eq!(best["tags"], json!(["version-control", "commits"]));
    assert_eq!(best["tool_type"], "system");
    assert_eq!(best["complexity"], "simple");
    assert_eq!(
        best["when_to_use"],
        "Record changes to the repository. Needs 'message'."
    );
    assert_eq!(
        best["parameters"],
        json!([{"name": "message", "type": "string", "required": true}])
    );
    assert_eq!(best["input_schema"]["required"], json!(["message"]));
    assert_eq!(
        best["examples"],
        json!([{
            "tool": "climax_call",
            "arguments": {"tool_name": "git_commit", "args": {"message": "Fix a typo"}},
            "command_line": "echo git commit -m 'Fix a typo'",
        }])
    );
    let reasons = texts(&best["match_reasons"]);
    assert_eq!(
        reasons,
        ["description has 'record'", "description has 'changes'"]
    );
    let levels = ["high", "medium", "low"];
    let counts = levels.map(|level| {
        let has_level = |result: &&Value| result["confidence_level"] == level;
        results(&response).iter().filter(has_level).count()
    });
    assert_eq!(
        response["confidence_distribution"],
        json!({"high": counts[0], "medium": counts[1], "low": counts[2]})
    );
    let in_categories: u64 = response["category_breakdown"]
        .as_object()
        .expect("an object")
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(in_categories, results(&response).len() as u64);
}

#[test]
fn scores_are_sorted_and_determine_the_confidence_level() {
    let mut server = start();
    for query in [
        "record changes",
        "docker",
        "show commit history",
        "words without flags",
    ] {
        let response = expect_success(
            &mut server,
            SEARCH,
            &json!({"query": query, "max_results": 50}),
        );
        let scores: Vec<f64> = results(&response)
            .iter()
            .filter_map(|result| result["score"].as_f64())
            .collect();
        assert!(!scores.is_empty(), "{query}");
        assert!(
            scores.is_sorted_by(|one, other| one >= other),
            "{query}: {scores:?}"
        );
        for (result, score) in results(&response).iter().zip(scores) {
            assert!((0.0..=1.0).contains(&score));
            let level = match score {
                0.6.. => "high",
                0.2.. => "medium",
                _ => "low",
            };
            assert_eq!(result["confidence_level"], level, "{result}");
        }
    }
}

#[test]
fn a_query_that_is_a_tool_name_ranks_that_tool_first_in_every_mode() {
    let mut server = start();
    for mode in ["keyword", "hybrid", "semantic"] {
        for query in ["git_log", "GIT_LOG", "git log", " Git-Log "] {
            let response = expect_success(
                &mut server,
                SEARCH,
                &json!({"query": query, "search_mode": mode}),
            );
            let best = &results(&response)[0];
            assert_eq!(best["tool_id"], "git_log", "{query}");
            assert_eq!(best["score"], 1.0);
            assert_eq!(best["confidence_level"], "high");
            assert_eq!(best["match_reasons"][0], "the query is its name");
        }
        // A tool whose name is a stop word.
        let named = matching_tools(&mut server, &json!({"query": "self", "search_mode": mode}));
        assert_eq!(named[0], "self");
    }
}

#[test]
fn words_match_by_stem_and_within_a_small_edit_distance() {
    let mut server = start();
    let response = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "committing", "search_mode": "keyword"}),
    );
    assert!(
        tool_ids(&response).contains(&"git_commit".to_owned()),
        "{response}"
    );
    let typo = json!({"query": "branhces", "search_mode": "keyword"});
    let response = expect_success(&mut server, SEARCH, &typo);
    let best = &results(&response)[0];
    assert_eq!(best["tool_id"], "git_branch");
    assert_eq!(
        best["match_reasons"],
        json!(["name has 'branch' (for 'branhces')"])
    );
    assert_eq!(response["query_suggestions"][0], "branch");
    // Edit distance 2, which long words allow.
    let response = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "repostry", "search_mode": "keyword"}),
    );
    assert_eq!(results(&response)[0]["tool_id"], "git_commit");
    assert!(matching_tools(&mut server, &json!({"query": "zzzzqqqq"})).is_empty());
}

#[test]
fn meaning_counts_only_in_hybrid_and_semantic_mode() {
    let mut server = start();
    let mut search = |mode: &str| {
        let query = json!({"query": "store modifications", "search_mode": mode});
        expect_success(&mut server, SEARCH, &query)
    };
    let keyword = search("keyword");
    assert_eq!(keyword["search_mode"], "keyword");
    assert!(tool_ids(&keyword).is_empty(), "{keyword}");
    for mode in ["hybrid", "semantic"] {
        let response = search(mode);
        assert_eq!(response["search_mode"], mode);
        assert!(
            text(&response["search_strategy"]).contains("word vectors"),
            "{response}"
        );
        assert!(
            tool_ids(&response).contains(&"git_commit".to_owned()),
            "{response}"
        );
        let reasons = texts(&results(&response)[0]["match_reasons"]);
        assert!(
            reasons
                .iter()
                .any(|reason| reason.contains("' is close to '")),
            "{reasons:?}"
        );
    }
}

#[test]
fn max_results_limits_results_and_examples_are_optional() {
    let mut server = start();
    assert_eq!(
        matching_tools(&mut server, &json!({"query": "takes show docker"})).len(),
        10
    );
    for (limit, count) in [
        (json!(1), 1),
        (json!("3"), 3),
        (json!(50), 14),
        (json!(2.0), 2),
        (json!(null), 10),
    ] {
        let arguments = json!({"query": "takes show docker", "max_results": limit});
        let all = matching_tools(&mut server, &arguments).len();
        assert!(
            if count == 14 { all > 10 } else { all == count },
            "{limit}: {all}"
        );
    }
    for (flag, has_examples) in [
        (json!(true), true),
        (json!(false), false),
        (json!("false"), false),
        (json!(null), true),
    ] {
        let arguments = json!({"query": "takes show docker", "include_examples": flag});
        let response = expect_success(&mut server, SEARCH, &arguments);
        assert!(
            results(&response)
                .iter()
                .all(|result| result.get("examples").is_some() == has_examples),
            "{flag}"
        );
    }
}

#[test]
fn filters_narrow_by_category_and_type() {
    let mut server = start();
    for category in ["vcs", "VCS"] {
        let response = expect_success(
            &mut server,
            SEARCH,
            &json!({"query": "commit", "category": category}),
        );
        assert!(!results(&response).is_empty());
        assert!(
            results(&response)
                .iter()
                .all(|result| result["category"] == "vcs"),
            "{response}"
        );
    }
    let none = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "dump", "category": "uncategorized"}),
    );
    assert!(!results(&none).is_empty());
    assert!(
        results(&none)
            .iter()
            .all(|result| result["category"].is_null()),
        "{none}"
    );
    assert_eq!(sorted_keys(&none["category_breakdown"]), ["uncategorized"]);
    let mut of_type = |tool_type: &str| {
        let arguments =
            json!({"query": "takes show run", "tool_type": tool_type, "max_results": 50});
        let response = expect_success(&mut server, SEARCH, &arguments);
        assert!(
            results(&response)
                .iter()
                .all(|result| result["tool_type"] == tool_type),
            "{response}"
        );
        results(&response).len()
    };
    assert!(of_type("system") > 0 && of_type("third_party") > 0 && of_type("custom") > 0);
}

#[test]
fn an_empty_filter_counts_as_absent() {
    let mut server = start();
    let all = matching_tools(&mut server, &json!({"query": "commit"}));
    for filters in [
        json!({"category": ""}),
        json!({"category": " ", "tool_type": "", "search_mode": ""}),
    ] {
        let mut arguments = filters.clone();
        arguments["query"] = "commit".into();
        assert_eq!(matching_tools(&mut server, &arguments), all, "{filters}");
    }
    assert_eq!(
        matching_tools(
            &mut server,
            &json!({"query": "commit", "category": " vcs "})
        )
        .len(),
        10
    );
}

#[test]
fn all_errors_of_a_search_are_reported_together() {
    let mut server = start();
    let arguments = json!({
        "query": " ", "category": "vc", "tool_type": "systm", "max_results": 51,
        "include_examples": "perhaps", "search_mode": 5,
    });
    let (problems, error) = expect_refusal(&mut server, SEARCH, &arguments);
    assert_eq!(problems[0], "Query cannot be empty");
    assert!(
        problems[1].starts_with("Invalid category 'vc'. Valid options: "),
        "{problems:?}"
    );
    for category in ["vcs", "uncategorized", "file_ops", "workflow"] {
        assert!(problems[1].contains(category), "{problems:?}");
    }
    assert_eq!(
        problems[2..],
        [
            "Invalid tool_type 'systm'. Valid options: system, custom, third_party",
            "max_results must be between 1 and 50",
            "include_examples must be true or false",
            "Invalid search_mode '5'. Valid options: semantic, hybrid, keyword",
        ]
    );
    assert_eq!(error["context"], Value::Null);
    let suggestions = texts(&error["suggestions"]);
    assert!(
        suggestions.contains(&"Did you mean category 'vcs'?".to_owned()),
        "{suggestions:?}"
    );
    assert!(
        suggestions.contains(&"Did you mean tool_type 'system'?".to_owned()),
        "{suggestions:?}"
    );
}

#[test]
fn empty_long_and_control_character_queries_are_refused() {
    let mut server = start();
    for query in [json!(null), json!(""), json!("\n\t ")] {
        let (problems, _) = expect_refusal(&mut server, SEARCH, &json!({"query": query}));
        assert_eq!(problems, ["Query cannot be empty"]);
    }
    let (problems, _) = expect_refusal(&mut server, SEARCH, &json!({}));
    assert_eq!(problems, ["Query cannot be empty"]);
    let (problems, _) = expect_refusal(&mut server, SEARCH, &json!({"query": ["a"]}));
    assert_eq!(problems, [r#"Query must be a string, not ["a"]"#]);
    let long = "ä".repeat(1000);
    expect_success(&mut server, SEARCH, &json!({"query": long}));
    let (problems, error) = expect_refusal(&mut server, SEARCH, &json!({"query": long + "a"}));
    assert_eq!(problems, ["Query too long (max 1000 characters)"]);
    assert!(text(&error["context"]).starts_with("ää"));
    for query in ["a\0b", "a\u{1b}[31m", "\u{7f}"] {
        let (problems, error) = expect_refusal(&mut server, SEARCH, &json!({"query": query}));
        assert_eq!(problems, ["Query contains control characters"]);
        assert_eq!(error["context"], query);
    }
    expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "two\nlines\tand a tab"}),
    );
    for limit in [
        json!(0),
        json!(51),
        json!(-1),
        json!(2.5),
        json!("many"),
        json!(true),
        json!(1e30),
    ] {
        let (problems, _) = expect_refusal(
            &mut server,
            SEARCH,
            &json!({"query": "a", "max_results": limit}),
        );
        assert_eq!(
            problems,
            ["max_results must be between 1 and 50"],
            "{limit}"
        );
    }
}

#[test]
fn queries_in_any_script_are_accepted() {
    let mut server = start();
    for query in [
        "显示提交历史",
        "コミット履歴を表示",
        "показать историю",
        "zeige die Größe an",
        "عرض السجل",
        "🦀🦀 🦀",
        "\u{301}\u{301}",
        "ﬁle ＧＩＴ İ",
        "how do I",
        "'\"`'' \"",
        "''''''''",
        "a'b'c\"d\"e`f`",
    ] {
        for mode in ["keyword", "hybrid", "semantic"] {
            expect_success(
                &mut server,
                SEARCH,
                &json!({"query": query, "search_mode": mode}),
            );
        }
    }
    let response = expect_success(&mut server, SEARCH, &json!({"query": "ＧＩＴ ＬＯＧ"}));
    assert_eq!(results(&response)[0]["tool_id"], "git_log");
}

#[test]
fn a_single_match_of_one_query_word_among_several_has_no_high_confidence() {
    let mut server = start();
    let response = expect_success(
        &mut server,
        SEARCH,
        &json!({"query": "repository zzzzqqqq wwwwjjjj", "search_mode": "keyword"}),
    );
    assert_eq!(tool_ids(&response), ["git_commit"]);
    assert_ne!(
        results(&response)[0]["confidence_level"],
        "high",
        "{response}"
    );
}
