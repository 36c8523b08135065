//! A repository whose settings and hooks name programs.

use std::fs;
use std::process::Command;

use climax_tests::run;

use super::{Trap, call_read_tools};
use crate::{repository, server};

#[test]
fn reading_a_hostile_repository_executes_none_of_its_hooks_or_programs() {
    let mut server = server();
    let folder = repository(&mut server, "first");
    let repo = folder.text();

    let trap = Trap::new();
    let git = || {
        let mut git = Command::new("git");
        git.current_dir(repo).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git
    };
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.editor",
    ] {
        run(git().args(["config", key]).arg(trap.program()));
    }
    for hook in [
        "post-index-change",
        "reference-transaction",
        "post-checkout",
    ] {
        fs::copy(trap.program(), folder.path().join(".git/hooks").join(hook)).expect("a hook");
    }
    run(git().arg("status"));
    assert_ne!(trap.take_marks(), "", "the trap works");

    call_read_tools(&mut server, "git", folder.path(), &trap, &[]);
}
