#!/usr/bin/env bash
# AIDE against a new Podium, with a scripted model in place of a provider's: an environment for AIDE,
# a run, three steps of AIDE's search, a medal. From the repository: examples/aide/run.sh
# AIDE_PYTHON names a Python that has aideml already.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${PODIUM_BIN:-$here/../../.venv/bin}" && pwd)
home=$(mktemp -d)
finish() {
    [ -z "${server:-}" ] || { kill "$server" 2>/dev/null && wait "$server" || true; }
    rm -rf "$home"
}
trap finish EXIT
export PODIUM_DATA_DIR="$home/data" PODIUM_COMPETITIONS_DIR="$here/../../competitions" PODIUM_GRADERS=1

if [ -z "${AIDE_PYTHON:-}" ]; then
    echo "== AIDE's environment"
    AIDE_PYTHON=$home/aide/bin/python
    if [ -x "$bin/uv" ]; then # Podium's development environment has it; it is much faster
        "$bin/python" -m venv --without-pip "$home/aide"
        install=("$bin/uv" pip install --quiet --python "$AIDE_PYTHON")
    else
        "$bin/python" -m venv "$home/aide"
        install=("$AIDE_PYTHON" -m pip install --quiet --no-compile)
    fi
    # aideml itself asks for 70 packages for the code of agents, torch among them; see the file.
    "${install[@]}" -r "$here/requirements.txt"
    "${install[@]}" --no-deps aideml==0.2.2
fi

port=$("$bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$bin/podium" serve --port "$port" > "$home/output" 2> "$home/log" &
server=$!
for _ in $(seq 600); do
    grep -q "^Podium serves" "$home/output" && break
    kill -0 "$server" || { tail "$home/log"; exit 1; }
    sleep 0.2
done
export PODIUM_URL=http://127.0.0.1:$port PODIUM_KEY=$(grep -o 'pod_admin_[^ ]*' "$home/output")
"$bin/podium" experiments create aide --agent "aideml 0.2.2" --model scripted > /dev/null
run=$("$bin/podium" runs create --experiment aide --competition bike-sharing-demand --feedback full)

echo "== the agent: AIDE, with the key of one run"
mkdir "$home/agent"
IFS=, read -r id key < <("$bin/python" -c '
import csv, sys
run = next(csv.DictReader(sys.argv[1].splitlines()))
print(run["run"] + "," + run["key"])' "$run")
(cd "$home/agent" && env -i PATH="$PATH" HOME="$home/agent" NO_PROXY=127.0.0.1 \
    PODIUM_URL="$PODIUM_URL" PODIUM_RUN="$id" PODIUM_KEY="$key" \
    "$AIDE_PYTHON" "$here/agent.py")

echo "== what a researcher sees"
"$bin/podium" results aide
