//! The discovery suite: what its four tools answer, and what they refuse.

use climax_tests::{Answer, Server, fixtures, guarded, run, text, to_answer};
use serde_json::{Map, Value, json};

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guarded.yaml");

const SEARCH: &str = "search_mcp_tools";
const DETAILS: &str = "get_tool_details";
const CATEGORIES: &str = "list_tool_categories";
const CAPABILITY: &str = "search_tools_by_capability";

fn start() -> Server {
    Server::start(&mut fixtures!("--explore"))
}

fn ask(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let answer = server.call_registered(tool, arguments);
    assert!(!answer.is_error, "{arguments}: {answer:?}");
    assert!(!answer.text.contains('\n'), "{}", answer.text);
    let answer = answer.json();
    let answers = answer.as_array().cloned().unwrap_or(vec![answer.clone()]);
    for answer in &answers {
        if answer["success"] == true {
            assert_eq!(answer["version"], "1.0", "{answer}");
            assert_moment(&answer["timestamp"]);
        }
    }
    answer
}

/// What is wrong with a request, and the whole error.
fn refused(server: &mut Server, tool: &str, arguments: &Value) -> (Vec<String>, Value) {
    let answer = server.call_registered(tool, arguments);
    assert!(answer.is_error, "{arguments}: {answer:?}");
    let answer = answer.json();
    assert_eq!(answer["success"], false, "{answer}");
    let error = &answer["error"];
    assert_eq!(error["tool"], tool);
    assert_moment(&error["timestamp"]);
    assert!(error["suggestions"].is_array(), "{error}");
    let message = text(&error["message"]);
    let problems = message.strip_prefix("Parameter validation errors: ");
    let problems = problems.unwrap_or(&message).split("; ").map(str::to_owned);
    (problems.collect(), error.clone())
}

/// `2026-11-16 17:30:00 UTC`.
fn assert_moment(value: &Value) {
    let moment = text(value);
    let shape: String = moment
        .chars()
        .map(|it| if it.is_ascii_digit() { '0' } else { it })
        .collect();
    assert_eq!(shape, "0000-00-00 00:00:00 UTC");
}

fn results(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().expect("results")
}

fn found(server: &mut Server, arguments: &Value) -> Vec<String> {
    let answer = ask(server, SEARCH, arguments);
    results(&answer)
        .iter()
        .map(|it| text(&it["tool_id"]))
        .collect()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(text).collect()
}

/// An answer without what differs from time to time.
fn timeless(mut answer: Value) -> Value {
    for answer in answer
        .as_array_mut()
        .map_or(Vec::new(), |all| all.iter_mut().collect())
    {
        *answer = timeless(answer.take());
    }
    if let Some(object) = answer.as_object_mut() {
        object.remove("timestamp");
        object.remove("execution_time");
    }
    answer
}

#[test]
fn the_suite_is_registered_beside_the_two_tools_and_only_if_asked_for() {
    let names = |mut server: Server| -> Vec<String> {
        server
            .tools()
            .iter()
            .map(|tool| text(&tool["name"]))
            .collect()
    };
    let both = ["climax_search", "climax_call"];
    assert_eq!(names(Server::start(&mut fixtures!())), both);
    let all = [&both[..], &[SEARCH, DETAILS, CATEGORIES, CAPABILITY]].concat();
    assert_eq!(names(start()), all);
    assert_eq!(
        names(Server::start(&mut fixtures!("run", "--explore"))),
        all
    );
    let answer = Server::start(&mut fixtures!()).request("tools/call", &json!({"name": SEARCH}));
    assert_eq!(answer["error"]["code"], -32602);
    let mut server = start();
    assert_eq!(server.found(&json!({"query": "git_log"})), ["git_log"]);
    assert!(!server.call("git_status", &json!({})).is_error);
    let unknown = server.request("tools/call", &json!({"name": "git_log"}));
    assert_eq!(unknown["error"]["message"], "Unknown tool: git_log");
}

#[test]
fn the_schemas_tell_defaults_and_limits() {
    let tools = start().tools();
    let schema = |name: &str| {
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("registered");
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        tool["inputSchema"].clone()
    };
    let search = schema(SEARCH);
    assert_eq!(search["required"], json!(["query"]));
    let of = |name: &str, key: &str| search["properties"][name][key].clone();
    assert_eq!(
        [
            of("max_results", "default"),
            of("max_results", "minimum"),
            of("max_results", "maximum")
        ],
        [json!(10), json!(1), json!(50)]
    );
    assert_eq!(of("include_examples", "default"), true);
    assert_eq!(of("search_mode", "default"), "hybrid");
    assert_eq!(
        of("search_mode", "enum"),
        json!(["semantic", "hybrid", "keyword"])
    );
    assert_eq!(
        of("tool_type", "enum"),
        json!(["system", "custom", "third_party"])
    );
    assert_eq!(keys(&search["properties"]).len(), 6);
    assert_eq!(keys(&schema(DETAILS)["properties"]).len(), 5);
    assert_eq!(schema(CATEGORIES)["properties"], json!({}));
    let capability = schema(CAPABILITY);
    assert_eq!(
        capability["properties"]["preferred_complexity"]["default"],
        "any"
    );
    assert_eq!(keys(&capability["properties"]).len(), 4);
}

#[test]
fn explore_and_classic_exclude_each_other() {
    let output = run(&mut fixtures!("--explore", "--classic"));
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("'--explore' cannot be used with '--classic'"),
        "{message}"
    );
}

