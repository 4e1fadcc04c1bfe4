"""What the key of a run, or of its harness, is answered: all requests, and answers to compare."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.api.conftest import CSV, Run

TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
# These differ between any two runs, whatever their answers are.
VOLATILE = [
    (re.compile(r"(run|sub|key)_[0-9a-f]{26}"), "ID"),
    (TIME, "TIME"),
    (re.compile(r'"run_seconds":[0-9.e-]+'), '"run_seconds":0'),
    (re.compile(r"experiment-[0-9-]+"), "EXPERIMENT"),
    (re.compile(r'"request_id":"[^"]+"'), ""),
    (re.compile(r'"id":\d+'), '"id":0'),  # of a version, in Kaggle's calls
]
KAGGLE = "/api/v1/competitions.CompetitionApiService"
BAD_FILES = {
    "not_csv": b"id,target\nr1,1,2,3\n",
    "empty_file": b"",
    "encoding": "id,target\nr1,1\n".encode("utf-16"),
    "missing_column": b"id,other\nr1,1\n",
    "duplicate_column": b"id,target,target\nr1,1,1\n",
    "row_count": b"id,target\n",
    "missing_id": b"id,target\nr1,1\n",
    "unknown_id": b"id,target\nx1,1\n",
    "duplicate_id": b"id,target\nr1,1\nr1,1\n",
    "missing_value": b"id,target\nr1,\n",
    "not_a_number": b"id,target\nr1,abc\n",
    "not_finite": b"id,target\nr1,inf\n",
    "out_of_range": b"id,target\nr1,99999\n",
}
Transcript = list[tuple[str, str]]  # requests and their answers, which are normalised


def everything_a_run_can_ask(run: Run, slug: str, file: bytes) -> Transcript:
    """Every endpoint and every violation code, as (request, normalised answer)."""
    address = run.client.base_url
    connection = http.client.HTTPConnection(address.host, address.port, timeout=60)
    with contextlib.closing(connection):  # httpx takes several times as long for a request
        return _everything(run, slug, file, connection)


def _everything(
    run: Run, slug: str, file: bytes, connection: http.client.HTTPConnection
) -> Transcript:
    transcript: Transcript = []
    own = {"Authorization": run.client.headers["Authorization"], "Accept": "*/*",
           "Accept-Encoding": "gzip"}  # fmt: skip

    def ask(
        method: str, path: str, *, content: bytes | None = None, json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> str:  # fmt: skip
        more = {} if json is None else {"Content-Type": "application/json"}
        body = content if json is None else as_json(json)
        connection.request(method, path, body, {**own, **more, **(headers or {})})
        response = connection.getresponse()
        received = response.read()
        if response.headers["content-encoding"] == "gzip":
            received = gzip.decompress(received)
        text = received.decode()
        told = response.headers
        joined = {name.lower(): ", ".join(told.get_all(name, [])) for name in told}
        shown = normalised(response.status, joined, text)
        transcript.append((f"{method} {path}", shown.replace(slug, "SLUG")))
        return text

    submissions = f"/v1/runs/{run.id}/submissions"
    experiment = run.document["experiment"]
    waiting = {**CSV, "Prefer": "wait=30"}
    sent = json.loads(ask("POST", submissions, content=file, headers=waiting))["id"]
    for code, bad in BAD_FILES.items():
        stored = ask("POST", submissions, content=bad, headers=waiting)
        if json.loads(stored)["state"] == "rejected":
            assert code in stored
        assert code in ask("POST", f"/v1/runs/{run.id}/validate", content=bad, headers=CSV)
    ask("POST", f"/v1/runs/{run.id}/validate", content=file, headers=CSV)
    for path in ("", "/description", "/files", "/sample-submission", "/leaderboard",
                 "/standing?score=0.5", "/files/train.csv", "/files/answers.csv"):  # fmt: skip
        ask("GET", f"/v1/competitions/{slug}{path}")
    for path in ("/v1/competitions", "/v1/runs", f"/v1/runs/{run.id}", submissions,
                 f"/v1/submissions/{sent}", f"/v1/submissions/{sent}/file",
                 f"/v1/submissions/{sent}/uncertainty", f"/v1/experiments/{experiment}/uncertainty",
                 f"/v1/runs/{run.id}/exposure", f"/v1/runs/{run.id}/reported-scores",
                 f"/v1/runs/{run.id}/trajectory", f"/v1/experiments/{experiment}/success-rates",
                 f"/v1/runs/{run.id}/receipts", f"/v1/experiments/{experiment}/receipts",
                 f"/v1/experiments/{experiment}/freeze", "/v1/log/entries/0", "/v1/receipts/rcp_x",
                 f"/v1/experiments/{experiment}/outcomes", f"/v1/competitions/{slug}/results",
                 f"/v1/competitions/{slug}/regrades", "/v1/regrades/rgr_x",
                 "/v1/experiments", "/openapi.json", "/SKILL.md", "/llms.txt"):  # fmt: skip
        ask("GET", path)
    for call in ("ListCompetitions", "GetCompetition", "ListCompetitionPages"):
        ask("POST", f"{KAGGLE}/{call}", json={"competitionName": slug})
    for page in ("/", f"/experiments/{experiment}", f"/experiments/{experiment}/medals-over-time",
                 f"/runs/{run.id}", f"/submissions/{sent}", f"/competitions/{slug}",
                 "/competitions", "/compare", "/operations", "/suites", "/suites/mle-bench",
                 "/suites/mle-bench/items", "/operations/keys", "/operations/imports",
                 f"/experiments/{experiment}/receipts", f"/runs/{run.id}/changes",
                 f"/runs/{run.id}/close", f"/comparison.svg?a={experiment}&b=x", "/cost.vl.json",
                 f"/experiments/{experiment}/heat-map.vl.json", "/suites/mle-bench/medal-rates.svg",
                 "/suites/mle-bench/medal-rates.png", "/suites/mle-bench/medal-rates.pdf",
                 f"/experiments/{experiment}/heat-map.png", "/cost.pdf", "/operations/reviews",
                 f"/operations/reviews/{run.id}", "/operations/imports/imp_x",
                 f"/experiments/{experiment}/medals-over-time.vl.json",
                 f"/competitions/{slug}/leaderboard.vl.json"):  # fmt: skip
        ask("GET", page, headers={"Accept": "text/html"})
        assert transcript[-1][1].startswith("[403,"), page
        if "." not in page:
            for form in ("csv", "json"):
                ask("GET", f"{page}?format={form}", headers={"Accept": "text/html"})
                assert transcript[-1][1].startswith(("[403,", "[422,")), page
    ask("POST", f"/v1/runs/{run.id}/reported-scores", json={"score": 1, "evidence": {"file": "f"}})
    evaluated = f"/v1/experiments/{experiment}/mlagentbench-results?competition={slug}"
    ask("POST", evaluated, content=b"{}")
    ask("PUT", f"/v1/runs/{run.id}/selected", json={"submission": sent})
    ask("PATCH", f"/v1/runs/{run.id}", json={"state": "closed"})
    ask("POST", f"/v1/runs/{run.id}/receipts")
    ask("POST", f"/v1/experiments/{experiment}/receipts", json={})
    return transcript


def as_json(document: Any) -> bytes:
    return json.dumps(document).encode()


def normalised(status: int, headers: Mapping[str, str], text: str) -> str:
    """An answer without what differs between any two. Names of headers are in lower case."""
    lasting = {
        name: value for name, value in headers.items()
        if name not in ("date", "x-request-id", "last-modified")
    }  # fmt: skip
    shown = json.dumps([status, lasting]) + text
    shown = re.sub(r'"content-length": "\d+"', "", shown)  # numbers of other lengths: times, ids
    for pattern, replacement in VOLATILE:
        shown = pattern.sub(replacement, shown)
    # Two imports of one slug are two versions: that number is how many there were, not an answer.
    return re.sub(r'"(version|competition_version)":\d+', r'"\1":0', shown)
