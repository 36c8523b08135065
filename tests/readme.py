#!/usr/bin/env python3
"""Does what the README says, and compares what comes of it with what the README shows.

usage: tests/readme.py    (in the workspace; builds with cargo into the usual target folder)
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()

CLIENTS = ["@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.166.0"]

failures = []
checks = 0


def check(name, actual, expected):
    global checks
    checks += 1
    if actual == expected:
        print(f"ok - {name}")
    else:
        failures.append(name)
        print(f"FAILED - {name}\n--- the README says\n{expected}\n--- it is\n{actual}")


def blocks(language):
    """The code blocks of a language, each with the text before it."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.M | re.S)
    return [(README[: match.start()], match.group(1)) for match in pattern.finditer(README)]


def block_after(language, words):
    """The first code block of a language after some words."""
    for before, block in blocks(language):
        if words in before:
            return block
    sys.exit(f"the README has no {language} block after {words!r}")


def run(*words, cwd=ROOT, **environment):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), **environment}
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)


def cargo(*words, cwd=ROOT, **environment):
    done = run("cargo", *words, "--quiet", cwd=cwd, **environment)
    if done.returncode:
        sys.exit(f"cargo {' '.join(words)} failed:\n{done.stderr}")


def call(tool, arguments, cwd, server=None):
    """The text with which a server answers one call."""
    handshake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "readme", "version": "1"},
    }
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    server = server or [TARGET / "debug/climax"]
    done = subprocess.run(server, cwd=cwd, input=lines, capture_output=True, text=True, timeout=60)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return next(answer for answer in answers if answer["id"] == 2)["result"]["content"][0]["text"]


def connect(work, server):
    """Has the clients that npm offers take the server, with the commands that the README gives."""
    config = json.loads(block_after("json", "## Connect it"))["mcpServers"]["climax"]
    words = [config["command"].replace("/path/to/climax", server), *config["args"]]
    summary = json.loads(call("climax_search", {}, work, words))
    check("the JSON for clients starts the CLIs it names", [cli["name"] for cli in summary["summary"]], config["args"])

    if not shutil.which("npm") or run("npm", "install", "--silent", "--prefix", str(work), *CLIENTS).returncode:
        print(f"skipped - the commands of clients: npm cannot install {' '.join(CLIENTS)}")
        return
    home = work / "home"
    home.mkdir()
    # Nothing of the user's own: no configuration, no keys.
    environment = {"HOME": str(home), "PATH": f"{work}/node_modules/.bin:{os.environ['PATH']}"}

    def client(command):
        return subprocess.run(["bash", "-c", command], cwd=home, env=environment, capture_output=True, text=True, timeout=120)

    commands = re.findall(r"`((?:claude|codex) mcp add [^`]*)`", README)
    check("two clients are added by a command", len(commands), 2)
    for command in commands:
        check(command, client(command.replace("/path/to/climax", server)).returncode, 0)
    check("Claude Code starts the server and speaks to it", "Connected" in client("claude mcp list").stdout, True)
    check("Codex has the server", server in client("codex mcp list").stdout, True)


def policies():
    """The policies that the README shows: as they are in the repository, right, and obeyed."""
    paths = re.findall(r"\(`(policies/[\w.-]+)`\):", README)
    shipped = sorted(f"policies/{path.name}" for path in (ROOT / "policies").iterdir())
    check("all policies are shown", sorted(paths), shipped)
    codegen = str(TARGET / "debug/climax-codegen")
    for path in paths:
        check(f"{path} is as shown", block_after("yaml", f"(`{path}`):"), (ROOT / path).read_text())
        done = run(codegen, "check", "--json", "--policy", path, "configs")
        about = [message for message in json.loads(done.stdout) if message["file"] == path]
        check(f"{path} is right", (done.returncode, about), (0, []))
    cargo("build", "--package", "climax", CLIMAX_CONFIGS="")
    server = [str(TARGET / "debug/climax"), "--policy", paths[0]]
    arguments = {"tool_name": "git_log", "args": {"max_count": 500}}
    refusal = block_after("text", "is refused before anything runs").strip("\n")
    check("what is not allowed is refused as shown", call("climax_call", arguments, ROOT, server), refusal)
    command = block_after("sh", "## Policies").splitlines()[0]
    check("a policy is baked as shown", run("bash", "-c", command).returncode, 0)
    done = run(str(TARGET / "release/climax"), "--version")
    check("and the rest is not there", "1 CLI, 6 tools)" in done.stdout, True)