#[test]
fn a_search_tells_everything_about_its_results_and_itself() {
    let mut server = start();
    let answer = ask(&mut server, SEARCH, &json!({"query": "record my changes"}));
    assert_eq!(
        keys(&answer),
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
    assert_eq!(answer["query"], "record my changes");
    assert_eq!(answer["search_mode"], "hybrid");
    assert!(
        answer["execution_time"]
            .as_f64()
            .is_some_and(|it| it > 0.0 && it < 60.0)
    );
    assert_eq!(answer["total_results"], results(&answer).len());
    let best = &results(&answer)[0];
    assert_eq!(
        keys(best),
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
        let of_level = |it: &&Value| it["confidence_level"] == level;
        results(&answer).iter().filter(of_level).count()
    });
    assert_eq!(
        answer["confidence_distribution"],
        json!({"high": counts[0], "medium": counts[1], "low": counts[2]})
    );
    let in_categories: u64 = answer["category_breakdown"]
        .as_object()
        .expect("an object")
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(in_categories, results(&answer).len() as u64);
}

#[test]
fn scores_fall_and_levels_follow_from_them() {
    let mut server = start();
    for query in [
        "record changes",
        "docker",
        "show commit history",
        "words without flags",
    ] {
        let answer = ask(
            &mut server,
            SEARCH,
            &json!({"query": query, "max_results": 50}),
        );
        let scores: Vec<f64> = results(&answer)
            .iter()
            .filter_map(|it| it["score"].as_f64())
            .collect();
        assert!(!scores.is_empty(), "{query}");
        assert!(
            scores.is_sorted_by(|one, other| one >= other),
            "{query}: {scores:?}"
        );
        for (result, score) in results(&answer).iter().zip(scores) {
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
fn the_name_of_a_tool_comes_first_in_every_mode_however_it_is_written() {
    let mut server = start();
    for mode in ["keyword", "hybrid", "semantic"] {
        for query in ["git_log", "GIT_LOG", "git log", " Git-Log "] {
            let answer = ask(
                &mut server,
                SEARCH,
                &json!({"query": query, "search_mode": mode}),
            );
            let best = &results(&answer)[0];
            assert_eq!(best["tool_id"], "git_log", "{query}");
            assert_eq!(best["score"], 1.0);
            assert_eq!(best["confidence_level"], "high");
            assert_eq!(best["match_reasons"][0], "the query is its name");
        }
        // A name that is a word which tells nothing else.
        let named = found(&mut server, &json!({"query": "self", "search_mode": mode}));
        assert_eq!(named[0], "self");
    }
}

#[test]
fn words_are_found_by_their_stems_and_in_spite_of_typos() {
    let mut server = start();
    let answer = ask(
        &mut server,
        SEARCH,
        &json!({"query": "committing", "search_mode": "keyword"}),
    );
    assert!(
        texts_of(&answer).contains(&"git_commit".to_owned()),
        "{answer}"
    );
    let typo = json!({"query": "branhces", "search_mode": "keyword"});
    let answer = ask(&mut server, SEARCH, &typo);
    let best = &results(&answer)[0];
    assert_eq!(best["tool_id"], "git_branch");
    assert_eq!(
        best["match_reasons"],
        json!(["name has 'branch' (for 'branhces')"])
    );
    assert_eq!(answer["query_suggestions"][0], "branch");
    // Two letters of a long word.
    let answer = ask(
        &mut server,
        SEARCH,
        &json!({"query": "repostry", "search_mode": "keyword"}),
    );
    assert_eq!(results(&answer)[0]["tool_id"], "git_commit");
    assert!(found(&mut server, &json!({"query": "zzzzqqqq"})).is_empty());
}

fn texts_of(answer: &Value) -> Vec<String> {
    results(answer)
        .iter()
        .map(|it| text(&it["tool_id"]))
        .collect()
}

#[test]
fn words_that_are_written_alike_count_in_hybrid_and_semantic_mode_only() {
    let mut server = start();
    let mut search = |mode: &str| {
        let query = json!({"query": "containerised", "search_mode": mode});
        ask(&mut server, SEARCH, &query)
    };
    let keyword = search("keyword");
    assert_eq!(keyword["search_mode"], "keyword");
    assert!(texts_of(&keyword).is_empty(), "{keyword}");
    for mode in ["hybrid", "semantic"] {
        let answer = search(mode);
        assert_eq!(answer["search_mode"], mode);
        assert!(
            text(&answer["search_strategy"]).contains("trigrams"),
            "{answer}"
        );
        assert!(
            texts_of(&answer).contains(&"docker_ps".to_owned()),
            "{answer}"
        );
        let reasons = texts(&results(&answer)[0]["match_reasons"]);
        assert!(reasons[0].contains("(like 'containerised')"), "{reasons:?}");
    }
}

#[test]
fn results_can_be_limited_and_be_without_examples() {
    let mut server = start();
    assert_eq!(
        found(&mut server, &json!({"query": "takes show docker"})).len(),
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
        let all = found(&mut server, &arguments).len();
        assert!(
            if count == 14 { all > 10 } else { all == count },
            "{limit}: {all}"
        );
    }
    for (flag, has) in [
        (json!(true), true),
        (json!(false), false),
        (json!("false"), false),
        (json!(null), true),
    ] {
        let arguments = json!({"query": "takes show docker", "include_examples": flag});
        let answer = ask(&mut server, SEARCH, &arguments);
        assert!(
            results(&answer)
                .iter()
                .all(|it| it.get("examples").is_some() == has),
            "{flag}"
        );
    }
}

#[test]
fn filters_narrow_by_category_and_type() {
    let mut server = start();
    for category in ["vcs", "VCS"] {
        let answer = ask(
            &mut server,
            SEARCH,
            &json!({"query": "commit", "category": category}),
        );
        assert!(!results(&answer).is_empty());
        assert!(
            results(&answer).iter().all(|it| it["category"] == "vcs"),
            "{answer}"
        );
    }
    let none = ask(
        &mut server,
        SEARCH,
        &json!({"query": "dump", "category": "uncategorized"}),
    );
    assert!(!results(&none).is_empty());
    assert!(
        results(&none).iter().all(|it| it["category"].is_null()),
        "{none}"
    );
    assert_eq!(keys(&none["category_breakdown"]), ["uncategorized"]);
    let mut of_type = |tool_type: &str| {
        let arguments =
            json!({"query": "takes show run", "tool_type": tool_type, "max_results": 50});
        let answer = ask(&mut server, SEARCH, &arguments);
        assert!(
            results(&answer)
                .iter()
                .all(|it| it["tool_type"] == tool_type),
            "{answer}"
        );
        results(&answer).len()
    };
    assert!(of_type("system") > 0 && of_type("third_party") > 0 && of_type("custom") > 0);
}

#[test]
fn a_category_that_the_suite_knows_and_nobody_has_gives_no_results_and_a_hint() {
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
        let answer = ask(
            &mut server,
            SEARCH,
            &json!({"query": "commit", "category": category}),
        );
        assert_eq!(answer["results"], json!([]));
        assert_eq!(answer["total_results"], 0);
        assert_eq!(
            texts(&answer["navigation_hints"]),
            [
                format!(
                    "Category '{category}' has no tools here; in all others: {SEARCH} {}",
                    json!({"query": "commit"})
                ),
                format!("See what there is: {CATEGORIES} {{}}"),
            ]
        );
    }
    let nothing = ask(
        &mut server,
        SEARCH,
        &json!({"query": "zzzzqqqq", "category": "vcs"}),
    );
    assert!(
        text(&nothing["navigation_hints"][0])
            .starts_with("Nothing fits with these filters; without: ")
    );
}

#[test]
fn hints_are_calls_that_can_be_made() {
    let mut server = start();
    let answer = ask(
        &mut server,
        SEARCH,
        &json!({"query": "show commit history", "max_results": 5}),
    );
    let hints = texts(&answer["navigation_hints"]);
    let starts = [
        "Call the best match: climax_call ",
        "See all about it: get_tool_details ",
        " of 5 are in category ",
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
    // Words that nobody knows, and a tag that some results have.
    let answer = ask(
        &mut server,
        SEARCH,
        &json!({"query": "show zzzzqqqq history", "search_mode": "keyword"}),
    );
    let suggestions = texts(&answer["query_suggestions"]);
    assert_eq!(suggestions[0], "show history");
    assert!(
        suggestions[1].starts_with("show zzzzqqqq history "),
        "{suggestions:?}"
    );
}

#[test]
fn everything_that_is_wrong_with_a_search_is_told_at_once() {
    let mut server = start();
    let arguments = json!({
        "query": " ", "category": "vc", "tool_type": "systm", "max_results": 51,
        "include_examples": "perhaps", "search_mode": 5,
    });
    let (problems, error) = refused(&mut server, SEARCH, &arguments);
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
fn queries_have_limits() {
    let mut server = start();
    for query in [json!(null), json!(""), json!("\n\t ")] {
        let (problems, _) = refused(&mut server, SEARCH, &json!({"query": query}));
        assert_eq!(problems, ["Query cannot be empty"]);
    }
    let (problems, _) = refused(&mut server, SEARCH, &json!({}));
    assert_eq!(problems, ["Query cannot be empty"]);
    let (problems, _) = refused(&mut server, SEARCH, &json!({"query": ["a"]}));
    assert_eq!(problems, [r#"Query must be text, not ["a"]"#]);
    let long = "ä".repeat(1000);
    ask(&mut server, SEARCH, &json!({"query": long}));
    let (problems, error) = refused(&mut server, SEARCH, &json!({"query": long + "a"}));
    assert_eq!(problems, ["Query too long (max 1000 characters)"]);
    assert!(text(&error["context"]).starts_with("ää"));
    for query in ["a\0b", "a\u{1b}[31m", "\u{7f}"] {
        let (problems, error) = refused(&mut server, SEARCH, &json!({"query": query}));
        assert_eq!(problems, ["Query contains control characters"]);
        assert_eq!(error["context"], query);
    }
    ask(
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
        let (problems, _) = refused(
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
fn queries_of_any_language_are_answered() {
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
            ask(
                &mut server,
                SEARCH,
                &json!({"query": query, "search_mode": mode}),
            );
        }
    }
    let answer = ask(&mut server, SEARCH, &json!({"query": "ＧＩＴ ＬＯＧ"}));
    assert_eq!(results(&answer)[0]["tool_id"], "git_log");
}

#[test]
fn details_have_the_sections_that_are_asked_for() {
    let mut server = start();
    let sections = [
        ("schema", "parameter_schema"),
        ("examples", "usage_examples"),
        ("relationships", "relationships"),
        ("usage_guidance", "usage_guidance"),
    ];
    for combination in 0..16 {
        let mut arguments = Map::new();
        arguments.insert("tool_id".to_owned(), "git_commit".into());
        let mut expected = vec![
            "included_sections",
            "success",
            "timestamp",
            "tool_details",
            "tool_id",
            "version",
        ];
        let mut included = Map::new();
        for (number, (section, field)) in sections.iter().enumerate() {
            let is_wanted = combination >> number & 1 == 1;
            arguments.insert(format!("include_{section}"), is_wanted.into());
            included.insert((*section).to_owned(), is_wanted.into());
            expected.extend(is_wanted.then_some(*field));
        }
        expected.sort_unstable();
        let answer = ask(&mut server, DETAILS, &arguments.into());
        assert_eq!(keys(&answer), expected);
        assert_eq!(answer["included_sections"], Value::from(included));
    }
    let all = ask(&mut server, DETAILS, &json!({"tool_id": " git_commit "}));
    assert_eq!(all["tool_id"], "git_commit");
    assert_eq!(
        all["tool_details"]["when_to_use"],
        "Record changes to the repository. Needs 'message'."
    );
    assert_eq!(
        all["parameter_schema"]["properties"]["message"]["description"],
        "Commit message"
    );
    assert_eq!(
        all["usage_examples"][0]["command_line"],
        "echo git commit -m 'Fix a typo'"
    );
    assert_eq!(
        keys(&all["relationships"]),
        ["alternatives", "complementary", "prerequisites"]
    );
    assert_eq!(
        all["usage_guidance"],
        json!({
            "best_practices": ["Always give 'message' (string)."],
            "common_pitfalls": ["It is ended after 30 seconds."],
        })
    );
}

#[test]
fn guidance_tells_what_the_config_and_policies_say() {
    let mut server = start();
    let mut guidance = |tool: &str| {
        let details = ask(&mut server, DETAILS, &json!({"tool_id": tool}));
        let guidance = &details["usage_guidance"];
        [
            texts(&guidance["best_practices"]),
            texts(&guidance["common_pitfalls"]),
        ]
        .concat()
    };
    let kinds = guidance("dump_kinds");
    assert!(
        kinds.contains(&"No argument is required.".to_owned()),
        "{kinds:?}"
    );
    assert!(
        kinds.contains(&"'format' can only be 'json', 'plain text', 'csv'.".to_owned()),
        "{kinds:?}"
    );
    let positional = guidance("dump_positional");
    assert!(
        positional.contains(&"A value of 'path' that begins with '-' is refused.".to_owned()),
        "{positional:?}"
    );
    let defaults = guidance("dump_defaults");
    assert!(
        defaults.contains(&"'count' is 10 unless it is given.".to_owned()),
        "{defaults:?}"
    );
    assert!(
        defaults.contains(&"'path' is '.' unless it is given.".to_owned()),
        "{defaults:?}"
    );
    for mut server in [
        Server::start(&mut guarded!("--explore")),
        Server::start(&mut fixtures!("--explore", "--policy", POLICY)),
    ] {
        let details = ask(&mut server, DETAILS, &json!({"tool_id": "dump_kinds"}));
        let pitfalls = texts(&details["usage_guidance"]["common_pitfalls"]);
        for expected in [
            "'text' must match [a-z]+ (policy).",
            "'count' must be from 1 to 10 (policy).",
            "'level' must be at most 1 (policy).",
        ] {
            assert!(pitfalls.contains(&expected.to_owned()), "{pitfalls:?}");
        }
    }
}

#[test]
fn several_tools_are_answered_as_a_list_and_unknown_ones_with_the_nearest_names() {
    let mut server = start();
    let arguments = json!({"tool_id": ["git_log", "git_comit", "git_tag"]});
    let answer = ask(&mut server, DETAILS, &arguments);
    let answers = answer.as_array().expect("a list");
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["tool_id"], "git_log");
    assert_eq!(answers[2]["tool_id"], "git_tag");
    assert_eq!(answers[1]["success"], false);
    assert_eq!(answers[1]["error"]["message"], "Tool 'git_comit' not found");
    let one = ask(&mut server, DETAILS, &json!({"tool_id": ["git_log"]}));
    assert_eq!(one.as_array().map(Vec::len), Some(1));

    let (problems, error) = refused(&mut server, DETAILS, &json!({"tool_id": "git_comit"}));
    assert_eq!(problems, ["Tool 'git_comit' not found"]);
    assert_eq!(error["context"], "git_comit");
    let suggestions = texts(&error["suggestions"]);
    assert_eq!(suggestions.len(), 3);
    assert!(
        suggestions.contains(&r#"get_tool_details {"tool_id":"git_commit"}"#.to_owned()),
        "{suggestions:?}"
    );
    let (_, error) = refused(&mut server, DETAILS, &json!({"tool_id": "zzzzqqqq"}));
    assert_eq!(
        error["suggestions"],
        json!(["Find one with search_mcp_tools"])
    );

    for none in [json!({}), json!({"tool_id": null}), json!({"tool_id": []})] {
        let (problems, _) = refused(&mut server, DETAILS, &none);
        assert_eq!(problems, ["tool_id cannot be empty"]);
    }
    let (problems, _) = refused(
        &mut server,
        DETAILS,
        &json!({"tool_id": [5, " "], "include_schema": 3}),
    );
    assert_eq!(
        problems,
        [
            "tool_id must be names, not 5",
            "tool_id must be names, not \" \"",
            "include_schema must be true or false"
        ]
    );
    let many = vec!["git_log"; 51];
    let (problems, _) = refused(&mut server, DETAILS, &json!({"tool_id": many}));
    assert_eq!(problems, ["tool_id may have at most 50 names"]);
    let nothing = server.call_registered(DETAILS, &json!({"tool_id": ["nope", "neither"]}));
    assert!(nothing.is_error);
    assert_eq!(nothing.json().as_array().map(Vec::len), Some(2));
}

#[test]
fn categories_have_descriptions_counts_clis_and_three_tools() {
    let mut server = start();
    let answer = ask(&mut server, CATEGORIES, &json!({}));
    let categories = answer["categories"].as_array().expect("a list");
    assert_eq!(answer["total_categories"], categories.len());
    assert_eq!(answer["total_tools"], 43);
    let sum: u64 = categories
        .iter()
        .filter_map(|it| it["tool_count"].as_u64())
        .sum();
    assert_eq!(sum, 43);
    let vcs = categories
        .iter()
        .find(|it| it["name"] == "vcs")
        .expect("there");
    assert_eq!(
        keys(vcs),
        [
            "clis",
            "description",
            "name",
            "representative_tools",
            "tool_count"
        ]
    );
    assert_eq!(vcs["description"], "git-tools: MCP tools for Git");
    assert_eq!(vcs["tool_count"], 10);
    assert_eq!(vcs["clis"], json!(["git-tools"]));
    let tools = vcs["representative_tools"].as_array().expect("a list");
    assert_eq!(tools.len(), 3);
    for tool in tools {
        assert!(text(&tool["tool_id"]).starts_with("git_"), "{tool}");
        assert!(tool["description"].is_string());
    }
    assert!(
        categories.iter().any(|it| it["name"] == "uncategorized"),
        "{answer}"
    );
    // The most central tool has its words in common with most others.
    assert!(
        tools.iter().any(|tool| tool["tool_id"] == "git_commit"),
        "{vcs}"
    );
    let mut one = Server::start(&mut fixtures!("git", "--explore"));
    let answer = ask(&mut one, CATEGORIES, &json!({}));
    assert_eq!(answer["total_categories"], 1);
}

#[test]
fn a_capability_needs_all_parameters_whatever_they_are_called() {
    let mut server = start();
    for required in [
        json!(["message"]),
        json!("message"),
        json!(["Message"]),
        json!(["msg"]),
        json!(["COMMENT"]),
    ] {
        let arguments =
            json!({"capability_description": "record changes", "required_parameters": required});
        let answer = ask(&mut server, CAPABILITY, &arguments);
        let best = &results(&answer)[0];
        assert_eq!(best["tool_id"], "git_commit", "{required}");
        for result in results(&answer) {
            let parameters = result["parameters"].as_array().expect("a list");
            assert!(
                parameters.iter().any(|it| it["name"] == "message"),
                "{result}"
            );
        }
    }
    // Tools that have the parameters and do nothing of what is described come last.
    let arguments =
        json!({"capability_description": "record changes", "required_parameters": ["max-count"]});
    let answer = ask(&mut server, CAPABILITY, &arguments);
    assert_eq!(
        results(&answer)
            .last()
            .map(|it| text(&it["tool_id"]))
            .as_deref(),
        Some("git_log")
    );
    let arguments =
        json!({"capability_description": "record changes", "required_parameters": ["nosuch"]});
    let answer = ask(&mut server, CAPABILITY, &arguments);
    assert_eq!(answer["results"], json!([]));
    assert_eq!(answer["total_results"], 0);
    let both =
        json!({"capability_description": "words", "required_parameters": ["file", "number"]});
    let answer = ask(&mut server, CAPABILITY, &both);
    assert_eq!(
        results(&answer)[0]["tool_id"],
        "dump_positional",
        "{answer}"
    );
}

#[test]
fn a_capability_search_explains_what_fits_and_what_does_not() {
    let mut server = start();
    let arguments = json!({
        "capability_description": "record zzzzqqqq changes", "required_parameters": ["msg"],
        "preferred_complexity": "complex", "max_results": 3,
    });
    let answer = ask(&mut server, CAPABILITY, &arguments);
    assert_eq!(
        keys(&answer),
        [
            "capability_description",
            "results",
            "search_criteria",
            "success",
            "timestamp",
            "total_results",
            "version",
        ]
    );
    assert_eq!(
        answer["search_criteria"],
        json!({"required_parameters": ["msg"], "preferred_complexity": "complex", "max_results": 3})
    );
    let best = &results(&answer)[0];
    assert_eq!(best["tool_id"], "git_commit");
    assert_eq!(
        best["explanation"],
        json!({
            "matched": ["description has 'record'", "description has 'changes'", "has parameter 'message' for 'msg'"],
            "not_matched": ["nothing about 'zzzzqqqq'", "complexity is simple, not complex"],
        })
    );
    assert!(best["examples"].is_array() && best["input_schema"].is_object());
}

#[test]
fn a_preferred_complexity_moves_tools_up() {
    let mut server = start();
    let mut score = |tool: &str, description: &str, preferred: Value| {
        let arguments = json!({
            "capability_description": description, "preferred_complexity": preferred, "max_results": 50,
        });
        let answer = ask(&mut server, CAPABILITY, &arguments);
        let tool = results(&answer)
            .iter()
            .find(|it| it["tool_id"] == tool)
            .expect("found");
        tool["score"].as_f64().expect("a number")
    };
    for (tool, description, complexity, other) in [
        (
            "dump_kinds",
            "one argument of each kind",
            "complex",
            "simple",
        ),
        (
            "git_commit",
            "record changes to the repository",
            "SIMPLE",
            "complex",
        ),
        (
            "dump_required",
            "two arguments that must be there",
            "moderate",
            "simple",
        ),
    ] {
        let any = score(tool, description, json!("any"));
        assert!(any > 0.01, "{tool}");
        for same in [json!(complexity), json!(null)] {
            assert!(
                (score(tool, description, same) - any).abs() < 1e-9,
                "{tool}"
            );
        }
        assert!(
            (score(tool, description, json!(other)) - any / 2.0).abs() < 1e-3,
            "{tool}"
        );
    }
}

#[test]
fn everything_that_is_wrong_with_a_capability_is_told_at_once() {
    let mut server = start();
    let arguments = json!({
        "capability_description": "\u{7}", "required_parameters": ["a", 5],
        "preferred_complexity": "simpel", "max_results": 0,
    });
    let (problems, error) = refused(&mut server, CAPABILITY, &arguments);
    assert_eq!(
        problems,
        [
            "Capability description contains control characters",
            "required_parameters must be names, not 5",
            "Invalid preferred_complexity 'simpel'. Valid options: simple, moderate, complex, any",
            "max_results must be between 1 and 50",
        ]
    );
    assert_eq!(error["context"], "\u{7}");
    let (problems, _) = refused(&mut server, CAPABILITY, &json!({}));
    assert_eq!(problems, ["Capability description cannot be empty"]);
    let long = json!({"capability_description": "a".repeat(1001)});
    let (problems, _) = refused(&mut server, CAPABILITY, &long);
    assert_eq!(
        problems,
        ["Capability description too long (max 1000 characters)"]
    );
}

/// How many examples a tool has by its schema: one with what must be given, or what is read if nothing
/// must be, and one with more. Where it runs is no reason for another.
fn expected_examples(details: &Value) -> usize {
    let parameters = details["tool_details"]["parameters"]
        .as_array()
        .expect("a list");
    let guidance = texts(&details["usage_guidance"]["best_practices"]);
    let has_required = parameters.iter().any(|it| it["required"] == true);
    let is_more = |name: String| {
        let is_directory = guidance.contains(&format!("'{name}' says where it runs."));
        let is_read = guidance.contains(&format!("What it is to read goes into '{name}'."));
        !is_directory && (has_required || !is_read)
    };
    let mut optional = parameters.iter().filter(|it| it["required"] == false);
    1 + usize::from(optional.any(|it| is_more(text(&it["name"]))))
}

#[test]
fn every_example_is_a_call_that_is_taken_and_becomes_the_command_line() {
    let mut server = start();
    let all = server.found(&json!({"query": "", "limit": 100}));
    assert_eq!(all.len(), 43);
    let mut dumped = 0;
    for tool in all {
        let details = ask(&mut server, DETAILS, &json!({"tool_id": tool}));
        let examples = details["usage_examples"].as_array().expect("a list");
        assert_eq!(examples.len(), expected_examples(&details), "{details}");
        for example in examples {
            assert_eq!(example["tool"], "climax_call");
            assert_eq!(example["arguments"]["tool_name"], tool);
            // Those of other CLIs wait, fail and flood, as their tests want it.
            if details["tool_details"]["cli_name"] != "dump-tools"
                || example.get("directory").is_some()
            {
                continue;
            }
            let answer = server.call_registered("climax_call", &example["arguments"]);
            assert!(!answer.is_error, "{example}: {answer:?}");
            let given = answer.json();
            let words = texts(&given["argv"]).join(" ");
            let line = text(&example["command_line"]).replace('\'', "");
            assert_eq!(
                line.trim_start_matches("argdump").trim_start(),
                words,
                "{example}"
            );
            assert_eq!(
                given["stdin"],
                example.get("stdin").cloned().unwrap_or("".into())
            );
            dumped += 1;
        }
    }
    assert!(dumped > 15, "{dumped}");
}

#[test]
fn policies_hold_for_the_suite_whether_baked_or_named_at_the_start() {
    let mut baked = Server::start(&mut guarded!("--explore"));
    let mut narrowed = Server::start(&mut fixtures!("--explore", "--policy", POLICY));
    let tools = baked.found(&json!({"query": "", "limit": 100}));
    assert_eq!(tools.len(), 6);
    let mut same = |tool: &str, arguments: Value| {
        let [one, other] = [&mut baked, &mut narrowed].map(|server| {
            let Answer { text, is_error } = server.call_registered(tool, &arguments);
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            (timeless(answer), is_error)
        });
        assert_eq!(one, other, "{tool} {arguments}");
        one.0
    };
    for query in [
        "record changes",
        "takes little",
        "docker",
        "git_status",
        "comit mesage",
    ] {
        for mode in ["keyword", "hybrid", "semantic"] {
            let answer = same(SEARCH, json!({"query": query, "search_mode": mode}));
            for result in answer["results"].as_array().expect("results") {
                assert!(tools.contains(&text(&result["tool_id"])), "{result}");
            }
        }
    }
    same(CATEGORIES, json!({}));
    same(
        CAPABILITY,
        json!({"capability_description": "takes", "required_parameters": ["path"]}),
    );
    for tool in &tools {
        let details = same(DETAILS, json!({"tool_id": tool}));
        let related = details["relationships"].as_object().expect("an object");
        for other in related.values().flat_map(texts) {
            assert!(tools.contains(&other), "{details}");
        }
    }
    let excluded = same(DETAILS, json!({"tool_id": "git_status"}));
    assert!(
        excluded.is_null() || excluded["success"] == false,
        "{excluded}"
    );
    // Examples have values that the policy allows.
    let kinds = same(DETAILS, json!({"tool_id": "dump_kinds"}));
    let args = &kinds["usage_examples"][1]["arguments"]["args"];
    assert!(!narrowed.call("dump_kinds", args).is_error, "{kinds}");
}

#[test]
fn a_selection_of_clis_narrows_the_suite() {
    let mut server = Server::start(&mut fixtures!("git", "--explore"));
    let names = found(
        &mut server,
        &json!({"query": "commit container", "max_results": 50}),
    );
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("git_")),
        "{names:?}"
    );
    let (_, error) = refused(&mut server, DETAILS, &json!({"tool_id": "docker_commit"}));
    assert!(
        !error["suggestions"].to_string().contains("docker"),
        "{error}"
    );
    let (problems, _) = refused(
        &mut server,
        SEARCH,
        &json!({"query": "a", "category": "containers"}),
    );
    assert!(
        problems[0].starts_with("Invalid category 'containers'"),
        "{problems:?}"
    );
}

#[test]
fn answers_are_the_same_each_time_and_by_either_path() {
    let mut server = start();
    for (tool, arguments) in [
        (SEARCH, json!({"query": "show commit history"})),
        (DETAILS, json!({"tool_id": "git_log"})),
        (CATEGORIES, json!({})),
        (
            CAPABILITY,
            json!({"capability_description": "show history"}),
        ),
        (SEARCH, json!({"query": ""})),
    ] {
        let mut answers = Vec::new();
        for meta in [json!({}), json!({}), json!({"progressToken": 1})] {
            let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
            let answer = server.request("tools/call", &params);
            let answer = to_answer(&answer);
            let mut json = timeless(answer.json());
            if let Some(error) = json.get_mut("error") {
                *error = timeless(error.take());
            }
            answers.push((json, answer.is_error));
        }
        assert_eq!(answers[0], answers[1], "{tool}");
        assert_eq!(answers[0], answers[2], "{tool}");
    }
}

#[test]
fn searches_are_logged_with_sums_at_the_end() {
    let folder = climax_tests::Folder::new();
    let log = folder.path().join("log");
    let mut server = Server::start(fixtures!("--explore").env("CLIMAX_LOG_FILE", &log));
    ask(&mut server, SEARCH, &json!({"query": "show \"history\""}));
    ask(&mut server, SEARCH, &json!({"query": "docker"}));
    server.search(&json!({"query": "commit"}));
    let (status, _) = server.close();
    assert!(status.success());
    let log = std::fs::read_to_string(&log).expect("a log");
    let line = |part: &str| {
        let line = log.lines().find(|line| line.contains(part));
        line.unwrap_or_else(|| panic!("{part} is not in\n{log}"))
            .to_owned()
    };
    let answered = line(r#"answered tool="search_mcp_tools" query="show \"history\"" results="#);
    assert!(
        answered.contains(" INFO ") && answered.contains(" microseconds="),
        "{answered}"
    );
    line(r#"answered tool="climax_search" query="commit" results="#);
    let sum = line(r#"in all tool="search_mcp_tools" requests=2 mean_microseconds="#);
    assert!(sum.contains(" longest_microseconds="), "{sum}");
    line(r#"in all tool="climax_search" requests=1 "#);
}

#[test]
fn searches_on_the_command_line_are_a_table_or_json() {
    let table = run(&mut fixtures!(
        "search",
        "show commit",
        "history",
        "--limit",
        "2"
    ));
    assert!(table.status.success());
    let table = String::from_utf8(table.stdout).expect("UTF-8");
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].contains("TOOL") && lines[0].contains("WHY"),
        "{table}"
    );
    assert!(lines[1].trim_start().starts_with("git_log"), "{table}");
    assert!(
        table.contains("2 of ") && table.contains("more with --limit"),
        "{table}"
    );
    let json = run(&mut fixtures!("search", "show commit history", "--json"));
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let served = ask(
        &mut start(),
        SEARCH,
        &json!({"query": "show commit history", "max_results": 10}),
    );
    assert_eq!(timeless(json), timeless(served));
    let nothing = run(&mut fixtures!("search", "zzzzqqqq"));
    assert_eq!(
        String::from_utf8_lossy(&nothing.stdout),
        "Nothing fits `zzzzqqqq`. `climax list` shows all tools.\n"
    );
    for wrong in [
        &["search"][..],
        &["search", "a", "--limit", "51"],
        &["search", "a", "--limit", "0"],
    ] {
        let mut command = fixtures!();
        command.args(wrong);
        assert_eq!(run(&mut command).status.code(), Some(2), "{wrong:?}");
    }
    let narrowed = run(&mut fixtures!(
        "search",
        "show commit history",
        "--json",
        "--policy",
        POLICY
    ));
    let narrowed = String::from_utf8_lossy(&narrowed.stdout).into_owned();
    assert!(
        narrowed.contains("git_log") && !narrowed.contains("git_status"),
        "{narrowed}"
    );
    // The same ranking serves a search for several words.
    let ranked = Server::start(&mut fixtures!())
        .search(&json!({"query": "show me my commit history please"}));
    assert_eq!(ranked["match"], "ranked");
    assert_eq!(ranked["results"][0]["tool_name"], "git_log");
}

#[test]
fn nobody_is_told_to_call_what_may_destroy_something() {
    let mut server = start();
    let mut hints = |query: &str, best: &str| {
        let answer = ask(&mut server, SEARCH, &json!({"query": query}));
        assert_eq!(results(&answer)[0]["tool_id"], best, "{query}");
        texts(&answer["navigation_hints"])
    };
    let reading = hints("docker_ps", "docker_ps");
    assert!(
        reading[0].starts_with("Call the best match: climax_call "),
        "{reading:?}"
    );
    let writing = hints("docker_commit", "docker_commit");
    assert!(
        writing[0].starts_with("See all about the best match: "),
        "{writing:?}"
    );
    assert!(
        writing[1].starts_with("Call it, which changes something: climax_call "),
        "{writing:?}"
    );
    let destroying = hints("docker_rm", "docker_rm");
    assert!(
        destroying[0].starts_with("It may destroy something, so see all about it: "),
        "{destroying:?}"
    );
    assert!(
        !destroying.iter().any(|hint| hint.contains("climax_call")),
        "{destroying:?}"
    );
}

#[test]
fn hints_keep_what_was_asked_for() {
    let mut server = start();
    let arguments = json!({
        "query": "takes show docker", "tool_type": "system", "search_mode": "keyword", "max_results": 2,
    });
    let answer = ask(&mut server, SEARCH, &arguments);
    let hints = texts(&answer["navigation_hints"]);
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
    assert_eq!(found(&mut server, &call).len(), total, "{wider}");
    let nothing = json!({"query": "zzzzqqqq", "tool_type": "custom", "category": ""});
    let nothing = ask(&mut server, SEARCH, &nothing);
    let hint = text(&nothing["navigation_hints"][0]);
    assert_eq!(
        hint,
        r#"Nothing fits with these filters; without: search_mcp_tools {"query":"zzzzqqqq"}"#
    );
}

#[test]
fn an_empty_filter_is_none() {
    let mut server = start();
    let all = found(&mut server, &json!({"query": "commit"}));
    for filters in [
        json!({"category": ""}),
        json!({"category": " ", "tool_type": "", "search_mode": ""}),
    ] {
        let mut arguments = filters.clone();
        arguments["query"] = "commit".into();
        assert_eq!(found(&mut server, &arguments), all, "{filters}");
    }
    assert_eq!(
        found(
            &mut server,
            &json!({"query": "commit", "category": " vcs "})
        )
        .len(),
        10
    );
}

#[test]
fn large_requests_are_refused_with_short_answers() {
    let mut server = start();
    let long = "x".repeat(1_000_000);
    for (tool, arguments, problem) in [
        (
            CAPABILITY,
            json!({"capability_description": "a", "required_parameters": vec!["path"; 51]}),
            "required_parameters may have at most 50 names",
        ),
        (
            CAPABILITY,
            json!({"capability_description": "a", "required_parameters": [long]}),
            "required_parameters has a name of over 200 characters",
        ),
        (
            DETAILS,
            json!({"tool_id": long}),
            "tool_id has a name of over 200 characters",
        ),
        (
            SEARCH,
            json!({"query": long}),
            "Query too long (max 1000 characters)",
        ),
        (
            SEARCH,
            json!({"query": "a", "category": long}),
            "Invalid category 'xxx",
        ),
        (
            SEARCH,
            json!({"query": [long]}),
            "Query must be text, not [\"xxx",
        ),
    ] {
        let answer = server.call_registered(tool, &arguments);
        assert!(
            answer.is_error && answer.text.contains(&problem.replace('"', "\\\"")),
            "{problem}"
        );
        assert!(
            answer.text.len() < 10_000,
            "{problem}: {}",
            answer.text.len()
        );
    }
}

#[test]
fn each_required_parameter_is_one_of_its_own_and_the_exact_name_is_preferred() {
    let mut server = start();
    let mut explained = |required: &[&str]| {
        let arguments = json!({"capability_description": "takes words without flags", "required_parameters": required});
        let answer = ask(&mut server, CAPABILITY, &arguments);
        let tool = results(&answer)
            .iter()
            .find(|it| it["tool_id"] == "dump_positional")
            .cloned();
        tool.map(|tool| texts(&tool["explanation"]["matched"]))
    };
    assert!(
        explained(&["path", "number"])
            .is_some_and(|it| it.contains(&"has parameter 'path'".to_owned()))
    );
    assert_eq!(explained(&["path", "file"]), None);
}

#[test]
fn a_lone_hit_on_one_word_of_several_is_not_certain() {
    let mut server = start();
    let answer = ask(
        &mut server,
        SEARCH,
        &json!({"query": "repository zzzzqqqq wwwwjjjj"}),
    );
    assert_eq!(texts_of(&answer), ["git_commit"]);
    assert_ne!(results(&answer)[0]["confidence_level"], "high", "{answer}");
}
