#!/usr/bin/env bash
# Runs commands in real containers with podman. Where podman is missing and cannot be installed, it says so and
# succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() { echo "Skipped the tests with real containers: $*"; exit 0; }

if ! command -v podman >/dev/null || ! command -v runc >/dev/null || ! command -v busybox >/dev/null; then
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || skip "podman, runc or busybox is missing"
  { apt-get update -q && apt-get install -y -q --no-install-recommends podman runc conmon busybox-static; } \
    >/dev/null 2>&1 || skip "podman cannot be installed"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CONTAINERS_CONF="$work/containers.conf" CONTAINERS_STORAGE_CONF="$work/storage.conf"
cat > "$CONTAINERS_CONF" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
END
cat > "$CONTAINERS_STORAGE_CONF" <<END
[storage]
driver = "vfs"
runroot = "$work/run"
graphroot = "$work/graph"
END

# An image with a shell and a program that prints its stdin and a variable.
mkdir -p "$work/image/bin"
cp "$(command -v busybox)" "$work/image/bin/busybox"
for name in sh cat ls pwd sleep; do ln -s busybox "$work/image/bin/$name"; done
cat > "$work/image/bin/argdump" <<'END'
#!/bin/sh
echo "input: $(cat)"
echo "variable: $FROM_CONFIG"
END
chmod +x "$work/image/bin/argdump"
tar -C "$work/image" -c . | podman import - localhost/climax-test >/dev/null 2>&1 ||
  skip "podman cannot import an image here"
podman run --rm --network none localhost/climax-test /bin/sh -c : >/dev/null 2>&1 ||
  skip "podman cannot run a container here"

cargo test --quiet -p climax-tests --test suite containers:: -- --ignored --test-threads=1
