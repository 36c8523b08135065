"""Compares the tools of a Rust server with those of CLImax for Python, with the same configs.

usage: parity.py PYTHON_CLIMAX RUST_SERVER CONFIG...

PYTHON_CLIMAX is the `climax` program of climax-mcp; RUST_SERVER has exactly these configs baked.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import zip_longest
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TOTAL_TIMEOUT_SECONDS = 120
RESPONSE_TIMEOUT_SECONDS = 30
MAX_PRINTED_DIFFERENCES = 20

ECHO_CONFIG = "coreutils.yaml"
# Without leading white space and a leading `-`, which Rust handles differently on purpose.
ECHO_CALLS = [
    ("coreutils_hello", {}),
    ("coreutils_echo_flag", {"message": "before a flag", "no_newline": True}),
    *(("coreutils_echo", {"message": message}) for message in (
        "hello world",
        "two  spaces and a trailing one ",
        "$HOME ${HOME} ~ `id` $(id)",
        "a; b && c | d > e < f #g",
        "* ? [a-z] {x,y} !",
        "'single' \"double\" \\n \\t \\",
        "first line\n  second line\ttab",
        "Grüße, 世界 🦀",
        "",
    )),
]

POLICY = Path(__file__).with_name("policy.yaml")
POLICY_CALLS = [
    ("coreutils_echo", {"message": "hello world"}),
    ("coreutils_echo", {"message": "INVALID123"}),
    ("coreutils_echo", {"message": "hello\n"}),
    ("git_log", {"max_count": 0}),
    ("git_log", {"max_count": 101}),
]

passed = failed = 0


def check(name, differences):
    global passed, failed
    if not differences:
        passed += 1
        print(f"ok - {name}")
        return
    failed += 1
    if failed <= MAX_PRINTED_DIFFERENCES:
        print(f"FAILED - {name}:")
        print("\n".join(differences))
    elif failed == MAX_PRINTED_DIFFERENCES + 1:
        print("(further differences are not printed)")


def compare(what, python, rust):
    """Compares JSON as text, so that `1`, `1.0` and `true` differ, and the order of keys counts."""
    python, rust = (json.dumps(value, ensure_ascii=False) for value in (python, rust))
    return [] if python == rust else [f"  {what}\n    Python: {python}\n    Rust:   {rust}"]


def with_typed_enums(schema):
    """Converts enum values to the argument's type, as Rust does."""
    types = {"integer": int, "number": float}
    properties = {}
    for name, property in schema["properties"].items():
        read = types.get(property["type"])
        if read and "enum" in property:
            property = {**property, "enum": [read(value) for value in property["enum"]]}
        properties[name] = property
    return {**schema, "properties": properties}


def compare_tools(python, rust):
    differences = compare("description", python.description, rust.description)
    expected = with_typed_enums(python.inputSchema)
    if rust.annotations and rust.annotations.readOnlyHint is False:
        # Only Rust refuses unknown arguments of tools that change something.
        expected = {**expected, "additionalProperties": False}
    schemas = expected, rust.inputSchema
    for key in dict.fromkeys([*schemas[0], *schemas[1]]):
        values = [schema.get(key) for schema in schemas]
        if key != "properties":
            differences += compare(key, *values)
            continue
        differences += compare("order of arguments", *(list(properties) for properties in values))
        for name in dict.fromkeys([*values[0], *values[1]]):
            differences += compare(f"argument {name}", *(properties.get(name) for properties in values))
    return differences


def compare_names(python, rust):
    """The first difference of the names."""
    for number, names in enumerate(zip_longest(python, rust), start=1):
        if names[0] != names[1]:
            return compare(f"tool number {number}", *names)
    return []


def compare_lists(python, rust, configs):
    check("the same number of tools", compare("number of tools", len(python), len(rust)))
    names = [[tool.name for tool in tools] for tools in (python, rust)]
    if names[0] != names[1] and len({config.parent for config in configs}) > 1:
        # A build keeps the order of its folders and sorts the files of each.
        print("note: the configs are from several folders, so the tools are compared sorted by name")
        names = [sorted(some) for some in names]
    check("the same tools in the same order", compare_names(*names))
    rust_by_name = {tool.name: tool for tool in rust}
    for tool in python:
        if tool.name in rust_by_name:
            check(tool.name, compare_tools(tool, rust_by_name[tool.name]))


async def compare_calls(python, rust):
    for tool, args in ECHO_CALLS:
        responses = []
        for session in (python, rust):
            result = await session.call_tool(tool, args)
            # A second text, which names ignored arguments, is an addition to the contract.
            responses.append([bool(result.isError), result.content[0].text])
        check(f"call of {tool} {json.dumps(args, ensure_ascii=False)}", compare("isError and text", *responses))


async def compare_policies(python_program, rust_program, files):
    """Compares tools, descriptions and refusals under a policy. Only Rust marks refusals as errors."""
    policy = ("--classic", "--policy", str(POLICY))
    async with (
        session(python_program, "run", *files, *policy) as python,
        session(rust_program, *policy) as rust,
    ):
        lists = [(await session.list_tools()).tools for session in (python, rust)]
        described = [[(tool.name, tool.description) for tool in tools] for tools in lists]
        check("the same tools under a policy", compare("names and descriptions", *described))
        for tool, args in POLICY_CALLS:
            texts = [(await session.call_tool(tool, args)).content[0].text for session in (python, rust)]
            check(f"under a policy, {tool} {json.dumps(args)}", compare("text", *texts))


@asynccontextmanager
async def session(program, *arguments):
    parameters = StdioServerParameters(command=program, args=list(arguments), env=dict(os.environ))
    seconds = timedelta(seconds=RESPONSE_TIMEOUT_SECONDS)
    async with stdio_client(parameters) as streams:
        async with ClientSession(*streams, read_timeout_seconds=seconds) as session:
            await session.initialize()
            yield session


async def compare_servers(python_program, rust_program, configs):
    files = [word for config in configs for word in ("--config", str(config))]
    async with (
        session(python_program, "run", *files, "--classic") as python,
        session(rust_program, "--classic") as rust,
    ):
        tools = [(await session.list_tools()).tools for session in (python, rust)]
        compare_lists(*tools, configs)
        if any(config.name == ECHO_CONFIG for config in configs):
            await compare_calls(python, rust)
    if any(config.name == ECHO_CONFIG for config in configs):
        await compare_policies(python_program, rust_program, files)


async def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    python_program, rust_program, *configs = sys.argv[1:]
    configs = sorted((Path(config).resolve() for config in configs), key=lambda config: config.name)
    failures = []
    try:
        async with asyncio.timeout(TOTAL_TIMEOUT_SECONDS):
            await compare_servers(python_program, rust_program, configs)
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        failures = [f"  {error!r}"]
    check(f"both servers respond within {TOTAL_TIMEOUT_SECONDS} s", failures)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
