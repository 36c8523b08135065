#!/usr/bin/env python3
"""Checks the flags in configs against the help of the programs.

usage: flags.py CONFIG...

For each tool whose program is installed, its subcommand and every flag in its
`command` and `args` must occur in the program's help. Needs PyYAML, which the environment of
tests/clients has. Exits with 1 if something is missing.
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

HELP_TIMEOUT_SECONDS = 60


@dataclass
class Program:
    """How to ask a program for help."""

    # The maximum number of words of a subcommand.
    depth: int = 0
    # Whether each subcommand has its own help.
    by_subcommand: bool = True
    help_words: list = field(default_factory=lambda: ["--help"])
    # Commands with further help for a subcommand. The key "" stands for all subcommands.
    more_help: dict = field(default_factory=dict)
    # Subcommands that are installed separately.
    plugins: tuple = ()
    # A function that tries a flag that is not in the help, without any effect.
    accepts: object = None


def apt_accepts(program, subcommand, flag):
    # apt parses all options before it prints its help.
    return run([program, *subcommand, flag, *(["A=b"] if flag == "-o" else []), "--help"])[0] == 0


def git_accepts(program, subcommand, flag):
    # The help omits most of the flags that the subcommands for history share.
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
        help_words=["-h"],
        more_help={"clippy": [["cargo", "check", "-h"], ["cargo", "fix", "-h"]]},
        plugins=("clippy", "fmt"),
    ),
    "curl": Program(help_words=["--help", "all"]),
    "docker": Program(depth=2, plugins=("compose",)),
    "ffmpeg": Program(help_words=["-h", "full"]),
    "ffprobe": Program(help_words=["-h", "full"]),
    "gh": Program(depth=2),
    "git": Program(
        depth=2,
        help_words=["-h"],
        more_help={
            "blame": LOG,
            "config": [["git", "config", "get", "-h"]],
            "diff": LOG,
            "diff-index": LOG,
            "diff-tree": LOG,
            "log": LOG,
            "reflog show": LOG,
            "show": LOG,
            "stash list": LOG,
            "stash show": LOG,
        },
        accepts=git_accepts,
    ),
    "kubectl": Program(depth=2, more_help={"": [["kubectl", "options"]]}),
    "npm": Program(depth=1, more_help={"": [["npm", "config", "list", "--long"]]}),
    "ps": Program(help_words=["--help", "all"]),
    "systemctl": Program(depth=1, by_subcommand=False),
}

# Flags that work, but are not in the help.
EXCEPTIONS = {
    ("ffmpeg", "-nostdin"): "the help has the option that it switches off",
    ("jq", "--indent"): "only the manual of jq 1.6 has it",
    ("git config", "--get"): "since git 2.46, the help has only the new form, `git config get`",
    ("git rev-parse", "--show-toplevel"): "the help covers only another use of the subcommand",
    ("git rev-parse", "--verify"): "the help covers only another use of the subcommand",
    ("git", "--end-of-options"): "it belongs to all subcommands, and only gitcli(7) has it",
}


@functools.cache
def scratch():
    """A git repository outside of any project, because git needs one."""
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
        timeout=HELP_TIMEOUT_SECONDS,
    )
    return done.returncode, done.stdout


def run(words):
    """The exit code and the output of a command."""
    return run_once(tuple(words))


@dataclass
class Command:
    """The fixed part of a tool's command line."""

    program: str
    subcommand: list
    # Flags before and after the subcommand.
    early: list
    late: list

    @property
    def program_help(self):
        return PROGRAMS.get(self.program, Program())

    @property
    def name(self):
        return " ".join([self.program, *self.subcommand])


def is_flag(word):
    return word.startswith("-") and word not in {"-", "--"}


def bare(flag):
    """A flag without its joined value, or without ffmpeg's kind of stream as in `-c:v`."""
    return flag.split("=" if flag.startswith("--") else ":", 1)[0]


