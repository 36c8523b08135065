"""Tests a server that has configs/git.yaml baked with the official Python client of MCP.

usage: official_client.py SERVER [ARGS...]      ARGS are passed to the server at every start
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import LATEST_PROTOCOL_VERSION

TOTAL_TIMEOUT_SECONDS = 120
RESPONSE_TIMEOUT_SECONDS = 20
EXIT_TIMEOUT_SECONDS = 5
# After this time the client kills a server that does not end by itself.
CLIENT_KILL_SECONDS = 2

SEARCH = {
    "name": "climax_search",
    "description": "Search for available CLI tools by keyword, category, or CLI name. "
    "Call with no filters to get a summary of all available CLIs.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "Search keyword (matched against tool name, description, CLI name, category, tags)",
            },
            "category": {
                "type": "string",
                "description": "Filter by CLI category (exact match, case-insensitive)",
            },
            "cli": {
                "type": "string",
                "description": "Filter by CLI name (exact match, case-insensitive)",
            },
            "limit": {
                "type": "integer",
                "description": "Maximum number of results to return (default: 10)",
                "default": 10,
            },
        },
    },
}
CALL = {
    "name": "climax_call",
    "description": "Execute a CLI tool by name. "
    "Use climax_search first to discover available tools and their argument schemas.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "tool_name": {
                "type": "string",
                "description": "The exact name of the tool to execute (as returned by climax_search)",
            },
            "args": {
                "type": "object",
                "description": "Arguments to pass to the tool (see tool's input_schema from climax_search)",
            },
        },
        "required": ["tool_name"],
    },
}

passed = failed = 0


@contextmanager
def check(name):
    """Reports an exception as the failure of a check, and continues."""
    global passed, failed
    try:
        yield
    except Exception as error:
        failed += 1
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        print(f"FAILED - {name}: {type(error).__name__}: {error}", flush=True)
    else:
        passed += 1
        print(f"ok - {name}", flush=True)


def equal(actual, expected, what="response"):
    if actual != expected:
        raise AssertionError(f"{what} is {actual!r}, not {expected!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


class Server:
    """Starts servers in a directory and environment of their own."""

    def __init__(self, command, directory):
        self.command = command
        self.directory = directory
        self.env = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(directory),
            "GIT_AUTHOR_NAME": "Test",
            "GIT_AUTHOR_EMAIL": "test@example.org",
            "GIT_COMMITTER_NAME": "Test",
            "GIT_COMMITTER_EMAIL": "test@example.org",
        }

    @asynccontextmanager
    async def session(self, *more, unparsed=None):
        """A session and the result of `initialize`. Lines that are not messages go to `unparsed`."""

        async def record_error(message):
            if isinstance(message, Exception) and unparsed is not None:
                unparsed.append(message)

        program, *arguments = [*self.command, *more]
        parameters = StdioServerParameters(command=program, args=arguments, env=self.env, cwd=self.directory)
        seconds = timedelta(seconds=RESPONSE_TIMEOUT_SECONDS)
        async with stdio_client(parameters) as streams:
            async with ClientSession(*streams, read_timeout_seconds=seconds, message_handler=record_error) as session:
                yield session, await session.initialize()


async def call_registered(session, tool, args):
    """The first text of a call's result, and whether it is an error. Further texts are hints about mistakes."""
    result = await session.call_tool(tool, args)
    types = [content.type for content in result.content]
    has_mistake = result.isError or "unheard_of" in str(args)
    equal(set(types) if has_mistake else types, {"text"} if has_mistake else ["text"], "content")
    return result.content[0].text, bool(result.isError)


async def call(session, tool, args):
    return await call_registered(session, "climax_call", {"tool_name": tool, "args": args})


async def call_successfully(session, tool, args):
    text, is_error = await call(session, tool, args)
    holds(not is_error, f"{tool} failed: {text!r}")
    return text


async def search(session, **filters):
    text, is_error = await call_registered(session, "climax_search", filters)
    holds(not is_error, f"search failed: {text!r}")
    return json.loads(text)


