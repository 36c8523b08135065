#!/usr/bin/env python3
"""Compares servers of 10, 1,000 and 10,000 tools with baseline programs (floor.rs).

usage: benches/server.py [--json FILE] [--rounds N] [--python 'climax run {configs}']

Measurements of all servers are interleaved, so that noise of the machine affects all of them. Times are 10th
percentiles. CPU times are those of the server process. --python is the command line of a server that reads the
same configs at startup, such as climax-mcp 0.5 in Python; `{configs}` becomes `--config FILE` for each config.
It is measured only with 10 and 1,000 tools.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import time

from build_scaling import ROOT, write_configs

SCALES = [10, 1000, 10000]
# The scheduler mostly keeps a process on one core. Several processes per measurement cover several cores.
REPEATS = 10
WORK = ROOT / "target" / "benches"
SLEEP_CONFIG = """name: sleep
command: sleep
tools:
  - {name: measured_sleep, description: Sleeps, command: "0.2"}
"""
TRUE_CONFIG = """name: truth
command: /bin/true
tools:
  - {name: measured_true, description: Runs true}
"""


def request(method, params=None, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


INITIALIZE = request(
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
)
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
PING = request("ping")


def search(query):
    return request("tools/call", {"name": "climax_search", "arguments": {"query": query}})


def call(tool, number=1):
    params = {"name": "climax_call", "arguments": {"tool_name": tool, "args": {}}}
    return request("tools/call", params, number)


class Server:
    """A process that responds to each line with a line."""

    def __init__(self, command, first_input=INITIALIZE):
        start = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.unread = b""
        self.first_response = self.request(first_input)
        self.startup_seconds = time.perf_counter() - start
        if first_input is INITIALIZE:
            os.write(self.stdin, INITIALIZED)

    def request(self, line):
        os.write(self.stdin, line)
        return self.read_line()

    def read_line(self):
        parts = [self.unread]
        while b"\n" not in parts[-1]:
            part = os.read(self.stdout, 1 << 20)
            if not part:
                raise EOFError(self.process.args)
            parts.append(part)
        line, _, self.unread = b"".join(parts).partition(b"\n")
        return line

    def pipeline(self, lines):
        """Sends lines as fast as the process reads them. Returns the seconds until all responses have arrived."""
        data = memoryview(b"".join(lines))
        pending = len(lines)
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        start = time.perf_counter()
        while pending:
            try:
                while data:
                    data = data[os.write(self.stdin, data) :]
            except BlockingIOError:
                pass
            try:
                pending -= os.read(self.stdout, 1 << 20).count(b"\n")
            except BlockingIOError:
                # Without the sleep, this process would take CPU time from the measured one.
                time.sleep(0.0002)
        elapsed = time.perf_counter() - start
        os.set_blocking(self.stdin, True)
        os.set_blocking(self.stdout, True)
        return elapsed

    def cpu_seconds(self):
        """CPU time so far."""
        status = pathlib.Path(f"/proc/{self.process.pid}/schedstat").read_text()
        return int(status.split()[0]) / 1e9

    def memory_mb(self, name, file="status"):
        """A field of a file in /proc that the kernel reports in kB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/{file}").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) / 1024
        raise KeyError(name)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def fastest(values):
    """The tenth percentile."""
    return sorted(values)[len(values) // 10]


def build():
    """Builds the baseline program and the servers of all scales."""
    WORK.mkdir(parents=True, exist_ok=True)
    for scale in SCALES:
        configs = WORK / f"configs-{scale}"
        shutil.rmtree(configs, ignore_errors=True)
        configs.mkdir()
        write_configs(configs, scale)
        (configs / "sleep.yaml").write_text(SLEEP_CONFIG)
        (configs / "truth.yaml").write_text(TRUE_CONFIG)
        environment = {**os.environ, "CLIMAX_CONFIGS": str(configs), "CARGO_TARGET_DIR": str(WORK / "target")}
        subprocess.run(
            ["cargo", "build", "--quiet", "--release", "--package", "climax"], cwd=ROOT, env=environment, check=True
        )
        shutil.copy(WORK / "target" / "release" / "climax", WORK / f"climax-{scale}")
    # Until a new binary is written to disk, its pages would count as dirty memory of the process that maps them.
    os.sync()
    floor = WORK / "floor"
    source = pathlib.Path(__file__).with_name("floor.rs")
    subprocess.run(
        ["rustc", "-C", "opt-level=3", "--edition", "2024", "-o", str(floor), str(source)], check=True
    )
    return [str(floor)], {scale: [str(WORK / f"climax-{scale}")] for scale in SCALES}


def measure_starts(floor, servers, rounds):
    """Time until the first response, and memory after it. The first round is a warm-up."""
    server = Server(servers["10"])
    response = server.first_response + b"\n"
    server.close()
    programs = {"floor": (floor + ["replay"], response + INITIALIZE)}
    programs |= {name: (command, INITIALIZE) for name, command in servers.items()}
    times = {name: [] for name in programs}
    results = {}
    for number in range(rounds + 1):
        for name, (command, first_input) in programs.items():
            # Python servers start slowly, so they get fewer rounds.
            if name.startswith("python") and number > rounds // 20 + 1:
                continue
            server = Server(command, first_input)
            if number > 0:
                times[name].append(server.startup_seconds * 1000)
            results[name] = {
                "start_private_dirty_mb": server.memory_mb("Private_Dirty", "smaps_rollup"),
                "start_peak_mb": server.memory_mb("VmHWM"),
            }
            server.close()
    for name, values in times.items():
        results[name]["start_ms"] = fastest(values)
        results[name]["start_median_ms"] = statistics.median(values)
    return results


def measure_requests(floor, servers, seconds):
    """Latency and CPU time of single requests, and throughput and CPU time of pipelined ones."""
    kinds = {
        "ping": PING,
        "search_miss": search("nosuchthingqqq"),
        "search_common": search("tool"),
    }
    results = {name: {} for name in ["floor", *servers]}
    measured = {name: {kind: ([], [], []) for kind in kinds} for name in results}
    for _ in range(REPEATS):
        running = {name: Server(command) for name, command in servers.items()}
        for kind, line in kinds.items():
            replay = Server(floor + ["replay"], running["10"].request(line) + b"\n" + line)
            for name, server in {"floor": replay, **running}.items():
                times, cpus, pipelined = measured[name][kind]
                count, before, start = 0, server.cpu_seconds(), time.perf_counter()
                while time.perf_counter() - start < seconds / REPEATS:
                    sent = time.perf_counter()
                    server.request(line)
                    times.append((time.perf_counter() - sent) * 1e6)
                    count += 1
                cpus.append((server.cpu_seconds() - before) / count * 1e6)
                lines = [line.replace(b'"id":1', b'"id":%d' % number) for number in range(max(50, count))]
                before = server.cpu_seconds()
                elapsed = server.pipeline(lines)
                pipelined.append((len(lines) / elapsed, (server.cpu_seconds() - before) / len(lines) * 1e6))
            replay.close()
        for server in running.values():
            server.close()
    for name, by_kind in measured.items():
        for kind, (times, cpus, pipelined) in by_kind.items():
            results[name][f"{kind}_us"] = fastest(times)
            results[name][f"{kind}_cpu_us"] = min(cpus)
            results[name][f"{kind}_pipelined_per_s"] = max(rate for rate, _ in pipelined)
            results[name][f"{kind}_pipelined_cpu_us"] = min(cpu for _, cpu in pipelined)
    for name, command in servers.items():
        if not name.startswith("python"):
            server = Server(command)
            for line in [PING, search("tool")]:
                server.pipeline([line.replace(b'"id":1', b'"id":%d' % number) for number in range(50_000)])
            results[name]["after_100000_requests_peak_mb"] = server.memory_mb("VmHWM")
            server.close()
    return results


def measure_calls(floor, servers, rounds):
    """Calls of /bin/true, interleaved with bare spawns of it, and 200 concurrent calls of sleep."""
    servers = {name: command for name, command in servers.items() if name in ("10", "python-10")}
    line = call("measured_true")
    times = {name: [] for name in ["spawn", "replay", *servers]}
    sleep_times = {name: [] for name in servers}
    for _ in range(REPEATS):
        running = {name: Server(command) for name, command in servers.items()}
        replay = Server(floor + ["replay"], running["10"].request(line) + b"\n" + line)
        for _ in range(rounds // REPEATS):
            spawned = subprocess.run(floor + ["spawn", "20", "/bin/true"], capture_output=True, text=True, check=True)
            times["spawn"] += [float(value) for value in spawned.stdout.split()]
            for name, server in {"replay": replay, **running}.items():
                for _ in range(20):
                    start = time.perf_counter()
                    server.request(line)
                    times[name].append((time.perf_counter() - start) * 1e6)
        replay.close()
        for name, server in running.items():
            calls = [call("measured_sleep", 1000 + number) for number in range(200)]
            sleep_times[name] += [server.pipeline(calls) * 1000 for _ in range(2)]
            server.close()
    results = {
        "floor": {
            "call_us": fastest(times["spawn"]) + fastest(times["replay"]),
            "call_median_us": statistics.median(times["spawn"]) + statistics.median(times["replay"]),
        }
    }
    for name in servers:
        results[name] = {
            "call_us": fastest(times[name]),
            "call_median_us": statistics.median(times[name]),
            "sleep_200_ms": min(sleep_times[name]),
        }
    return results


def measure_lists(floor, servers, rounds):
    """`tools/list` with 1,000 registered tools, compared with a plain write of the same bytes."""
    line = request("tools/list")
    times, cpus = ({name: [] for name in ["floor", "1000"]} for _ in range(2))
    for _ in range(REPEATS):
        server = Server(servers["1000"] + ["--classic"])
        response = server.request(line)
        replay = Server(floor + ["replay"], response + b"\n" + line)
        for _ in range(rounds // REPEATS):
            for name, program in {"floor": replay, "1000": server}.items():
                before = program.cpu_seconds()
                for _ in range(10):
                    start = time.perf_counter()
                    program.request(line)
                    times[name].append((time.perf_counter() - start) * 1e6)
                cpus[name].append((program.cpu_seconds() - before) / 10 * 1e6)
        replay.close()
        server.close()
    results = {name: {"list_us": fastest(times[name]), "list_cpu_us": fastest(cpus[name])} for name in times}
    results["1000"]["list_bytes"] = len(response)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--python")
    arguments = parser.parse_args()
    floor, built = build()
    servers = {str(scale): command for scale, command in built.items()}
    if arguments.python:
        for scale in SCALES[:2]:
            files = sorted(str(path) for path in (WORK / f"configs-{scale}").iterdir())
            options = shlex.join(word for file in files for word in ["--config", file])
            command = arguments.python.replace("{configs}", options)
            servers[f"python-{scale}"] = shlex.split(command)
    results = {name: {} for name in ["floor", *servers]}
    for measure in [
        lambda: measure_starts(floor, servers, arguments.rounds),
        lambda: measure_requests(floor, servers, arguments.rounds / 20),
        lambda: measure_calls(floor, servers, arguments.rounds),
        lambda: measure_lists(floor, servers, arguments.rounds),
    ]:
        for name, values in measure().items():
            results[name] |= values
    for scale, command in built.items():
        results[str(scale)]["binary_mb"] = os.path.getsize(command[0]) / 1e6
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    keys = list(dict.fromkeys(key for values in results.values() for key in values))
    print("| | " + " | ".join(results) + " |")
    print("|---" * (len(results) + 1) + "|")
    for key in keys:
        cells = [f"{values[key]:.4g}" if key in values else "" for values in results.values()]
        print(f"| {key} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
