"""HEAD, and the log line of a request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.conftest import Podium


@pytest.mark.parametrize(
    "path",
    ["/healthz", "/readyz", "/openapi.json", "/v1/competitions", "/v1/runs/{run}",
     "/v1/competitions/{slug}/files/sample_submission.csv", "/v1/runs/{run}/events",
     "/v1/runs/none", "/nowhere"],
)  # fmt: skip
def test_head_has_the_status_and_headers_of_get_and_no_body(
    podium: Podium, tiny: Path, path: str
) -> None:
    run = podium.run(tiny)
    address = path.format(run=run.id, slug=tiny.name)

    head = podium.admin.head(address)
    with podium.admin.stream("GET", address) as get:
        assert head.status_code == get.status_code
        assert head.headers["content-type"] == get.headers["content-type"]
        if "sample_submission" in path:
            assert head.headers["content-length"] == get.headers["content-length"]
    assert head.content == b""
    assert podium.admin.head(address).status_code == head.status_code  # the connection works


def test_the_log_says_who_asked_and_nothing_of_probes(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)
    begin = podium.server.log.stat().st_size
    podium.client().get("/readyz")
    podium.client().get("/healthz")
    podium.client().get("/health")
    podium.admin.get("/metrics")
    podium.client().get(f"/v1/runs/{run.id}")
    run.client.get(f"/v1/runs/{run.id}")
    run.client.get("/api/v1/competitions/list")  # a call of an old client
    run.submit(good)
    podium.admin.get("/v1/faults")  # the lines before it are written

    text = podium.server.log.read_bytes()[begin:].decode()
    lines = [json.loads(line) for line in text.splitlines() if '"request"' in line]
    seen = [(line["path"], line.get("role"), line["status"]) for line in lines]

    assert (f"/v1/runs/{run.id}", None, 401) in seen
    assert (f"/v1/runs/{run.id}", "run", 200) in seen
    assert ("/api/v1/competitions/list", "run", 200) in seen
    assert (f"/v1/runs/{run.id}/submissions", "run", 201) in seen
    assert all(line["key"].startswith("key_") for line in lines if "role" in line)
    assert "Context impl" not in text
    assert not {"/readyz", "/healthz", "/health", "/metrics"} & {path for path, *_ in seen}
