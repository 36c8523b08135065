#!/usr/bin/env bash
# Tests the server with the official Python client, and compares it with CLImax for Python.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
venv="$target/clients"
if [ ! -x "$venv/bin/climax" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/clients/requirements.txt
fi

echo "-- the flags in the shipped configs exist"
"$venv/bin/python" tests/flags.py configs/*.yaml

echo "-- the official client, with the shipped configs"
cargo build --quiet --package climax
"$venv/bin/python" tests/clients/official_client.py "$target/debug/climax"

echo "-- the same tools/list as CLImax for Python, with its own configs"
configs="$target/clients/original"
if [ ! -d "$configs" ]; then
    unpacked="$(mktemp -d)"
    # Only the source package has the configs.
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        --dest "$unpacked" climax-mcp==0.5.0
    tar -xzf "$unpacked"/climax_mcp-0.5.0.tar.gz -C "$unpacked"
    mkdir -p "$configs.new"
    cp "$unpacked"/climax_mcp-0.5.0/configs/*.yaml "$unpacked"/climax_mcp-0.5.0/examples/*.yaml "$configs.new"
    mv "$configs.new" "$configs"
    rm -rf "$unpacked"
fi
CLIMAX_CONFIGS="$configs" cargo build --quiet --package climax
# Restores the binary with the shipped configs.
trap 'CLIMAX_CONFIGS= cargo build --quiet --package climax' EXIT
"$venv/bin/python" tests/clients/parity.py \
    "$venv/bin/climax" "$target/debug/climax" "$configs"/*.yaml
