//! A project with a kubeconfig, plugins and programs of its own, and a cluster on loopback.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, RecordingServer, Trap, check_values};
use crate::climax;

/// A kubeconfig for a cluster at an address. To log in, kubectl starts a program, if there is one.
fn kubeconfig(address: &str, login: Option<&Trap>) -> String {
    let user = login.map_or(json!({}), |trap| {
        let version = "client.authentication.k8s.io/v1";
        let exec =
            json!({"apiVersion": version, "command": trap.program(), "interactiveMode": "Never"});
        json!({"exec": exec})
    });
    // kubectl logs in only where the connection is encrypted.
    let scheme = if login.is_some() { "https" } else { "http" };
    let server = format!("{scheme}://{address}");
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
    })
    .to_string()
}

/// The API of a cluster that knows only pods and secrets.
fn respond(path: &str) -> (u16, String) {
    let types = |name: &str, kind: &str| json!({"name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["get", "list"]});
    let path = path.split('?').next().unwrap_or("");
    let response = match path {
        "/version" => json!({"major": "1", "minor": "32", "gitVersion": "v1.32.0"}),
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/apis" => json!({"kind": "APIGroupList", "groups": []}),
        "/api/v1" => json!({
            "kind": "APIResourceList", "groupVersion": "v1",
            "resources": [types("pods", "Pod"), types("secrets", "Secret")],
        }),
        _ => {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"}})
        }
    };
    let is_log = path.ends_with("/log");
    (if is_log { 404 } else { 200 }, response.to_string())
}

#[test]
fn reading_a_cluster_in_a_hostile_project_starts_nothing() {
    if !is_installed("kubectl") {
        return;
    }
    let RecordingServer { address, .. } = RecordingServer::start_with(respond);
    let (project, home, trap) = (Folder::new(), Folder::new(), Trap::new());
    fs::create_dir(project.path().join(".kube")).expect("a folder");
    let hostile = kubeconfig(&address, Some(&trap));
    for path in [".kube/config", "config", "kubeconfig"] {
        fs::write(project.path().join(path), &hostile).expect("a file");
    }
    for name in ["diff", "kubectl-get", "kubectl-describe"] {
        fs::copy(trap.program(), project.path().join(name)).expect("a program");
    }
    let settings = home.path().join("settings");
    fs::write(&settings, kubeconfig(&address, None)).expect("a file");
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("HOME", home.path())
            .env("KUBECONFIG", &settings)
            .env("KUBECTL_EXTERNAL_DIFF", trap.program());
    };

    let mut kubectl = Command::new("kubectl");
    in_project(&mut kubectl);
    run(kubectl.args(["get", "pods", "--kubeconfig=.kube/config"]));
    assert_ne!(trap.take_marks(), "", "the trap works");
    fs::write(home.path().join("pod.json"), respond("/").1).expect("a file");
    let mut kubectl = Command::new("kubectl");
    in_project(&mut kubectl);
    run(kubectl
        .args(["diff", "-f"])
        .arg(home.path().join("pod.json")));
    assert_ne!(trap.take_marks(), "", "the other trap works");

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let manifest = respond("/").1;
    let calls = [
        ("kubectl_get", json!({"type": "pods", "name": "web"})),
        ("kubectl_diff", json!({"manifest": manifest})),
    ];
    let program = trap.program();
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "kubectl",
        path: project.path(),
        trap: &trap,
        secret: program.to_str().expect("UTF-8"),
    };
    hostile.call_read_tools(&calls);
    let words = [
        "--kubeconfig=.kube/config",
        "--filename=.kube/config",
        "--raw=/api/v1/secrets",
    ];
    hostile.call_read_tools_with_words(&words);
}

#[test]
fn a_type_or_name_is_neither_a_list_nor_another_type() {
    let (list, other) = (json!("pods,secrets"), json!("secrets/db"));
    let refused = [list, other, json!("-f"), json!("")];
    let types = [json!("pods"), json!("deployments.v1.apps"), json!("Pod")];
    let names = [json!("web-0"), json!("system:node"), json!("a.example.org")];
    for tool in ["kubectl_get", "kubectl_describe"] {
        check_values(tool, "type", &[json!(["pods", "services"])], &refused);
    }
    for tool in ["kubectl_patch", "kubectl_label", "kubectl_delete"] {
        check_values(tool, "type", &types, &refused);
        // kubectl label takes web- for the label web, to be removed.
        check_values(tool, "name", &names, &[json!("secrets/db"), json!("web-")]);
    }
    for tool in ["kubectl_get", "kubectl_describe"] {
        check_values(tool, "type", &types, &refused);
        check_values(tool, "name", &names, &[json!("secrets/db"), json!("a,b")]);
    }
    // Without a name, kubectl restarts all deployments.
    let workloads = [json!("deployment"), json!("deployment/a,b"), json!("a/b/c")];
    for tool in [
        "kubectl_rollout_restart",
        "kubectl_rollout_undo",
        "kubectl_scale",
        "kubectl_set_image",
    ] {
        let accepted = [json!("deployment/web"), json!("deployments.apps/web")];
        check_values(tool, "workload", &accepted, &workloads);
    }
    for tool in ["kubectl_cordon", "kubectl_uncordon", "kubectl_drain"] {
        let refused = [json!("node/a"), json!("a b"), json!("-l")];
        check_values(tool, "node", &[json!("node-1.example.org")], &refused);
    }
    for tool in ["kubectl_exec", "kubectl_logs"] {
        let accepted = [json!("web-0"), json!("deployment/web")];
        check_values(tool, "pod", &accepted, &[json!("a,b"), json!("a/b/c")]);
    }
}

#[test]
fn other_arguments_of_kubectl_have_one_meaning() {
    for (tool, argument, accepted, refused) in [
        ("kubectl_get", "namespace", "shop", "shop,kube-system"),
        ("kubectl_wait", "for", "jsonpath={.a}=b", "file"),
        ("kubectl_wait", "resource", "pod/web-0", "pods,secrets"),
        ("kubectl_explain", "field", "pod.spec.containers", "pod,x"),
        (
            "kubectl_can_i",
            "resource",
            "deployments.apps/web",
            "--list",
        ),
        ("kubectl_can_i", "verb", "*", "--list"),
        ("kubectl_events", "for", "pod/web-0", "pod,secret/x"),
        ("kubectl_top_pods", "pod", "web-0", "web,x"),
        ("kubectl_top_nodes", "node", "node-1", "node/x"),
        ("kubectl_set_image", "image", "*=nginx:1.27", "web=a,db=b"),
        ("kubectl_apply_file", "path", "k8s/*.yaml", "a.yaml,b.yaml"),
        ("kubectl_apply_file", "path", "https://example.org/a", "-"),
    ] {
        check_values(tool, argument, &[json!(accepted)], &[json!(refused)]);
    }
}
