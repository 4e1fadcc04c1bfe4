"""A server is killed while harnesses grade: a repeated call is the same attempt."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import packed
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer

KILLS, FILES, CLIENTS = 3, 60, 6
UNTIL_SECONDS = 120


def test_no_attempt_is_doubled_when_the_server_is_killed(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data").start()
    folder = write_competition(tmp_path / "crash", rows=500)
    with server.client() as admin:
        archive = {"archive": ("a.tar.gz", packed(folder))}
        assert admin.post("/v1/competitions", files=archive).status_code == 201
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        body = {"role": "harness", "experiment": "e"}
        key = admin.post("/v1/keys", json=body).json()["key"]
    bodies = [good_submission(folder, shift=0.001 * (n + 1)) for n in range(FILES)]
    failed = threading.Event()

    def kill() -> None:
        for pause in (0.3, 0.5, 0.2)[:KILLS]:
            time.sleep(pause)
            server.kill()
            server.start()

    def graded(number: int) -> dict[str, object]:
        """The report, by the call that a harness repeats until it has an answer."""
        deadline = time.monotonic() + UNTIL_SECONDS
        while time.monotonic() < deadline and not failed.is_set():
            try:
                with server.client(key) as client:
                    answer = client.post(
                        "/v1/competitions/crash/grade",
                        params={"seed": number % 5, "attempt": number},
                        content=bodies[number],
                        headers={"Content-Type": "text/csv", "Idempotency-Key": f"n{number}"},
                    )
            except httpx.TransportError:
                failures.append(number)
                time.sleep(0.05)
                continue
            if answer.status_code == 200:
                found: dict[str, object] = answer.json()
                return found
            assert answer.status_code in (202, 503), answer.text
            time.sleep(0.05)
        raise AssertionError(f"file {number} was not graded")

    failures: list[int] = []
    killing = threading.Thread(target=kill)
    killing.start()
    with ThreadPoolExecutor(CLIENTS) as clients:
        reports = list(clients.map(graded, range(FILES)))
    killing.join()

    assert failures, "no call was cut off, so nothing was tested"
    assert len({report["id"] for report in reports}) == FILES
    for number, report in enumerate(reports):
        assert report["score"] == pytest.approx(0.001 * (number + 1), rel=1e-9)
    with server.client() as admin:
        runs = admin.get("/v1/runs", params={"experiment": "e"}).json()["items"]
        stored = [
            one["id"]
            for run in runs
            for one in admin.get(f"/v1/runs/{run['id']}/submissions?limit=1000").json()["items"]
        ]
    assert len(runs) == 5
    assert sorted(stored) == sorted(str(report["id"]) for report in reports)
    assert server.stop() == 0
