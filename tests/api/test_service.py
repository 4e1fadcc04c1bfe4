from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import METRICS_KEY, Podium


def test_it_is_alive_and_ready_and_says_how_graders_are_isolated(podium: Podium) -> None:
    alive = podium.client().get("/healthz")
    ready = podium.client().get("/readyz")

    assert alive.json()["status"] == "ok"
    assert ready.status_code == 200
    assert ready.json()["status"] == "ready"
    assert "network" in ready.json()["isolation"]


def test_its_instruments_are_prometheus_text(podium: Podium, tiny: Path, good: bytes) -> None:
    podium.run(tiny).submit(good)

    text = podium.admin.get("/metrics").text

    assert "podium_submissions_received_total" in text
    # A worker tells of what it grades: see tests/distributed/test_workers.py.
    assert ('podium_submissions_settled_total{state="graded"}' in text) is not podium.queues
    assert "podium_submissions_queued 0.0" in text
    assert "podium_grader_resident_bytes" in text


def test_metrics_need_a_key_of_their_own_or_a_researchers(podium: Podium, tiny: Path) -> None:
    keys = {
        METRICS_KEY: 200, podium.server.key: 200, podium.researcher_key(): 200,
        podium.run(tiny).document["key"]: 403, METRICS_KEY[:-1]: 401, "": 401,
    }  # fmt: skip

    assert {key: podium.client(key).get("/metrics").status_code for key in keys} == keys
    assert podium.client(METRICS_KEY).get("/v1/runs").status_code == 401


def test_metrics_do_not_tell_the_time_of_a_grading(
    podium: Podium, own_tiny: Path, good: bytes
) -> None:
    podium.run(own_tiny).submit(good)

    text = podium.client(METRICS_KEY).get("/metrics").text

    label = f'competition="{own_tiny.name}"'
    mine = [line for line in text.splitlines() if label in line]
    if not podium.queues:  # a worker tells of what it grades
        assert f"podium_grading_seconds_sum{{{label}}} 1.0" in mine
        assert f'podium_grading_seconds_bucket{{{label},le="1.0"}} 1.0' in mine


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("DELETE", "/v1/competitions", 405), ("GET", "/v1/runs/%00", 422)],
)
def test_every_error_is_a_problem_document(
    podium: Podium, method: str, path: str, status: int
) -> None:
    response = podium.admin.request(method, path)

    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert set(problem) >= {"type", "title", "status", "detail", "instance"}
    assert podium.client().get(problem["type"]).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "methods"),
    [
        ("DELETE", "/v1/runs", "GET, HEAD, POST"),
        ("POST", "/v1/runs/run_1", "GET, HEAD, PATCH"),
        ("PUT", "/login", "GET, HEAD, POST"),
        ("GET", "/v1/runs/run_1/validate", "POST"),
    ],
)
def test_all_methods_of_an_address_are_named_where_another_is_used(
    podium: Podium, method: str, path: str, methods: str
) -> None:
    response = podium.admin.request(method, path)

    assert response.status_code == 405
    assert response.headers["Allow"] == methods
    assert response.json()["detail"] == f"This address takes {methods}, not {method}."


@pytest.mark.parametrize(
    ("body", "coding", "words"),
    [
        (gzip.compress(b"{}"), "gzip", "Content-Encoding: gzip. Send its JSON unpacked"),
        ('{"name": "é"}'.encode("latin-1"), "identity", "JSON in UTF-8"),
        (b"[" * 100_000, "identity", "without deep nesting"),
        (b'{"name": 1' + b"0" * 5_000 + b"}", "identity", "endless numbers"),
    ],
    ids=["packed", "latin-1", "nested", "long"],
)
def test_a_body_that_cannot_be_read_is_told_why(
    podium: Podium, body: bytes, coding: str, words: str
) -> None:
    """`There was an error parsing the body` was all that was said."""
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}

    answer = podium.admin.post("/v1/experiments", content=body, headers=headers)

    assert answer.status_code == 400
    assert words in answer.json()["detail"]


def test_a_problems_type_is_a_page(podium: Podium) -> None:
    text = podium.client().get("/problems/quota-exceeded").text

    assert text.startswith("The run has used up its submissions for now")


@pytest.fixture(scope="session")  # the servers take turns, and each would ask again
def kinds() -> list[str]:
    """The names of all problems of a server. Errors of commands alone have no page.

    So a process is asked that has loaded a server only.
    """
    program = (
        "import app.main; from app.api.http.problems import kinds_of_problems\n"
        "print(*(each.slug() for each in kinds_of_problems()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return ran.stdout.split()


def test_every_type_of_problem_has_its_page(podium: Podium, kinds: list[str]) -> None:
    types = {"invalid-submission", *kinds}

    assert len(types) == len(kinds) + 1  # no two share an address
    nobody = podium.client()
    for name in sorted(types):
        assert nobody.get(f"/problems/{name}").status_code == 200, name
    assert {"truncated-body", "method-not-allowed"} <= types
    assert nobody.get("/problems/nothing-like-that").status_code == 404


def test_a_request_keeps_its_id_in_answer_and_log(podium: Podium) -> None:
    response = podium.admin.get("/v1/competitions", headers={"X-Request-Id": "find-me-42"})

    assert response.headers["X-Request-Id"] == "find-me-42"
    deadline = time.monotonic() + 30
    mine: list[dict[str, Any]] = []
    while not mine and time.monotonic() < deadline:  # it is written after the answer
        lines = [json.loads(line) for line in whole_lines(podium.server.log)]
        mine = [line for line in lines if line["request_id"] == "find-me-42"]
    assert [(m["event"], m["status"]) for m in mine] == [("request", 200)]


def whole_lines(log: Path) -> list[str]:
    return log.read_text().rpartition("\n")[0].splitlines()


@pytest.mark.parametrize(("given", "is_kept"), [("a" * 64, True), ("a" * 65, False),
                                                ("a b\tc", False), ("a/b", False)])  # fmt: skip
def test_an_unsafe_request_id_is_replaced(podium: Podium, given: str, is_kept: bool) -> None:
    response = podium.admin.get("/healthz", headers={"X-Request-Id": given})

    assert (response.headers["X-Request-Id"] == given) is is_kept


def test_no_key_is_ever_logged(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    run.submit(good)
    run.client.get(f"/v1/runs/{run.document['key']}")
    podium.client("pod_admin_wrongwrongwrongwrongwrong").get("/v1/runs")

    log = podium.server.log.read_text()

    assert run.document["key"] not in log
    assert podium.server.key not in log
    assert "wrongwrong" not in log


def test_the_openapi_document_names_every_path_with_its_problems(podium: Podium) -> None:
    document = podium.client().get("/openapi.json").json()

    assert "/v1/runs/{run_id}/submissions" in document["paths"]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert "500" in operation["responses"], path
            content = operation["responses"].get("422", {}).get("content", {})
            assert "application/json" not in content, path
