#!/usr/bin/env python3
"""Measures how often a search finds the right tool, with queries whose results are known.

  benches/retrieval.py DATA [--modes keyword,hybrid,semantic] [--suites a,b] [--keep DIR]

DATA is a folder with `dev/SUITE/queries.jsonl` (one {"query", "relevant": [names], "source"} a line) and
`configs/SUITE/` or `configs/SUITE.tar.gz` (the tools as configs). Each suite is baked into a server of its
own, which gets every query through `search_mcp_tools`, as from an agent.

For each mode it prints nDCG@10 by source of the queries and their mean, hit@1 and recall@5 by suite, how
often results of each confidence level are right, and the time and memory of a query. It needs only the
standard library.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_RESULTS = 10


def build(configs: Path, program: Path) -> None:
    """Builds a server, and prints its build time and size."""
    environment = {**os.environ, "CLIMAX_CONFIGS": str(configs)}
    environment.pop("CLIMAX_POLICY", None)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    start = time.monotonic()
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--bin", "climax"],
        cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL,
    )
    seconds = time.monotonic() - start
    shutil.copy(target / "release" / "climax", program)
    size = program.stat().st_size / 1e6
    print(f"{program.name}: built in {seconds:.1f} s, {size:.1f} MB", flush=True)


class Server:
    """A server that gets one request after the other."""

    def __init__(self, program: Path, log: Path):
        self.log = log
        with log.open("w") as stderr:
            self.process = subprocess.Popen(
                [program, "--explore", "--log-level", "info"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
            )
        self.number = 0
        client = {"name": "retrieval", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict) -> dict:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            response = json.loads(self.process.stdout.readline())
            if response.get("id") == self.number:
                return response["result"]

    def search(self, query: str, mode: str, **more) -> dict:
        arguments = {"query": query, "search_mode": mode, "max_results": MAX_RESULTS, **more}
        result = self.request("tools/call", {"name": "search_mcp_tools", "arguments": arguments})
        return json.loads(result["content"][0]["text"])

    def status(self, field: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+)", status, re.M)[1])

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


def quality(found: list, relevant: set) -> dict:
    """The quality of the results of a query, with gains of 0 or 1."""
    gains = [name in relevant for name in found[:MAX_RESULTS]]
    gain = sum(1 / math.log2(rank + 2) for rank, is_right in enumerate(gains) if is_right)
    best = sum(1 / math.log2(rank + 2) for rank in range(min(MAX_RESULTS, len(relevant))))
    return {
        "ndcg": gain / best if best else 0.0,
        "hit": float(bool(gains and gains[0])),
        "recall": sum(gains[:5]) / min(5, len(relevant)) if relevant else 0.0,
    }


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def read_queries(path: Path) -> list:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def measure(program: Path, queries: list, mode: str, log: Path) -> tuple:
    server = Server(program, log)
    rows, results = [], []
    for query in queries:
        response = server.search(query["query"], mode)
        relevant = set(query["relevant"])
        found = [result["tool_id"] for result in response.get("results", [])]
        rows.append({"source": query["source"], **quality(found, relevant)})
        for result in response.get("results", []):
            results.append((result["confidence_level"], result["tool_id"] in relevant))
    memory = server.status("VmHWM"), server.status("RssAnon")
    server.close()
    return rows, results, memory


def cost(program: Path, queries: list, mode: str, log: Path) -> float:
    """Mean microseconds of a query. One result without examples, so that ranking dominates."""
    server = Server(program, log)
    for query in queries:
        server.search(query["query"], mode, max_results=1, include_examples=False)
    server.close()
    times = re.findall(r"answered .* microseconds=(\d+)", log.read_text())
    return mean(map(int, times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--modes", default="keyword,hybrid,semantic")
    parser.add_argument("--suites", help="names, separated by commas (default: all)")
    parser.add_argument("--keep", type=Path, help="folder for the servers; existing ones are not rebuilt")
    options = parser.parse_args()
    suites = sorted(path.name for path in (options.data / "dev").iterdir() if path.is_dir())
    if options.suites:
        suites = [suite for suite in suites if suite in options.suites.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        keep = options.keep or scratch
        keep.mkdir(parents=True, exist_ok=True)
        queries = {suite: read_queries(options.data / "dev" / suite / "queries.jsonl") for suite in suites}
        for suite in suites:
            if (keep / suite).exists():
                continue
            configs = options.data / "configs" / suite
            if not configs.is_dir():
                with tarfile.open(options.data / "configs" / f"{suite}.tar.gz") as archive:
                    archive.extractall(scratch / f"{suite}-configs", filter="data")
                (configs,) = (scratch / f"{suite}-configs").iterdir()
            build(configs.resolve(), keep / suite)
        for mode in options.modes.split(","):
            report(suites, queries, keep, mode, scratch / "log")


def report(suites: list, queries: dict, programs: Path, mode: str, log: Path) -> None:
    by_source = defaultdict(list)
    levels = defaultdict(list)
    print(f"\n{mode}")
    for suite in suites:
        rows, results, (peak, private) = measure(programs / suite, queries[suite], mode, log)
        microseconds = cost(programs / suite, queries[suite], mode, log)
        for row in rows:
            by_source[row["source"]].append(row["ndcg"])
        for level, is_right in results:
            levels[level].append(is_right)
        print(
            f"  {suite:13} hit@1 {mean(row['hit'] for row in rows):.3f}  recall@5 "
            f"{mean(row['recall'] for row in rows):.3f}  nDCG@10 {mean(row['ndcg'] for row in rows):.3f}  "
            f"{microseconds:.0f} us a query  peak {peak / 1000:.1f} MB, private {private / 1000:.1f} MB",
            flush=True,
        )
    sources = {source: mean(values) for source, values in by_source.items()}
    print("  nDCG@10 " + "  ".join(f"{source} {value:.3f}" for source, value in sources.items()))
    print(f"  nDCG@10, mean over {len(sources)} sources: {mean(sources.values()):.4f}")
    for level in ("high", "medium", "low"):
        right = levels[level]
        print(f"  {level}: {mean(right):.3f} of {len(right)} results are right")


if __name__ == "__main__":
    sys.exit(main())
