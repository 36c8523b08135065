#!/usr/bin/env python3
"""Asks the programs themselves whether they know the flags that configs use.

usage: flags.py CONFIG...

For each tool whose program is installed, its subcommand and every flag in its
`command` and `args` must occur in the program's own help. Needs PyYAML; the
environment of tests/clients has it. Exits with 1 if something is missing.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import yaml

HELP_SECONDS = 60


@dataclass
class Program:
    """How to ask a program for help."""

    # How many words may name a subcommand.
    depth: int = 0
    # Whether help is asked for the subcommand, or for the program as a whole.
    by_subcommand: bool = True
    ask: list = field(default_factory=lambda: ["--help"])
    # Further help that belongs to a subcommand; "" stands for any.
    more: dict = field(default_factory=dict)
    # Subcommands that are installed by themselves.
    parts: tuple = ()
    # Whether a flag that the help leaves out is known, tried without doing anything.
    accepts: object = None


def apt_accepts(program, subcommand, flag):
    # Options are parsed before help is shown.
    return run([program, *subcommand, flag, *(["A=b"] if flag == "-o" else []), "--help"])[0] == 0


def git_accepts(program, subcommand, flag):
    # Its help leaves out most of what the subcommands that read history share.
    reads = {"diff": "diff", "log": "log", "reflog show": "log", "shortlog": "log", "stash list": "log"}
    reader = reads.get(" ".join(subcommand))
    if not reader:
        return False
    calls = ([program, reader, word] for word in (flag, f"{flag}=1"))
    return not all(re.search("unrecognized argument|invalid option", run(call)[1]) for call in calls)


APT = Program(depth=1, by_subcommand=False, accepts=apt_accepts)
LOG = [["git", "rev-list", "-h"], ["git", "diff", "--no-index", "-h"]]
PROGRAMS = {
    "apt": APT,
    "apt-cache": APT,
    "apt-get": APT,
    "cargo": Program(
        depth=1,
        ask=["-h"],
        more={"clippy": [["cargo", "check", "-h"], ["cargo", "fix", "-h"]]},
        parts=("clippy", "fmt"),
    ),
    "curl": Program(ask=["--help", "all"]),
    "docker": Program(depth=2, parts=("compose",)),
    "gh": Program(depth=2),
    "git": Program(
        depth=2,
        ask=["-h"],
        more={
            "blame": LOG,
            "diff": LOG,
            "log": LOG,
            "reflog show": LOG,
            "show": LOG,
            "stash list": LOG,
            "stash show": LOG,
        },
        accepts=git_accepts,
    ),
    "kubectl": Program(depth=2, more={"": [["kubectl", "options"]]}),
    "npm": Program(depth=1, more={"": [["npm", "config", "list", "--long"]]}),
    "systemctl": Program(depth=1, by_subcommand=False),
}

# Flags that work although the help does not have them.
EXCEPTIONS = {
    ("jq", "--indent"): "jq 1.6 has it in its manual only",
    ("git config", "--get"): "git 2.46 and later show only the new form, `git config get`",
    ("git rev-parse", "--show-toplevel"): "the help covers another use of it only",
    ("git rev-parse", "--verify"): "the help covers another use of it only",
    ("git", "--end-of-options"): "it belongs to all subcommands, and is in gitcli(7) only",
}


@functools.cache
def scratch():
    """A directory outside of any project. It is a repository, since git asks for one."""
    directory = tempfile.TemporaryDirectory()
    if shutil.which("git"):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"]
        commit = ["commit", "--quiet", "--allow-empty", "--message=A"]
        for words in (["init", "--quiet"], [*who, *commit]):
            subprocess.run(["git", *words], cwd=directory.name, check=True)
    return directory


@functools.cache
def run_once(words):
    env = os.environ | {
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "COLUMNS": "200",
    }
    done = subprocess.run(
        words,
        cwd=scratch().name,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=HELP_SECONDS,
    )
    return done.returncode, done.stdout


def run(words):
    """The exit code of a command, and all that it printed."""
    return run_once(tuple(words))


@dataclass
class Command:
    """A tool's command line, as far as the config fixes it."""

    program: str
    subcommand: list
    # Flags before the subcommand, and after it.
    early: list
    late: list

    @property
    def known(self):
        return PROGRAMS.get(self.program, Program())

    @property
    def name(self):
        return " ".join([self.program, *self.subcommand])