async def expect_unknown_tool(session, name):
    try:
        result = await session.call_tool(name, {})
    except McpError as error:
        equal((error.error.code, error.error.message), (-32602, f"Unknown tool: {name}"), "error")
    else:
        raise AssertionError(f"a result came back: {result!r}")


def check_initialize(greeting):
    with check("initialize names the server and its version"):
        holds(greeting.serverInfo.name, "no name")
        holds(greeting.serverInfo.version, "no version")
    with check("the instructions mention climax_search and climax_call"):
        for name in ("climax_search", "climax_call"):
            holds(name in (greeting.instructions or ""), f"{name} is not in {greeting.instructions!r}")
    with check("the capabilities are tools and nothing else"):
        equal(set(greeting.capabilities.model_dump(exclude_none=True)), {"tools"}, "capabilities")


async def check_registration(session):
    listed = []
    with check("tools/list is climax_search and climax_call"):
        answer = await session.list_tools()
        equal(answer.nextCursor, None, "nextCursor")
        listed = answer.tools
        equal([tool.name for tool in listed], ["climax_search", "climax_call"], "list")
    for expected, is_read_only in ((SEARCH, True), (CALL, False)):
        name = expected["name"]
        tool = next((tool for tool in listed if tool.name == name), None)
        with check(f"{name} is registered as the contract says"):
            holds(tool, "not listed")
            whole = tool.model_dump(by_alias=True, exclude_none=True)
            equal({key: whole.get(key) for key in expected}, expected, "registration")
        with check(f"{name} has a title, annotations and anthropic/alwaysLoad"):
            holds(tool, "not listed")
            holds(tool.title, "no title")
            holds(tool.annotations, "no annotations")
            equal(tool.annotations.readOnlyHint, is_read_only, "readOnlyHint")
            equal((tool.meta or {}).get("anthropic/alwaysLoad"), True, "anthropic/alwaysLoad")


def check_keys(found, mode, entries, entry_keys):
    """Checks the keys. `total_matches` is only there when there are more matches than results."""
    expected = {"mode", entries}
    if found.get("total_matches", 0) > len(found[entries]):
        expected.add("total_matches")
    equal(set(found), expected, "keys")
    equal(found["mode"], mode, "mode")
    holds(found[entries], "it is empty")
    for entry in found[entries]:
        # Tools that change something have their risk, too.
        equal(set(entry) - {"risk"}, entry_keys, "keys of an entry")


async def check_search(session):
    with check("a summary has the contract's keys, and counts the tools of git"):
        found = await search(session)
        check_keys(found, "summary", "summary", {"name", "description", "tool_count", "category", "tags"})
        counts = {entry["name"]: entry["tool_count"] for entry in found["summary"]}
        of_git = await search(session, cli="git", limit=1000)
        equal(counts.get("git"), len(of_git["results"]), "tool_count of git")
    with check("search results have the contract's keys"):
        entry_keys = {"tool_name", "description", "cli_name", "category", "tags", "input_schema"}
        check_keys(await search(session, query="log"), "search", "results", entry_keys)
        check_keys(await search(session, cli="GIT", category="VCS", limit=3), "search", "results", entry_keys)
    with check("a search without matches is an empty list"):
        equal(await search(session, query="nosuchword"), {"mode": "search", "results": []})


async def check_flow(session, repository):
    """Works like an agent: searches a tool, then calls it."""
    with check("a search for 'commit' finds git_commit and its schema"):
        found = await search(session, query="commit")
        schemas = {entry["tool_name"]: entry["input_schema"] for entry in found["results"]}
        holds("git_commit" in schemas, f"found {list(schemas)}")
        equal(schemas["git_commit"].get("required"), ["message"], "required")
    with check("git_init, git_add, git_commit and git_log work in turn"):
        arguments = {"directory": str(repository.parent), "path": repository.name, "initial_branch": "main"}
        holds("Initialized" in await call_successfully(session, "git_init", arguments), "nothing initialized")
        (repository / "a file.txt").write_text("hello\n")
        repo = {"directory": str(repository)}
        equal(await call_successfully(session, "git_add", {**repo, "path": "a file.txt"}), "(no output)")
        message = "Say \"hello\"; $HOME & co\n\nWith a body."
        await call_successfully(session, "git_commit", {**repo, "message": message})
        log = await call_successfully(session, "git_log", {**repo, "format": "reference"})
        holds("(Say \"hello\"; $HOME & co, " in log, f"log is {log!r}")
        equal(await call_successfully(session, "git_status", repo), "## main")


