#!/usr/bin/env bash
# The server with the shipped tools has less than 3 MB. What grows it should be worth it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --release --package climax
bytes="$(wc -c <"${CARGO_TARGET_DIR:-target}/release/climax")"
echo "the server has $bytes bytes"
if [ "$bytes" -lt 3000000 ]; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