def is_flag(word):
    return word.startswith("-") and word not in {"-", "--"}


def bare(flag):
    """A flag without the value that is joined to it."""
    return flag.split("=", 1)[0] if flag.startswith("--") else flag


def command_of(config, tool):
    words = config["command"].split() + str(tool.get("command", "")).split()
    if words[0] == "env":
        words = words[1:]
    program, words = words[0], words[1:]
    depth = PROGRAMS.get(program, Program()).depth
    early, subcommand, late = [], [], []
    for place, word in enumerate(words):
        if word == "--":
            break
        if is_flag(word):
            (late if subcommand or not depth else early).append(bare(word))
        elif len(subcommand) < depth and not late:
            # The value of an early flag, as in `git -c name=value log`.
            if not subcommand and place and is_flag(words[place - 1]) and "=" in word:
                continue
            subcommand.append(word)
    args = tool.get("args", [])
    for arg in args:
        if arg.get("positional"):
            late += [bare(value) for value in arg.get("enum", []) if is_flag(str(value))]
    if "--" not in words:
        late += flags_of(args)
    return Command(program, subcommand, early, list(dict.fromkeys(late)))


def flags_of(args):
    flags = []
    for arg in args:
        if arg.get("positional") or arg.get("cwd") or arg.get("stdin"):
            continue
        flag = arg.get("flag") or "--" + arg["name"].replace("_", "-")
        # What follows is for someone else.
        if flag == "--":
            break
        if is_flag(flag):
            flags.append(bare(flag))
    return flags


def missing_part(command):
    """What has to be installed first, if anything."""
    if not shutil.which(command.program):
        return command.program
    part = command.subcommand[0] if command.subcommand else None
    if part in command.known.parts:
        code, text = run([command.program, part, *command.known.ask])
        if code or not mentions(text, part):
            return f"{command.program} {part}"
    return None


def help_of(command):
    """The help for a command's subcommand."""
    known = command.known
    subcommand = command.subcommand if known.by_subcommand else []
    calls = [[command.program, *subcommand, *known.ask]]
    calls += known.more.get("", []) + known.more.get(" ".join(subcommand), [])
    text = "\n".join(run(call)[1] for call in calls)
    # npm lists its settings by name; all of them are flags too.
    text = re.sub(r"^(?:; )?([a-z0-9-]+) = ", r"--\1 ", text, flags=re.MULTILINE)
    return re.sub(r"--\[no-\]([\w-]+)", r"--\1 --no-\1", text)


def mentions(text, word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def is_excepted(command, flag):
    return (command.name, flag) in EXCEPTIONS or (command.program, flag) in EXCEPTIONS


def faults_of(command):
    """What the program does not know of a command."""
    text = help_of(command)
    faults = [word for word in command.subcommand[-1:] if not mentions(text, word)]
    for flag in command.late:
        if mentions(text, flag) or is_excepted(command, flag):
            continue
        accepts = command.known.accepts
        if not (accepts and accepts(command.program, command.subcommand, flag)):
            faults.append(flag)
    if command.early:
        # Only what comes before subcommands: the help of the program as a whole.
        text = run([command.program, "--help"])[1]
        faults += [flag for flag in command.early if not mentions(text, flag)]
    return faults


def check(path):
    """Reports on a config: whether something was checked, and whether it was right."""
    config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    tools = flags = 0
    missing, faults = [], []
    for tool in config["tools"]:
        command = command_of(config, tool)
        part = missing_part(command)
        if part:
            missing.append(part)
            continue
        tools += 1
        flags += len(command.early) + len(command.late)
        faults += [f"{tool['name']}: `{command.name}` has no {fault}" for fault in faults_of(command)]
    for part in dict.fromkeys(missing):
        print(f"skipped - {path}: {part} is not installed")
    for fault in faults:
        print(f"FAILED - {path}: {fault}")
    if tools and not faults:
        print(f"ok - {path}: {tools} tools, {flags} flags")
    return bool(tools), not faults


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    results = [check(path) for path in sys.argv[1:]]
    passed = sum(checked and right for checked, right in results)
    failed = sum(not right for _, right in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
