#!/usr/bin/env bash
# Checks that baked tables have no pointers. Each would be a relocation, which the loader processes at every
# start, so that the start would take longer the more tools there are.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v readelf >/dev/null || { echo "skipped: readelf is not installed"; exit 0; }
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
work="$(mktemp -d)"
# Restores the binary with the shipped configs.
trap 'rm -rf "$work"; CLIMAX_CONFIGS= cargo build --quiet --package climax' EXIT

relocations() { # NUMBER OF TOOLS
    mkdir -p "$work/$1"
    {
        printf 'name: many\ncommand: echo\ncategory: test\ntools:\n'
        for number in $(seq "$1"); do
            printf '  - name: tool_%s\n    description: Does number %s\n    args:\n' "$number" "$number"
            printf '      - {name: text, required: true}\n      - {name: count, type: integer, default: 3}\n'
            printf '      - {name: format, enum: [json, text], default: json}\n'
        done
    } >"$work/$1/many.yaml"
    CLIMAX_CONFIGS="$work/$1" cargo build --quiet --package climax
    readelf --relocs --wide "$CARGO_TARGET_DIR/debug/climax" | grep -c R_
}

few="$(relocations 10)"
many="$(relocations 1000)"
echo "relocations with 10 tools: $few, with 1000 tools: $many"
if [ "$few" = "$many" ]; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
