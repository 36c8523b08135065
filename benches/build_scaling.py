#!/usr/bin/env python3
"""Measures how build time and memory grow with the number of tools, for a full build and a one-line edit.

usage: benches/build_scaling.py [--tools 10,1000,10000] [--profiles dev,release]

Each tool has six arguments of different types. Builds use their own target folder, in which everything but
the catalog is built before the measurement.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS_PER_FILE = 50


def write_configs(folder, tools):
    for first in range(0, tools, TOOLS_PER_FILE):
        number = first // TOOLS_PER_FILE
        lines = [
            f"name: cli-{number:03}",
            f"description: Command line number {number}",
            f"command: echo cli{number}",
            f"category: category{number % 7}",
            f"tags: [tag{number % 5}, generated]",
            "tools:",
        ]
        for tool in range(first, min(first + TOOLS_PER_FILE, tools)):
            lines += [
                f"  - name: cli{number}_tool_{tool}",
                f"    description: Does the work of tool {tool} for command line {number}",
                f"    command: tool {tool}",
                "    args:",
                "      - {name: path, description: The file to work on, positional: true, required: true}",
                f"      - {{name: message, description: What to say in {tool}, flag: -m}}",
                "      - {name: count, type: integer, description: How many, default: 10}",
                "      - {name: ratio, type: number, description: How much}",
                "      - {name: verbose, type: boolean, description: Say more, flag: -v}",
                f"      - {{name: format, description: How, enum: [json, text, form{tool}], default: json}}",
            ]
        (folder / f"cli{number:03}.yaml").write_text("\n".join(lines) + "\n")


def build(profile, configs, target):
    """User and wall seconds of a build, and the peak memory in MB of the largest process so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(
        ["cargo", "build", "--quiet", "--package", "climax", "--profile", profile],
        cwd=ROOT,
        env={**os.environ, "CLIMAX_CONFIGS": str(configs), "CARGO_TARGET_DIR": str(target)},
        check=True,
    )
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user = after.ru_utime - before.ru_utime
    return user, wall, after.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default="10,1000,10000")
    parser.add_argument("--profiles", default="dev,release")
    arguments = parser.parse_args()
    scales = [int(number) for number in arguments.tools.split(",")]
    target = ROOT / "target" / "build_scaling"
    with tempfile.TemporaryDirectory() as work:
        folders = {}
        for tools in [1, *scales]:
            folders[tools] = pathlib.Path(work) / str(tools)
            folders[tools].mkdir()
            write_configs(folders[tools], tools)
        print("| profile | tools | user s | difference to the smallest | wall s | peak MB so far | one-line edit, wall s |")
        print("|---|---|---|---|---|---|---|")
        for profile in arguments.profiles.split(","):
            smallest = None
            for tools in scales:
                # Builds everything but the catalog.
                build(profile, folders[1], target)
                user, wall, peak = build(profile, folders[tools], target)
                smallest = user if smallest is None else smallest
                first = sorted(folders[tools].iterdir())[0]
                first.write_text(first.read_text().replace("Does the work", "Does all the work", 1))
                _, edit, _ = build(profile, folders[tools], target)
                print(
                    f"| {profile} | {tools} | {user:.1f} | {user - smallest:+.1f} | {wall:.1f} "
                    f"| {peak:.0f} | {edit:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    sys.exit(main())