async def check_errors(session, directory):
    invalid = "Argument validation failed:\n  - "
    formats = "oneline, short, medium, full, fuller, reference, raw"
    for name, tool, args, text in (
        ("a missing argument", "git_commit", {}, f"{invalid}Missing required argument 'message'"),
        ("a wrong type", "git_log", {"max_count": "many"},
         f"{invalid}Argument 'max_count': cannot convert 'many' to integer"),
        ("a value outside an enum", "git_log", {"format": "json"},
         f"{invalid}Argument 'format' must be one of: {formats}"),
        ("an unknown tool_name", "nonexistent_tool", {}, "Unknown tool: nonexistent_tool"),
    ):
        with check(f"{name} gives the error of the contract"):
            equal(await call(session, tool, args), (text, True))
    with check("a failing command returns its stderr and exit code"):
        text, is_error = await call(session, "git_log", {"directory": str(directory)})
        holds(is_error, "isError is not set")
        holds(text.startswith("[stderr]\nfatal: not a git repository"), f"response is {text!r}")
        holds(text.endswith("\n\n[exit code: 128]"), f"response is {text!r}")
    with check("a tool that is not registered is the protocol error -32602"):
        await expect_unknown_tool(session, "git_status")


async def check_concurrency(session, directory):
    with check("ten concurrent calls each return their own result"):
        names = [f"repository-{number}" for number in range(10)]
        texts = await asyncio.gather(*(
            call_successfully(session, "git_init", {"directory": str(directory), "path": name, "initial_branch": "main"})
            for name in names
        ))
        for name, text in zip(names, texts, strict=True):
            holds(f"/{name}/.git" in text, f"the response for {name} is {text!r}")


async def check_classic(server, session, repository):
    async with server.session("--classic") as (classic, _):
        with check("--classic lists what `list --json` lists, in its order, and no meta-tools"):
            program, *arguments = server.command
            listing = subprocess.run(
                [program, "list", "--json", *arguments], capture_output=True, check=True, timeout=RESPONSE_TIMEOUT_SECONDS
            )
            expected = [tool["tool_name"] for tool in json.loads(listing.stdout)["tools"]]
            names = [tool.name for tool in (await classic.list_tools()).tools]
            equal(names, expected, "list")
            equal({"climax_search", "climax_call"} & set(names), set(), "meta-tools")
        with check("--classic has no climax_call"):
            await expect_unknown_tool(classic, "climax_call")
        with check("--classic gives the same result as climax_call"):
            repo = {"directory": str(repository)}
            for tool, args in (
                ("git_log", repo),
                ("git_log", {**repo, "max_count": "1", "format": "fuller", "unheard_of": True}),
                ("git_log", {**repo, "max_count": "many"}),
                ("git_log", {**repo, "revision": "nosuchbranch"}),
                ("git_commit", repo),
                ("git_status", {"directory": str(repository / "missing")}),
            ):
                equal(await call_registered(classic, tool, args), await call(session, tool, args), f"{tool} {args}")