def command_of(config, tool):
    words = config["command"].split() + str(tool.get("command", "")).split()
    if words[0] == "env":
        words = words[1:]
    own_flags = ()
    if words[:2] == ["perl", "-e"] and not words[3].startswith("-"):
        # A program text that starts another program. A flag that it mentions is its own.
        own_flags, words = words[2], words[3:]
    program, words = words[0], words[1:]
    depth = PROGRAMS.get(program, Program()).depth
    early, subcommand, late = [], [], []
    for index, word in enumerate(words):
        if word == "--":
            break
        if is_flag(word):
            (late if subcommand or not depth else early).append(bare(word))
        elif len(subcommand) < depth and not late:
            # The value of an early flag, as in `git -c name=value log`.
            if not subcommand and index and is_flag(words[index - 1]) and "=" in word:
                continue
            subcommand.append(word)
    args = tool.get("args", [])
    for arg in args:
        if arg.get("positional"):
            late += [bare(value) for value in arg.get("enum", []) if is_flag(str(value))]
    if "--" not in words:
        late += flags_of(args)
    late = [flag for flag in dict.fromkeys(late) if flag not in own_flags]
    return Command(program, subcommand, early, late)


def flags_of(args):
    flags = []
    for arg in args:
        # Words after `--` belong to another program.
        if any(arg.get(field) for field in ("positional", "cwd", "stdin", "after_separator", "joined")):
            continue
        flag = arg.get("flag") or "--" + arg["name"].replace("_", "-")
        if flag == "--":
            break
        # A boolean can have a flag for each value.
        texts = flag.values() if isinstance(flag, dict) else [flag]
        flags += [bare(text) for text in texts if is_flag(text)]
    return flags


def missing_program(command):
    """The program or plugin that is not installed, if any."""
    if not shutil.which(command.program):
        return command.program
    part = command.subcommand[0] if command.subcommand else None
    if part in command.program_help.plugins:
        code, text = run([command.program, part, *command.program_help.help_words])
        if code or not mentions(text, part):
            return f"{command.program} {part}"
    return None


def help_of(command):
    """The help for a command's subcommand."""
    program = command.program_help
    subcommand = command.subcommand if program.by_subcommand else []
    calls = [[command.program, *subcommand, *program.help_words]]
    calls += program.more_help.get("", []) + program.more_help.get(" ".join(subcommand), [])
    text = "\n".join(run(call)[1] for call in calls)
    # npm lists its settings by name. All of them are also flags.
    text = re.sub(r"^(?:; )?([a-z0-9-]+) = ", r"--\1 ", text, flags=re.MULTILINE)
    # sqlite3 writes `-[no]header`, others `--[no-]header`.
    return re.sub(r"(--?)\[(no-?)\]([\w-]+)", r"\1\3 \1\2\3", text)


def mentions(text, word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def is_excepted(command, flag):
    return (command.name, flag) in EXCEPTIONS or (command.program, flag) in EXCEPTIONS


def unknown_words(command):
    """The subcommand and flags that the program does not know."""
    text = help_of(command)
    unknown = [word for word in command.subcommand[-1:] if not mentions(text, word)]
    for flag in command.late:
        if mentions(text, flag) or is_excepted(command, flag):
            continue
        accepts = command.program_help.accepts
        if not (accepts and accepts(command.program, command.subcommand, flag)):
            unknown.append(flag)
    if command.early:
        # Flags before a subcommand are in the help of the program.
        text = run([command.program, "--help"])[1]
        unknown += [flag for flag in command.early if not mentions(text, flag)]
    return unknown


def check(path):
    """Reports on a config. Returns whether anything was checked, and whether it was right."""
    config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    tools = flags = 0
    missing, faults = [], []
    for tool in config["tools"]:
        command = command_of(config, tool)
        program = missing_program(command)
        if program:
            missing.append(program)
            continue
        tools += 1
        flags += len(command.early) + len(command.late)
        faults += [f"{tool['name']}: `{command.name}` has no {word}" for word in unknown_words(command)]
    for program in dict.fromkeys(missing):
        print(f"skipped - {path}: {program} is not installed")
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
