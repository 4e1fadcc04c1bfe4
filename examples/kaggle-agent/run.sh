#!/usr/bin/env bash
# All steps of an agent's container with Kaggle's client, without Docker: a new Podium, a run, the
# agent, and the results that a researcher sees. From the repository: examples/kaggle-agent/run.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${PODIUM_BIN:-$here/../../.venv/bin}
home=$(mktemp -d)
finish() {
    [ -z "${server:-}" ] || { kill "$server" 2>/dev/null && wait "$server" || true; }
    rm -rf "$home"
}
trap finish EXIT
export PATH="$(cd "$bin" && pwd):$PATH" PODIUM_DATA_DIR="$home/data"
export PODIUM_COMPETITIONS_DIR="$here/../../competitions" PODIUM_GRADERS=1

port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
podium serve --port "$port" > "$home/output" 2> "$home/log" &
server=$!
for _ in $(seq 300); do
    grep -q "^Podium serves" "$home/output" && break
    kill -0 "$server" || { tail "$home/log"; exit 1; }
    sleep 0.2
done
admin=$(grep -o 'pod_admin_[^ ]*' "$home/output")
url=http://127.0.0.1:$port
post() { python -c '
import json, sys, urllib.request as u
url, key, body = sys.argv[1:]
request = u.Request(url, body.encode(), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
print(u.build_opener(u.ProxyHandler({})).open(request).read().decode())' "$@"; }

post "$url/v1/experiments" "$admin" '{"name": "example", "agent": "example", "model": "trees"}' > /dev/null
run=$(post "$url/v1/runs" "$admin" '{"experiment": "example", "competition": "bike-sharing-demand",
    "seed": 0, "feedback": "public", "limits": {"submissions_per_day": 5}}')
key=$(python -c 'import json, sys; print(json.loads(sys.argv[1])["key"])' "$run")

# The agent's environment: variables for Podium's address (the second for kaggle 1.6), and the run's key.
mkdir "$home/agent"
(cd "$home/agent" && env -i PATH="$PATH" HOME="$home/agent" \
    KAGGLE_API_ENVIRONMENT=LOCALHOST KAGGLE_API_ENDPOINT="$url" HTTP_PROXY="$url" \
    KAGGLE_USERNAME=agent KAGGLE_KEY="$key" \
    COMPETITION=bike-sharing-demand "$here/agent.sh")

echo "== what a researcher sees"
python - "$url" "$admin" "$run" <<'PYTHON'
import json, sys, urllib.request as u

url, key, run = sys.argv[1:]
address = f"{url}/v1/runs/{json.loads(run)['id']}/submissions"
request = u.Request(address, headers={"Authorization": f"Bearer {key}"})
with u.build_opener(u.ProxyHandler({})).open(request) as answer:
    for one in json.load(answer)["items"]:
        grade = one["grade"] or {}
        print(one["message"], one["state"], grade.get("score"), grade.get("medal"))
PYTHON
