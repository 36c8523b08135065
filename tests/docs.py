#!/usr/bin/env python3
"""Runs the examples in the README and in docs/, compares their output with the pages, and checks links.

usage: tests/docs.py    (builds with cargo into the usual target folder)
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
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/*.md"), *ROOT.glob("configs/*.md")])
}
README = PAGES["README.md"]
MAX_README_LINES = 220
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
        print(f"FAILED - {name}\n--- expected\n{expected}\n--- actual\n{actual}")


def blocks(page, language):
    """The code blocks of a language on a page, each with the text before it."""
    text = PAGES[page]
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.M | re.S)
    return [(text[: match.start()], match.group(1)) for match in pattern.finditer(text)]


def block_after(page, language, words):
    """The first code block of a language after some words on a page."""
    for before, block in blocks(page, language):
        if words in before:
            return block
    sys.exit(f"{page} has no {language} block after {words!r}")


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links():
    """Every relative link on a page leads to a file, and to a heading if it names one."""
    broken = []
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith("https://"):
                continue
            file, _, anchor = target.partition("#")
            path = (ROOT / page).parent / file if file else ROOT / page
            if not path.exists() or (anchor and anchor not in anchors(path.read_text())):
                broken.append(f"{page}: {target}")
    check("all links resolve", broken, [])
    linked = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", README)}
    pages = {page for page in PAGES if page.startswith("docs/") and page != "docs/adding-a-field.md"}
    check("the README links to every page of docs/", sorted(pages - linked), [])
    check(f"the README has at most {MAX_README_LINES} lines", len(README.splitlines()) <= MAX_README_LINES, True)


def run(*words, cwd=ROOT, **environment):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), **environment}
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)


def cargo(*words, cwd=ROOT, **environment):
    done = run("cargo", *words, "--quiet", cwd=cwd, **environment)
    if done.returncode:
        sys.exit(f"cargo {' '.join(words)} failed:\n{done.stderr}")


def call(tool, arguments, cwd, server=None):
    """The text of a server's response to one call."""
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
    """Adds the server to real clients, with the commands in the README."""
    config = json.loads(block_after("README.md", "json", "## Connect a client"))["mcpServers"]["climax"]
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


def command_line(work, page):
    """The call that the page describes runs the command line that it shows."""
    config = (work / "all.yaml").read_text()
    (work / "all.yaml").write_text(config.replace("~/bin/report", "echo ~/bin/report"))
    cargo("build", "--package", "climax", CLIMAX_CONFIGS=str(work / "all.yaml"))
    arguments = json.loads(re.search(r"`report_make`\s+with `(\{.*?\})`", PAGES[page]).group(1))
    printed = call("climax_call", {"tool_name": "report_make", "args": arguments}, work)
    shown = block_after(page, "text", "a call of `report_make`").strip("\n")
    check("the command line is as shown", printed.replace(os.path.expanduser("~"), "~"), shown)


def policies():
    """The policies on the page are those in the repository, valid, and enforced."""
    page = "docs/policies.md"
    paths = re.findall(r"\(`(policies/[\w.-]+)`\):", PAGES[page])
    shipped = sorted(f"policies/{path.name}" for path in (ROOT / "policies").iterdir())
    check("all policies are shown", sorted(paths), shipped)
    shown = block_after("README.md", "yaml", "`policies/git-read-only.yaml`:")
    check("the README's policy is as shown", shown, (ROOT / "policies/git-read-only.yaml").read_text())
    codegen = str(TARGET / "debug/climax-codegen")
    for path in paths:
        check(f"{path} is as shown", block_after(page, "yaml", f"(`{path}`):"), (ROOT / path).read_text())
        done = run(codegen, "check", "--json", "--policy", path, "configs")
        about = [message for message in json.loads(done.stdout) if message["file"] == path]
        check(f"{path} is right", (done.returncode, about), (0, []))
    cargo("build", "--package", "climax", CLIMAX_CONFIGS="")
    server = [str(TARGET / "debug/climax"), "--policy", paths[0]]
    arguments = {"tool_name": "git_log", "args": {"max_count": 500}}
    refusal = block_after(page, "text", "is refused before anything runs").strip("\n")
    check("what is not allowed is refused as shown", call("climax_call", arguments, ROOT, server), refusal)
    command = block_after("README.md", "sh", "## Restrict what is allowed").splitlines()[0]
    check("a policy is baked as shown", run("bash", "-c", command).returncode, 0)
    done = run(str(TARGET / "release/climax"), "--version")
    check("and the rest is not there", "1 CLI, 6 tools," in done.stdout, True)


def command_of(page):
    """The first shell command on a page."""
    return blocks(page, "sh")[0][1]