async def check_explore(server, repository):
    """Uses the discovery tools like an agent: search, details, call."""
    async with server.session("--explore") as (session, greeting):

        async def ask(tool, **args):
            text, is_error = await call_registered(session, tool, args)
            return json.loads(text), is_error

        with check("--explore lists the discovery tools after the meta-tools and names them in its instructions"):
            names = [tool.name for tool in (await session.list_tools()).tools]
            suite = ["search_mcp_tools", "get_tool_details", "list_tool_categories", "search_tools_by_capability"]
            equal(names, ["climax_search", "climax_call", *suite], "list")
            holds(all(name in greeting.instructions for name in suite), greeting.instructions)
        with check("a query in plain words finds git_log first, with reasons and an example"):
            found, is_error = await ask("search_mcp_tools", query="show the history of commits", max_results=5)
            equal((is_error, found["success"], found["total_results"]), (False, True, 5), "search")
            best = found["results"][0]
            equal(best["tool_id"], "git_log", "best")
            holds(best["match_reasons"] and best["examples"], best)
        with check("its details have an example call, and the call works"):
            details, is_error = await ask("get_tool_details", tool_id=best["tool_id"])
            equal((is_error, details["tool_id"]), (False, "git_log"), "details")
            holds(details["relationships"] is not None and details["usage_guidance"]["common_pitfalls"], details)
            example = details["usage_examples"][0]
            equal(example["tool"], "climax_call", "tool of the example")
            args = {**example["arguments"]["args"], "directory": str(repository)}
            result = await session.call_tool(example["tool"], {**example["arguments"], "args": args})
            # The example of the config asks for commits that this repository does not have.
            holds(not result.isError, result.content[0].text)
        with check("categories and capabilities lead to tools"):
            categories, _ = await ask("list_tool_categories")
            vcs = next(category for category in categories["categories"] if category["name"] == "vcs")
            equal((vcs["clis"], len(vcs["representative_tools"])), (["git"], 3), "vcs")
            capable, _ = await ask(
                "search_tools_by_capability",
                capability_description="record staged changes",
                required_parameters=["Message"],
            )
            equal(capable["results"][0]["tool_id"], "git_commit", "most capable")
            holds("has parameter 'message' for 'Message'" in capable["results"][0]["explanation"]["matched"], capable)
        with check("all errors of a request are reported together"):
            wrong, is_error = await ask("search_mcp_tools", query="", search_mode="magic", max_results=0)
            equal((is_error, wrong["success"], wrong["error"]["tool"]), (True, False, "search_mcp_tools"), "error")
            for part in ("Query cannot be empty", "Invalid search_mode 'magic'", "max_results must be between 1 and 50"):
                holds(part in wrong["error"]["message"], wrong)


async def check_exit_code(server):
    """Sends messages by hand, because the client hides the exit code."""
    with check(f"the server ends with code 0 within {EXIT_TIMEOUT_SECONDS} s at the end of its input"):
        process = await asyncio.create_subprocess_exec(
            *server.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=server.directory
        )
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": LATEST_PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
        messages = (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        )
        text = "".join(json.dumps(message) + "\n" for message in messages)
        try:
            async with asyncio.timeout(EXIT_TIMEOUT_SECONDS):
                output, _ = await process.communicate(text.encode())
        except TimeoutError:
            process.kill()
            raise AssertionError("it does not end") from None
        equal(process.returncode, 0, "exit code")
        holds(output.endswith(b"\n"), f"output ends with {output[-100:]!r}")
        equal([json.loads(line).get("id") for line in output.splitlines()], [1, 2], "ids of the responses")


async def check_all(server, directory):
    repository = directory / "project"
    unparsed = []
    async with server.session(unparsed=unparsed) as (session, greeting):
        check_initialize(greeting)
        await check_registration(session)
        await check_search(session)
        await check_flow(session, repository)
        await check_errors(session, directory)
        await check_concurrency(session, directory)
        with check("a session in classic mode starts and ends"):
            await check_classic(server, session, repository)
        with check("a session in explore mode starts and ends"):
            await check_explore(server, repository)
        closed = time.monotonic()
    seconds = time.monotonic() - closed
    with check("closing the session ends the process"):
        holds(seconds < CLIENT_KILL_SECONDS, f"the client had to kill it after {seconds:.1f} s")
    with check("stdout has only messages that the client can parse"):
        equal(unparsed, [], "unparsed lines")
    await check_exit_code(server)


async def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, *arguments = sys.argv[1:]
    # The server runs in another directory, so a relative path would not be found.
    program = str(Path(program).resolve()) if os.sep in program else program
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory).resolve()
        with check(f"all checks run within {TOTAL_TIMEOUT_SECONDS} s"):
            async with asyncio.timeout(TOTAL_TIMEOUT_SECONDS):
                await check_all(Server([program, *arguments], directory), directory)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
