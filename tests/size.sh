#!/usr/bin/env bash
# Reports the size of the server with the shipped tools, and fails if it is over the limit. With `--dist`, it
# also reports the size of the smallest build.
set -euo pipefail
cd "$(dirname "$0")/.."

# For the server, and for the server with search by meaning.
MAX_PLAIN_BYTES=6000000
MAX_BYTES=11000000
target="${CARGO_TARGET_DIR:-target}"

cargo build --quiet --release --package climax --no-default-features
plain_bytes="$(wc -c <"$target/release/climax")"
echo "release without search by meaning: $plain_bytes bytes, at most $MAX_PLAIN_BYTES"
cargo build --quiet --release --package climax
bytes="$(wc -c <"$target/release/climax")"
echo "release: $bytes bytes, at most $MAX_BYTES"
if [ "${1:-}" = --dist ]; then
    cargo build --quiet --profile dist --package climax
    echo "dist: $(wc -c <"$target/dist/climax") bytes"
fi
if [ "$plain_bytes" -le "$MAX_PLAIN_BYTES" ] && [ "$bytes" -le "$MAX_BYTES" ]; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
