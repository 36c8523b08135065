//! Files that curl would send, and servers on loopback that would get them.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, RecordingServer, Trap, check_values, without_proxies};
use crate::climax;

#[test]
fn requests_send_no_file_and_nothing_from_the_users_settings() {
    if !is_installed("curl") {
        return;
    }
    let (project, trap) = (Folder::new(), Trap::new());
    let secret = "top-secret";
    let write = |path: &str, text: &str| {
        fs::write(project.path().join(path), text).expect("a file");
    };
    write("secret", &format!("X-Secret: {secret}\n"));
    write(".curlrc", "header = \"@secret\"\n");
    write(".netrc", &format!("default login a password {secret}\n"));
    // All requests of the examples go to this server, as to a proxy.
    let record = RecordingServer::start();
    let address = format!("http://{}", record.address);
    let in_project = |command: &mut Command| {
        without_proxies(command)
            .current_dir(project.path())
            .env("HOME", project.path())
            .env("CURL_HOME", project.path())
            .env("https_proxy", &address)
            .env_remove("no_proxy")
            .env_remove("NO_PROXY");
    };

    let mut curl = Command::new("curl");
    in_project(&mut curl);
    run(curl.args(["-s", &address]));
    assert!(
        record.take_requests().contains(secret),
        "curl sends the secret"
    );

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let calls = [
        (
            "curl_get",
            json!({"url": address, "headers": ["X-A: @secret"], "bearer": "@secret"}),
        ),
        (
            "curl_head",
            json!({"url": format!("{address}/{{a,b}}?x=[1-2]")}),
        ),
        ("curl_timing", json!({"url": address})),
    ];
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "curl",
        path: project.path(),
        trap: &trap,
        secret,
    };
    hostile.call_read_tools(&calls);
    let sent = record.take_requests();
    assert!(sent.contains("X-A: @secret\r\n"), "{sent}");
    assert!(sent.contains("HEAD /{a,b}?x=[1-2] "), "{sent}");
    assert!(!sent.contains(secret), "{sent}");

    let url = format!("file://{}/secret", project.text());
    let words = [
        "@secret",
        "@-",
        &url,
        "secret",
        "--config=.curlrc",
        "-K.curlrc",
        "-n",
    ];
    hostile.call_read_tools_with_words(&words);
    for (tool, arguments) in [
        ("curl_post_json", json!({"body": "@secret"})),
        ("curl_send", json!({"body": "@secret"})),
        ("curl_post_form", json!({"form_fields": {"a": "@secret"}})),
        (
            "curl_post_files",
            json!({"form_files": {"a": "empty"}, "form_fields": {"a": "<secret", "b": "@secret"}}),
        ),
    ] {
        write("empty", "");
        let mut arguments = arguments;
        arguments["url"] = json!(address);
        server.call(tool, &arguments);
        let sent = record.take_requests();
        assert!(sent.contains("secret"), "{tool} sends the text: {sent}");
        assert!(!sent.contains(secret), "{tool}: {sent}");
    }
}

#[test]
fn values_that_curl_takes_for_files_or_other_protocols_are_refused() {
    let urls = [
        "http://localhost:8080/a",
        "HTTPS://example.org/?a=b",
        "https://[::1]/{a}",
    ];
    for tool in [
        "curl_get",
        "curl_head",
        "curl_timing",
        "curl_post_json",
        "curl_post_form",
        "curl_post_files",
        "curl_send",
        "curl_delete",
        "curl_download",
        "curl_upload",
    ] {
        let refused = [
            "file:///etc/passwd",
            "/etc/passwd",
            "ipfs://a",
            "-K",
            "http://a b",
            "scp://a/b",
        ];
        check_values(
            tool,
            "url",
            &urls.map(|url| json!(url)),
            &refused.map(|url| json!(url)),
        );
        let headers = [json!("Accept: a/b"), json!(["X-Empty;", "Accept:"])];
        let refused = ["@file", "@-", "A: b\r\nC: d", "no header"];
        check_values(
            tool,
            "headers",
            &headers,
            &refused.map(|header| json!(header)),
        );
    }
    for tool in ["curl_get", "curl_head", "curl_timing"] {
        let headers = ["x", "X-A", "X-Hub-Signature", "X-Man", "Xa"];
        let refused = [
            "X-HTTP-Method-Override",
            "x-http-method",
            "X_HTTP_Method_Override",
            "X-Method-Override",
        ];
        let with_value = |name: &str| json!(format!("{name}: delete"));
        check_values(
            tool,
            "headers",
            &headers.map(with_value),
            &refused.map(with_value),
        );
    }
    let post_files = |argument, accepted, refused| {
        check_values("curl_post_files", argument, &[accepted], &[refused]);
    };
    post_files("form_files", json!({"a": "./b"}), json!({"a": "-"}));
    post_files("form_files", json!({"a": "b"}), json!({"a": "b;type=c"}));
    post_files(
        "form_files",
        json!({"a": "b"}),
        json!({"a": "b,/etc/passwd"}),
    );
    post_files("form_fields", json!({"a": "@b"}), json!({"a@b": "c"}));
    check_values(
        "curl_post_form",
        "form_fields",
        &[json!({"a": "@b"})],
        &[json!({"a@b": "c"})],
    );
    check_values(
        "curl_upload",
        "path",
        &[json!("../a"), json!(".a")],
        &[json!("-"), json!(".")],
    );
    check_values("curl_download", "path", &[json!("a/b")], &[json!("-")]);
    check_values(
        "curl_get",
        "range",
        &[json!("0-99"), json!("-9")],
        &[json!("a")],
    );
}
