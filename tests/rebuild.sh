#!/usr/bin/env bash
# What needs cargo to be seen: which changes rebuild, what a wrong folder says, and that the same
# configs give the same bytes wherever they are.
set -euo pipefail
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-target}"
case "$target" in /*) ;; *) target="$PWD/$target" ;; esac
# A target folder of its own, so that the usual one keeps the shipped configs.
export CARGO_TARGET_DIR="$target/rebuild"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # NAME COMMAND...
    local name="$1"
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok - $name"
    else
        failed=$((failed + 1))
        echo "FAILED - $name"
    fi
}
build() { cargo build --quiet --package climax 2>"$work/stderr"; }
tools() { "$CARGO_TARGET_DIR/debug/climax" list --json | grep -c '"tool_name"'; }
has_tools() { build && [ "$(tools)" = "$1" ]; }
built_at() { stat -c %y "$CARGO_TARGET_DIR/debug/climax"; }
is_same() { [ "$1" = "$2" ]; }
fails_with() { ! build && grep -qF -- "$1" "$work/stderr"; }
catalog() { find "$CARGO_TARGET_DIR/debug/build" -path '*/out/catalog.rs' -newer "$work/marker" -exec cat {} +; }
config() { printf 'name: %s\ncommand: echo\ntools:\n  - {name: %s, description: Says %s}\n' "$1" "$1" "$1"; }

configs="$work/one/configs"
mkdir -p "$configs"
export CLIMAX_CONFIGS="$configs"
config a >"$configs/a.yaml"
check "a folder is baked" has_tools 1

before="$(built_at)"
build
check "nothing changed, nothing is built" is_same "$before" "$(built_at)"
touch README.md tests/fixtures/configs/git.yaml
build
check "nothing outside of the folder counts" is_same "$before" "$(built_at)"

config b >"$configs/b.yml"
check "an added file is baked" has_tools 2
sed -i 's/Says a/Says something else/' "$configs/a.yaml"
build
check "a changed file is baked" grep -q "something else" <("$CARGO_TARGET_DIR/debug/climax" list --json)
rm "$configs/b.yml"
check "a removed file is gone" has_tools 1

mkdir -p "$work/other"
config c >"$work/other/c.yaml"
CLIMAX_CONFIGS="$configs:$work/other/c.yaml"
check "a changed variable with several paths, folders and files, is followed" has_tools 2

mkdir -p "$work/empty"
CLIMAX_CONFIGS="$work/empty" check "an empty folder is an error" fails_with "holds no configs"
CLIMAX_CONFIGS="no/such/folder" check "a missing path is an error that says where it counts from" fails_with "relative paths count from"
printf 'name: \xff\n' >"$work/empty/x.yaml"
CLIMAX_CONFIGS="$work/empty" check "a file that is not text is an error" fails_with "is not UTF-8 text"
printf 'command: x\ntools: [{nam: y}]\n' >"$work/empty/x.yaml"
CLIMAX_CONFIGS="$work/empty" check "a wrong config does not compile, and says why" fails_with 'did you mean `name`?'

# Relative paths count from the workspace, not from where cargo is called.
CLIMAX_CONFIGS=configs
from_below() { (cd core && cargo build --quiet --package climax) && [ "$(tools)" -gt 20 ]; }
check "relative paths count from the workspace" from_below

touch "$work/marker"
sleep 0.01
mkdir -p "$work/two/elsewhere"
cp configs/*.yaml "$work/two/elsewhere"
touch build.rs
build
first="$(catalog)"
touch "$work/marker"
sleep 0.01
CLIMAX_CONFIGS="$work/two/elsewhere"
build
second="$(catalog)"
check "the same configs in another folder give the same bytes" is_same "$first" "$second"
check "and these are not none" test -n "$first"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
