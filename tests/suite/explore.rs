//! The discovery tools together: registration, schemas, policies, log, and `climax search`.

use climax_tests::explore::{
    CAPABILITY, CATEGORIES, DETAILS, SEARCH, expect_refusal, expect_success, matching_tools,
    sorted_keys, texts, without_times,
};
use climax_tests::{Server, ToolResponse, fixtures, guarded, run, text};
use serde_json::{Value, json};

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guarded.yaml");

fn start() -> Server {
    Server::start(&mut fixtures!("--explore"))
}

#[test]
fn explore_mode_registers_four_tools_beside_the_meta_tools() {
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
    let response = Server::start(&mut fixtures!()).request("tools/call", &json!({"name": SEARCH}));
    assert_eq!(response["error"]["code"], -32602);
    let mut server = start();
    assert_eq!(
        server.matching_tools(&json!({"query": "git_log"})),
        ["git_log"]
    );
    assert!(!server.call("git_status", &json!({})).is_error);
    let unknown = server.request("tools/call", &json!({"name": "git_log"}));
    assert_eq!(unknown["error"]["message"], "Unknown tool: git_log");
}

#[test]
fn the_input_schemas_have_defaults_and_limits() {
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
    assert_eq!(sorted_keys(&search["properties"]).len(), 6);
    assert_eq!(sorted_keys(&schema(DETAILS)["properties"]).len(), 5);
    assert_eq!(schema(CATEGORIES)["properties"], json!({}));
    let capability = schema(CAPABILITY);
    assert_eq!(
        capability["properties"]["preferred_complexity"]["default"],
        "any"
    );
    assert_eq!(sorted_keys(&capability["properties"]).len(), 4);
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
fn baked_policies_and_policies_at_the_start_limit_the_discovery_tools_alike() {
    let mut baked = Server::start(&mut guarded!("--explore"));
    let mut narrowed = Server::start(&mut fixtures!("--explore", "--policy", POLICY));
    let tools = baked.matching_tools(&json!({"query": "", "limit": 100}));
    assert_eq!(tools.len(), 7);
    let mut same = |tool: &str, arguments: Value| {
        let [one, other] = [&mut baked, &mut narrowed].map(|server| {
            let ToolResponse { text, is_error, .. } = server.call_registered(tool, &arguments);
            let response: Value = serde_json::from_str(&text).expect("JSON");
            (without_times(response), is_error)
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
        "save my edits with git-tools",
        "save my edits",
    ] {
        for mode in ["keyword", "hybrid", "semantic"] {
            let response = same(SEARCH, json!({"query": query, "search_mode": mode}));
            for result in response["results"].as_array().expect("results") {
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
fn selecting_a_cli_limits_the_discovery_tools_to_it() {
    let mut server = Server::start(&mut fixtures!("git", "--explore"));
    let names = matching_tools(
        &mut server,
        &json!({"query": "commit container", "max_results": 50}),
    );
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("git_")),
        "{names:?}"
    );
    let (_, error) = expect_refusal(&mut server, DETAILS, &json!({"tool_id": "docker_commit"}));
    assert!(
        !error["suggestions"].to_string().contains("docker"),
        "{error}"
    );
    let (problems, _) = expect_refusal(
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
fn a_cached_response_equals_the_one_that_another_server_computes() {
    let mut server = start();
    let mut other = start();
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
        let response = |server: &mut Server| {
            let response = server.call_registered(tool, &arguments);
            let mut json = without_times(response.json());
            if let Some(error) = json.get_mut("error") {
                *error = without_times(error.take());
            }
            (json, response.is_error)
        };
        let first = response(&mut server);
        let cached = response(&mut server);
        assert_eq!(first, cached, "{tool}");
        assert_eq!(cached, response(&mut other), "{tool}");
    }
}

#[test]
fn searches_are_logged_and_summarised_at_the_end() {
    let folder = climax_tests::Folder::new();
    let log = folder.path().join("log");
    let mut server = Server::start(fixtures!("--explore").env("CLIMAX_LOG_FILE", &log));
    expect_success(&mut server, SEARCH, &json!({"query": "show \"history\""}));
    expect_success(&mut server, SEARCH, &json!({"query": "docker"}));
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
    let sum = line(r#"totals tool="search_mcp_tools" requests=2 mean_microseconds="#);
    assert!(sum.contains(" longest_microseconds="), "{sum}");
    line(r#"totals tool="climax_search" requests=1 "#);
}

#[test]
fn search_on_the_command_line_gives_the_response_of_climax_search() {
    let mut server = Server::start(&mut fixtures!());
    for query in [
        "commit",
        "git_commit",
        "show commit history",
        "please remove the old container",
        "zzzzqqqq",
        "zzzzqqqq plugh",
        "",
    ] {
        for limit in [1, 10, 60] {
            let number = limit.to_string();
            let printed = run(&mut fixtures!(
                "search", query, "--json", "--limit", &number
            ));
            let response =
                server.call_registered("climax_search", &json!({"query": query, "limit": limit}));
            assert_eq!(
                String::from_utf8_lossy(&printed.stdout),
                response.text + "\n",
                "{query} {limit}"
            );
        }
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
}

#[test]
fn search_on_the_command_line_prints_a_table_with_risks_and_reasons() {
    let table = |words: &[&str]| {
        let mut command = fixtures!("search");
        let output = run(command.args(words));
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let words_of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    };
    let related = table(&["show commit", "history", "--limit", "2"]);
    let lines: Vec<&str> = related.lines().collect();
    assert_eq!(words_of(lines[0]), "TOOL RISK DESCRIPTION WHY");
    assert_eq!(words_of(lines[1]), "git_log Show commit history whole word");
    assert!(
        words_of(lines[2]).contains("related, low confidence ("),
        "{related}"
    );
    let substring = table(&["commit", "--limit", "1"]);
    assert!(
        words_of(&substring)
            .contains("docker_commit write Make an image of a container word of the name 1 of ")
            && substring.ends_with(" matches; use --limit for more\n"),
        "{substring}"
    );
    let ranked = table(&["please remove the old container", "--limit", "1"]);
    let row = words_of(ranked.lines().nth(1).expect("a row"));
    assert!(
        row.starts_with("docker_rm destructive Remove a container ranked, high confidence ("),
        "{ranked}"
    );
    assert!(words_of(&ranked).contains("'remove'"), "{ranked}");
    assert_eq!(
        table(&["zzzzqqqq"]),
        "No tool matches `zzzzqqqq`. `climax list` lists all tools.\n"
    );
    for wrong in [&["search"][..], &["search", "a", "--limit", "0"]] {
        let mut command = fixtures!();
        command.args(wrong);
        assert_eq!(run(&mut command).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn oversized_arguments_are_refused_with_short_messages() {
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
            "required_parameters contains a name longer than 200 characters",
        ),
        (
            DETAILS,
            json!({"tool_id": long}),
            "tool_id contains a name longer than 200 characters",
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
            "Query must be a string, not [\"xxx",
        ),
    ] {
        let response = server.call_registered(tool, &arguments);
        assert!(
            response.is_error && response.text.contains(&problem.replace('"', "\\\"")),
            "{problem}"
        );
        assert!(
            response.text.len() < 10_000,
            "{problem}: {}",
            response.text.len()
        );
    }
}
