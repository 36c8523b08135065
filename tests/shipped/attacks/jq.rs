//! Modules, variables and files that a jq program could read.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap};
use crate::climax;

#[test]
fn a_filter_reads_neither_variables_nor_modules_nor_other_files() {
    if !is_installed("jq") {
        return;
    }
    let secret = "top-secret";
    let (project, trap) = (Folder::new(), Trap::new());
    let module = format!("def leak: \"{secret}\";");
    fs::write(project.path().join(".jq"), &module).expect("a file");
    let module = format!("module {{\"a\": \"{secret}\"}}; {module}");
    fs::write(project.path().join("m.jq"), module).expect("a file");
    fs::write(project.path().join("m.json"), format!("[\"{secret}\"]")).expect("a file");
    let in_project = |command: &mut Command| {
        command
            .current_dir(project.path())
            .env("HOME", project.path())
            .env("LEAK", secret);
    };
    let filters = [
        "leak",
        "env.LEAK",
        "$ENV.LEAK",
        "import \"m\" as m; m::leak",
        "include \"m\"; leak",
        "import \"m\" as $m; $m",
        "\"m\" | modulemeta",
        "def f: $ENV; def g: env; f, g",
        "try error(env) catch .",
        "{$ENV}",
        "[builtins, get_search_list, $__loc__, input_filename]",
    ];
    for filter in &filters[..7] {
        let mut jq = Command::new("jq");
        in_project(&mut jq);
        let output = run(jq.args(["-n", "-L.", filter]));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(secret), "jq reads it: {filter}: {text}");
    }

    let mut command = climax();
    in_project(&mut command);
    let mut server = Server::start(&mut command);
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "jq",
        path: project.path(),
        trap: &trap,
        secret,
    };
    hostile.call_read_tools(&[]);
    let mut words = vec![
        "-L.",
        "--args",
        "--rawfile",
        "-fm.jq",
        "--from-file=m.jq",
        "-n",
    ];
    words.extend(filters);
    hostile.call_read_tools_with_words(&words);

    // Programs of all usual kinds still run.
    for (filter, result) in [
        (".a[0]", "1"),
        ("-1", "-1"),
        ("def f: 3; f # a comment", "3"),
        (". as {$a} | $a | add", "3"),
        (".a[1] = 5", r#"{"a":[1,5]}"#),
        ("[paths]", r#"[["a"],["a",0],["a",1]]"#),
        ("$ARGS.positional[0]", r#""x""#),
        (".b // empty", "(no output)"),
    ] {
        let arguments =
            json!({"filter": filter, "text": "{\"a\": [1, 2]}", "compact": true, "values": ["x"]});
        let response = server.call("jq_text", &arguments);
        assert_eq!(response.text.trim_end(), result, "{filter}");
    }
}