def main():
    cargo("build", "--package", "climax-codegen")
    codegen = str(TARGET / "debug/climax-codegen")

    shown = block_after("text", "cargo run --release -- list")
    listed = run("bash", "-c", block_after("sh", "## Start"), CLIMAX_CONFIGS="").stdout
    check("the list of the shipped tools begins as shown", listed[: len(shown)], shown)

    command = block_after("sh", "The same search is there for you")
    found = run("bash", "-c", command.replace("climax", str(TARGET / "release/climax"), 1)).stdout
    check("a search on the command line finds what is shown", found, block_after("text", "The same search is there for you"))

    with tempfile.TemporaryDirectory() as work:
        connect(pathlib.Path(work), str(TARGET / "release/climax"))

    count = listed.splitlines()[-1].split()[0]
    check("and there are as many", f"with the {count} tools" in README, True)
    programs = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
    check("and all programs are named", [name for name in programs if name.lower() not in README.lower()], [])

    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        tools = work / "my-tools"
        tools.mkdir()
        config = block_after("yaml", "such as `notes.yaml`")
        (tools / "notes.yaml").write_text(config)
        (work / "notes").mkdir()
        for name in ["a.txt", "b.txt"]:
            (work / "notes" / name).touch()

        done = run(codegen, "check", "my-tools", cwd=work)
        check("the example is a right config", (done.returncode, done.stderr), (0, ""))
        commands = block_after("sh", "Check it, and bake it").replace("my-tools", str(tools))
        done = run("bash", "-ec", commands)
        check("it is checked and baked as shown", done.returncode, 0)
        done = run(str(TARGET / "release/climax"), "--version")
        check("the release has it", "1 CLI, 1 tool)" in done.stdout, True)
        (tools / "notes.yaml").write_text(config.replace("required: true", "requred: true"))
        done = run(codegen, "check", "my-tools", cwd=work)
        check("a mistake is shown as shown", done.stderr.strip("\n"), block_after("text", "When a config is wrong").strip("\n"))
        (tools / "notes.yaml").write_text(config)

        (work / "all.yaml").write_text(block_after("yaml", "All of them in one config"))
        done = run(codegen, "check", "all.yaml", cwd=work)
        check("the config with all fields is right", (done.returncode, done.stderr), (0, ""))
        chapter = README[README.index("### The fields") : README.index("All of them in one config")]
        fields = set(re.findall(r"^\| `(\w+)` \|", chapter, re.M))
        used = set(re.findall(r"(\w+):", (work / "all.yaml").read_text()))
        check("and it has all fields", sorted(fields - used), [])

        cargo("build", "--package", "climax", CLIMAX_CONFIGS=str(tools))
        transcripts = [
            ("climax_search", '{"query": "notes"}', "json"),
            ("climax_call", '"newest_first": "false"', "text"),
            ("climax_call", '"newest_first": "maybe"', "text"),
        ]
        for tool, words, language in transcripts:
            arguments = next(block for _, block in blocks("json") if words in block)
            expected = block_after(language, arguments)
            check(f"{tool} {arguments.strip()} answers as shown", call(tool, json.loads(arguments), work), expected.strip("\n"))
        check("the summary is as shown", call("climax_search", {}, work), block_after("json", "summary of the CLIs:").strip("\n"))

        own = work / "own"
        (own / "src").mkdir(parents=True)
        (own / "tools").mkdir()
        (own / "tools/notes.yaml").write_text(config)
        (own / "build.rs").write_text(block_after("rust", "A server of your own crate"))
        (own / "src/main.rs").write_text(next(block for _, block in blocks("rust") if "catalog!" in block))
        (own / "Cargo.toml").write_text(
            '[package]\nname = "own"\nversion = "1.0.0"\nedition = "2024"\n[workspace]\n'
            + block_after("toml", "A server of your own crate").replace("../climax", str(ROOT))
        )
        (own / "Cargo.lock").write_text((ROOT / "Cargo.lock").read_text())
        cargo("build", cwd=own)
        done = run(str(TARGET / "debug/own"), "--version")
        check("a crate of one's own has its tools", "1 CLI, 1 tool)" in done.stdout, True)

    policies()
    for command in re.findall(r"`(cargo run -p climax-codegen -- explain \w+)`", README):
        check(command, run("bash", "-c", command).returncode, 0)
    check("classic, log level and names are options", run(str(TARGET / "debug/climax"), "--classic", "--log-level", "info", "no-such").returncode, 2)
    cargo("build", "--package", "climax", CLIMAX_CONFIGS="")
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