def main():
    links()
    cargo("build", "--package", "climax-codegen")
    codegen = str(TARGET / "debug/climax-codegen")

    command = block_after("README.md", "sh", "## Quick start")
    shown = block_after("README.md", "text", "## Quick start")
    check("the first command prints what is shown", run("bash", "-c", command, CLIMAX_CONFIGS="").stdout, shown)
    command = block_after("README.md", "sh", "Agents find tools").replace("target", str(TARGET), 1)
    shown = block_after("README.md", "text", "Agents find tools")
    check("the first search prints what is shown", run("bash", "-c", command).stdout, shown)
    listed = run(str(TARGET / "release/climax"), "list").stdout

    page = "docs/command-line.md"
    command = block_after(page, "sh", "discovery suite").replace("climax", str(TARGET / "release/climax"), 1)
    check("climax search prints what is shown", run("bash", "-c", command).stdout, block_after(page, "text", command_of(page)))
    synopsis = block_after(page, "text", "# Command line")
    helps = "".join(run(str(TARGET / "release/climax"), *words, "--help").stdout for words in [["run"], ["list"], ["search"], ["show"], ["call"]])
    options = set(re.findall(r"--[a-z-]+", helps)) - {"--help", "--version"}
    shown = set(re.findall(r"--[a-z-]+", synopsis)) - {"--version"}
    check("the synopsis has exactly the options of --help", sorted(options ^ shown), [])

    with tempfile.TemporaryDirectory() as work:
        connect(pathlib.Path(work), str(TARGET / "release/climax"))

    count = listed.splitlines()[-1].split()[0]
    check("there are as many tools as the README says", f"the {count} tools" in README, True)
    programs = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
    overview = (ROOT / "configs/README.md").read_text()
    check("the overview has all configs", [name for name in programs if f"`{name}.yaml`" not in overview], [])

    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        tools = work / "my-tools"
        tools.mkdir()
        config = block_after("README.md", "yaml", "such as `notes.yaml`")
        (tools / "notes.yaml").write_text(config)
        (work / "notes").mkdir()
        for name in ["a.txt", "b.txt"]:
            (work / "notes" / name).touch()

        done = run(codegen, "check", "my-tools", cwd=work)
        check("the example is a valid config", (done.returncode, done.stderr), (0, ""))
        commands = block_after("README.md", "sh", "Then edit, check and try").replace("my-tools", str(tools))
        done = run("bash", "-ec", commands)
        check("it is checked and built as shown", done.returncode, 0)
        done = run(str(TARGET / "release/climax"), "--version")
        check("the release has it", "1 CLI, 1 tool," in done.stdout, True)
        (tools / "notes.yaml").write_text(config.replace("required: true", "requred: true"))
        done = run(codegen, "check", "my-tools", cwd=work)
        check("an error is reported as shown", done.stderr.strip("\n"), block_after("README.md", "text", "## Errors in a config").strip("\n"))
        (tools / "notes.yaml").write_text(config)

        page = "docs/configuration.md"
        (work / "all.yaml").write_text(block_after(page, "yaml", "## All fields in one config"))
        done = run(codegen, "check", "all.yaml", cwd=work)
        check("the config with all fields is valid", (done.returncode, done.stderr), (0, ""))
        fields = set(re.findall(r"^\| `(\w+)` \|", PAGES[page], re.M))
        used = set(re.findall(r"(\w+):", (work / "all.yaml").read_text()))
        check("the config has all fields", sorted(fields - used), [])
        command_line(work, page)

        cargo("build", "--package", "climax", CLIMAX_CONFIGS=str(tools))
        transcripts = [
            ("climax_search", '{"query": "notes"}', "json"),
            ("climax_call", '"newest_first": "false"', "text"),
            ("climax_call", '"newest_first": "maybe"', "text"),
        ]
        for tool, words, language in transcripts:
            arguments = next(block for _, block in blocks("README.md", "json") if words in block)
            expected = block_after("README.md", language, arguments)
            check(f"{tool} {arguments.strip()} returns what is shown", call(tool, json.loads(arguments), work), expected.strip("\n"))
        summary = block_after("docs/guarantees.md", "json", "a summary of the CLIs:").strip("\n")
        check("the summary is as shown", call("climax_search", {}, work), summary)

        own = work / "own"
        (own / "src").mkdir(parents=True)
        (own / "tools").mkdir()
        (own / "tools/notes.yaml").write_text(config)
        (own / "build.rs").write_text(block_after("docs/embedding.md", "rust", "build.rs"))
        (own / "src/main.rs").write_text(block_after("docs/embedding.md", "rust", "src/main.rs"))
        (own / "Cargo.toml").write_text(
            '[package]\nname = "own"\nversion = "1.0.0"\nedition = "2024"\n[workspace]\n'
            + block_after("docs/embedding.md", "toml", "Cargo.toml").replace("../climax", str(ROOT))
        )
        (own / "Cargo.lock").write_text((ROOT / "Cargo.lock").read_text())
        cargo("build", cwd=own)
        done = run(str(TARGET / "debug/own"), "--version")
        check("an embedding crate has its own tools", "1 CLI, 1 tool," in done.stdout, True)

    policies()
    for command in re.findall(r"`(cargo run -p climax-codegen -- explain \w+)`", README):
        check(command, run("bash", "-c", command).returncode, 0)
    check("classic, log level and names are options", run(str(TARGET / "debug/climax"), "--classic", "--log-level", "info", "no-such").returncode, 2)
    cargo("build", "--package", "climax", CLIMAX_CONFIGS="")
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
