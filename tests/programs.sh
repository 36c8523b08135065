#!/usr/bin/env bash
# Installs the programs that tests run for real, where that is possible. Tests skip those that are missing.
set -uo pipefail

declare -A packages=(
    [rg]=ripgrep [rsync]=rsync [sqlite3]=sqlite3 [psql]=postgresql-client [ffmpeg]=ffmpeg [git]=git
    [tar]=tar [zip]=zip [unzip]=unzip [curl]=curl [jq]=jq [systemctl]=systemd [npm]=npm [gh]=gh
    [docker]=docker.io
)

missing=()
for program in "${!packages[@]}"; do
    command -v "$program" > /dev/null || missing+=("${packages[$program]}")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "all programs are installed"
elif ! command -v apt-get > /dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "skipped: installing ${missing[*]} needs apt-get and root"
elif log="$(apt-get update -q 2>&1 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${missing[@]}" 2>&1)"; then
    echo "installed ${missing[*]}"
else
    echo "$log" | tail -n 5
    echo "skipped: ${missing[*]} could not be installed"
fi
exit 0
