"""A key that ends while its request waits: the file stays, the outcome is not shown."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from app.storage.database.database import Database
from app.storage.database.models import ApiKey
from tests.api.conftest import CSV, Podium, Run
from tests.attacks.conftest import metric
from tests.attacks.test_validation import validators
from tests.factories import good_submission
from tests.processes import below
from tests.sse import follow

SETTINGS = {"outcome_step_seconds": 2.0, "event_heartbeat_seconds": 0.5}
RPC = "/api/v1/competitions.CompetitionApiService"
INVALID = b"id,target\nr1,x\n"
SCORE = "0.738495016"  # so many digits that no time in an answer has them
SLOW = metric(f"time.sleep(1.5)\nreturn {SCORE}", "import time")
End = Callable[[Podium, Run], None]


def revoke(podium: Podium, run: Run) -> None:
    """Revoke the run's key."""
    (key,) = podium.admin.get("/v1/keys", params={"run": run.id}).json()["items"]
    assert podium.admin.delete(f"/v1/keys/{key['id']}").status_code == 200


def archive(podium: Podium, run: Run) -> None:
    """Archive the run, with which its keys open nothing."""
    ended = podium.admin.post(f"/v1/runs/{run.id}/archive", json={"reason": "a test"})
    assert ended.status_code == 200


def expire(podium: Podium, run: Run) -> None:
    """Let the run's keys expire now: in the database, because a lifetime has whole hours."""
    database = Database(f"sqlite:///{podium.server.data_dir}/podium.db")
    with contextlib.closing(database):
        of_run = update(ApiKey).where(ApiKey.run_id == run.id)
        database.write(lambda s: s.execute(of_run.values(expires_at=datetime.now(UTC))) and None)


ENDS = (revoke, archive, expire)


def answer_after(
    podium: Podium, run: Run, end: Callable[[], None], ask: Callable[[], httpx.Response]
) -> httpx.Response:
    """The answer to a request whose key ended once its file was stored."""
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        asked = threads.submit(ask)
        until = time.monotonic() + 10
        while not podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]:
            assert time.monotonic() < until
            time.sleep(0.02)
        end()
        return asked.result()


def disclosed(podium: Podium, run: Run) -> int:
    """How much the exposure ledger has."""
    return len(podium.admin.get(f"/v1/runs/{run.id}/exposure").json()["disclosed"])


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("feedback", "is_valid"), [("public", True), ("validity", False)])
def test_an_agents_key(podium: Podium, end: End, feedback: str, is_valid: bool) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback=feedback)
    body = good_submission(folder) if is_valid else b"id,target\nr1,x\n"

    answer = answer_after(podium, run, lambda: end(podium, run), lambda: run.submit(body))

    shown = answer.json()
    assert (answer.status_code, shown["state"]) == (202, "queued")
    assert (shown["grade"], shown["problem"], shown["settled_at"]) == (None, None, None)
    assert run.client.get(f"/v1/submissions/{shown['id']}").status_code in (401, 403)
    assert disclosed(podium, run) == 0
    known = podium.admin.get(f"/v1/submissions/{shown['id']}").json()["state"]
    assert known == ("graded" if is_valid else "rejected")


@contextlib.contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    """These processes do nothing before the end of this context."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("path", ["/v1/runs/{}/validate", "/validate"])
def test_a_key_whose_file_is_checked(podium: Podium, end: End, path: str) -> None:
    run = podium.run(podium.competition(), feedback="full")
    sent: dict[str, Any] = {"files": {"file": ("a.csv", INVALID)}}
    if path != "/validate":
        sent = {"content": INVALID, "headers": CSV}
    arrived = podium.server.data_dir / "blobs" / "uploads"

    with concurrent.futures.ThreadPoolExecutor(1) as threads, stopped(validators(podium.server)):
        asked = threads.submit(run.client.post, path.format(run.id), **sent)
        until = time.monotonic() + 10
        while [file.stat().st_size for file in arrived.iterdir()] != [len(INVALID)]:
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.2)  # the key is not looked up for the file any more
        end(podium, run)
    answer = asked.result()

    assert answer.status_code == (403 if end is archive else 401)
    assert "rows" not in answer.text
    assert podium.admin.get(f"/v1/runs/{run.id}/exposure").json()["totals"]["validations"] == 0


@pytest.mark.parametrize("end", ENDS)
def test_a_key_that_follows_its_run(podium: Podium, end: End) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    sent = f"/v1/runs/{run.id}/submissions"
    with follow(run.client, run.id) as events:
        end(podium, run)
        answer = podium.admin.post(sent, content=good_submission(folder), headers=CSV)
        if end is archive:
            assert answer.status_code == 202
        assert events.rest() == []
    assert disclosed(podium, run) == 0


def test_a_key_of_kaggles_client(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    body, name = b"id,target\nr1,x\n", {"competitionName": folder.name}
    announced = {**name, "contentLength": len(body), "fileName": "a.csv"}
    started = run.client.post(f"{RPC}/StartSubmissionUpload", json=announced).json()
    assert run.client.put(started["createUrl"], content=body).status_code == 200
    call = {**name, "blobFileTokens": started["token"]}

    answer = answer_after(
        podium,
        run,
        lambda: revoke(podium, run),
        lambda: run.client.post(f"{RPC}/CreateSubmission", json=call),
    )

    assert (answer.status_code, "valid submission" in answer.text) == (200, False)


@pytest.mark.parametrize(("form", "status"), [("podium", 202), ("mle-bench", 503)])
def test_a_harnesss_key(podium: Podium, form: str, status: int) -> None:
    folder = podium.competition(metric_py=SLOW, leaderboard=None, usage=None)
    run = podium.run(folder)
    experiment = run.document["experiment"]
    harness = podium.client(podium.harness_key(experiment))
    keys = podium.admin.get("/v1/keys", params={"role": "harness", "limit": 1000}).json()["items"]
    (key,) = [one["id"] for one in keys if one["experiment"] == experiment]

    answer = answer_after(
        podium,
        run,
        lambda: podium.admin.delete(f"/v1/keys/{key}").raise_for_status() and None,
        lambda: harness.post(
            f"/v1/competitions/{folder.name}/grade",
            params={"format": form},
            content=good_submission(folder),
            headers=CSV,
        ),
    )

    assert (answer.status_code, SCORE in answer.text) == (status, False)
    assert disclosed(podium, run) == 0


def test_a_researchers_key_while_noise_is_estimated(podium: Podium) -> None:
    folder = podium.competition(rows=2000)
    sent = podium.run(folder).submit(good_submission(folder, shift=0.25)).json()["id"]
    made = podium.admin.post("/v1/keys", json={"role": "researcher", "name": "ends"}).json()
    reader = podium.client(made["key"])
    template = [one.pid for one in below(podium.server.process.pid, "podium-template", deep=False)]

    with concurrent.futures.ThreadPoolExecutor(1) as threads, stopped(template):
        asked = threads.submit(reader.get, f"/v1/submissions/{sent}/uncertainty")
        time.sleep(0.5)  # the process that estimates is not started before the end
        podium.admin.delete(f"/v1/keys/{made['id']}").raise_for_status()

    assert asked.result().status_code == 401
