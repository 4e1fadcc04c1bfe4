"""A run's clock over HTTP: its first request, `start`, and the times that are shown."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import CSV, Podium, Run


def shown(podium: Podium, run: Run) -> dict[str, Any]:
    document: dict[str, Any] = podium.admin.get(f"/v1/runs/{run.id}").json()
    return document


def test_a_new_run_has_not_started_and_researchers_do_not_start_it(
    podium: Podium, tiny: Path
) -> None:
    run = podium.run(tiny)

    assert run.document["started_at"] is None
    podium.admin.get(f"/v1/runs/{run.id}/submissions")
    podium.admin.patch(f"/v1/runs/{run.id}", json={"usage": {"seconds": 1}})
    assert shown(podium, run)["started_at"] is None


FIRST_REQUESTS = [
    ("GET", "/v1/competitions"),
    ("GET", "/v1/runs/run_of_another"),
    ("GET", "/v1/competitions?no=such"),
    ("POST", "/v1/runs/{id}/submissions"),
    ("POST", "/v1/runs/{id}/validate"),
    ("GET", "/v1/runs/{id}/submissions"),
    ("POST", "/validate"),
    ("POST", "/api/v1/competitions.CompetitionApiService/ListCompetitions"),
    ("POST", "/api/v1/security.OAuthService/IntrospectToken"),
]


@pytest.mark.parametrize(("method", "path"), FIRST_REQUESTS)
def test_the_first_request_of_the_key_starts_the_clock(
    podium: Podium, tiny: Path, method: str, path: str
) -> None:
    run = podium.run(tiny)
    body = {"token": run.document["key"]} if "Introspect" in path else {}

    run.client.request(method, path.format(id=run.id), json=body)

    started = shown(podium, run)["started_at"]
    assert started is not None
    assert started > run.document["created_at"]
    run.client.get("/v1/competitions")
    assert shown(podium, run)["started_at"] == started


def test_a_request_without_a_key_starts_nothing(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)

    podium.client("pod_run_wrong").get(f"/v1/runs/{run.id}")
    podium.client().post(f"/v1/runs/{run.id}/start")

    assert shown(podium, run)["started_at"] is None


def test_the_first_requests_of_many_threads_start_one_clock(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    address = f"/v1/runs/{run.id}"

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: run.client.get(address).json()["started_at"], range(24)))

    assert None not in found
    assert len(set(found)) == 1


def test_start_is_for_researchers_and_the_runs_own_key_and_counts_once(
    podium: Podium, tiny: Path
) -> None:
    run, other = podium.run(tiny), podium.run(tiny)
    researcher = podium.client(podium.researcher_key())

    first = researcher.post(f"/v1/runs/{run.id}/start")
    again = run.client.post(f"/v1/runs/{run.id}/start")
    foreign = other.client.post(f"/v1/runs/{run.id}/start")

    assert (first.status_code, again.status_code, foreign.status_code) == (200, 200, 404)
    assert first.json()["started_at"] == again.json()["started_at"] is not None
    assert researcher.post("/v1/runs/run_none/start").status_code == 404


def test_a_run_that_was_closed_before_it_started_cannot_start(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})

    run.client.get(f"/v1/runs/{run.id}")
    refused = podium.admin.post(f"/v1/runs/{run.id}/start")

    assert refused.status_code == 409
    assert "before it started" in refused.json()["detail"]
    assert shown(podium, run)["started_at"] is None


def test_time_that_passed_before_the_start_costs_nothing(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, limits={"hours": 0.0003})  # 1.08 seconds
    time.sleep(1.5)

    submission = run.submit(good)

    assert submission.status_code == 201, submission.text
    assert submission.json()["run_seconds"] < 1.0


def test_a_submission_of_a_researcher_starts_the_clock(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)

    sent = podium.admin.post(f"/v1/runs/{run.id}/submissions", content=good, headers=CSV)

    assert sent.json()["run_seconds"] == 0
    assert shown(podium, run)["started_at"] == sent.json()["received_at"]


def test_results_show_both_times(podium: Podium, own_tiny: Path, good: bytes) -> None:
    run = podium.run(own_tiny)
    run.submit(good)
    name = run.document["experiment"]
    started = shown(podium, run)["started_at"]

    answers = [
        podium.admin.get(f"/v1/competitions/{own_tiny.name}/results").json()["items"][0],
        podium.admin.get(f"/v1/experiments/{name}/outcomes").json()["items"][0],
        podium.admin.get(f"/v1/runs/{run.id}/trajectory").json(),
    ]
    table = podium.admin.get(
        f"/v1/competitions/{own_tiny.name}/results", headers={"Accept": "text/csv"}
    ).text

    for answer in answers:
        assert datetime.fromisoformat(answer["created_at"]) < datetime.fromisoformat(started)
        assert answer["started_at"] == started
    assert datetime.fromisoformat(started).isoformat() in table
