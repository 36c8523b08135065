#!/usr/bin/env python3
"""Plots the results of server.py: benches/plot.py RESULTS.json > docs/performance.svg"""

import json
import pathlib
import sys
from math import log10

PANELS = [
    ("start_ms", "From start to the response to initialize", "ms"),
    ("start_peak_mb", "Memory after start", "MB"),
    ("ping_us", "A ping", "µs"),
    ("search_miss_us", "A search without matches", "µs"),
    ("search_common_us", "A search with ten results", "µs"),
    ("call_us", "A call of true", "µs"),
]
NAMES = {
    "floor": "baseline program",
    "10": "CLImax, 10 tools",
    "1000": "CLImax, 1,000 tools",
    "10000": "CLImax, 10,000 tools",
    "python-10": "CLImax for Python, 10 tools",
    "python-1000": "CLImax for Python, 1,000 tools",
}
COLOURS = {"floor": "#9aa5b1", "python-10": "#d9822b", "python-1000": "#d9822b"}
WIDTH, LEFT, RIGHT, ROW, GAP = 760, 230, 90, 18, 34


def format_number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main():
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    parts, y = [], 10
    for key, title, unit in PANELS:
        bars = [(name, results[name][key]) for name in NAMES if key in results.get(name, {})]
        low = min(value for _, value in bars) / 2
        scale = (WIDTH - LEFT - RIGHT) / log10(max(value for _, value in bars) / low)
        y += 16
        parts.append(f'<text x="{LEFT}" y="{y}" font-weight="bold">{title} ({unit})</text>')
        y += 8
        for name, value in bars:
            width = log10(value / low) * scale
            colour = COLOURS.get(name, "#2f6fb3")
            middle = y + ROW - 6
            parts.append(f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{NAMES[name]}</text>')
            parts.append(f'<rect x="{LEFT}" y="{y + 2}" width="{width:.1f}" height="{ROW - 5}" fill="{colour}"/>')
            parts.append(f'<text x="{LEFT + width + 6:.1f}" y="{middle}">{format_number(value)}</text>')
            y += ROW
        y += GAP - 16
    note = "Logarithmic scale, different for each panel. Fastest tenth of the runs."
    parts.append(f'<text x="{LEFT}" y="{y + 4}" fill="#666">{note}</text>')
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 18}" '
        'font-family="sans-serif" font-size="12">'
    )
    print(f'<rect width="{WIDTH}" height="{y + 18}" fill="white"/>')
    print("\n".join(parts))
    print("</svg>")


if __name__ == "__main__":
    sys.exit(main())
