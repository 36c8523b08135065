#!/usr/bin/env python3
"""Reports the size of climax_search responses to 50 typical queries of an agent.

usage: benches/response_size.py [SERVER [OPTION]...]    (default: target/release/climax, with the shipped configs)

A token is counted as four bytes.
"""

import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUERIES = """
free disk space
undo the last commit
show recent commits
list running containers
why does my pod crash
install a package
find large files
search text in files
download a file from a url
restart a service
create a pull request
list open issues
compare two files
read the end of a log file
run the unit tests
format the code
which process uses this port
delete a branch
push my changes
extract a field from json
check for outdated dependencies
build a docker image
remove unused images
copy a file
who changed this line
stash my work
merge a branch
scale a deployment
show system logs
count lines in a file
replace text in a file
list environment variables
update all packages
see what is staged
clone a repository
tag a release
view ci run logs
post json to an api
list installed packages
show memory usage
rename a file
make a directory
change file permissions
follow container logs
execute a command in a pod
describe a kubernetes node
add a dependency
sort lines and remove duplicates
throw away local changes
git
""".strip().splitlines()


def requests():
    handshake = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    yield {"jsonrpc": "2.0", "id": "handshake", "method": "initialize", "params": handshake}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for number, query in enumerate(QUERIES):
        params = {"name": "climax_search", "arguments": {"query": query}}
        yield {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def main():
    server = sys.argv[1:] or [str(ROOT / "target/release/climax")]
    lines = "".join(json.dumps(request) + "\n" for request in requests())
    completed = subprocess.run(server, input=lines, capture_output=True, text=True, check=True)
    responses = {response["id"]: response for response in map(json.loads, completed.stdout.splitlines())}
    sizes, counts = [], []
    for number, query in enumerate(QUERIES):
        text = responses[number]["result"]["content"][0]["text"]
        found = json.loads(text)
        tools = [tool["tool_name"] for tool in found["results"] + found.get("related", [])]
        sizes.append(len(text.encode()))
        counts.append(len(tools))
        print(f"{sizes[-1]:6} bytes {len(tools):3} tools  {query}: {', '.join(tools[:3])}")
    mean = statistics.mean(sizes)
    print(f"mean {mean:.0f} bytes, {mean / 4:.0f} tokens, {statistics.mean(counts):.1f} tools; largest {max(sizes)} bytes")


if __name__ == "__main__":
    main()
