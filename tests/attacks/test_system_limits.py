"""A server at a limit of the system: an outage that passes, and no verdict on any file."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import CSV, Podium
from tests.attacks.conftest import metric
from tests.factories import good_submission
from tests.processes import below
from tests.server import PodiumServer

SLOW = metric("time.sleep(1.0)\nreturn 0.25", "import time")
SETTINGS = {"database_patience_seconds": 0.5}
RPC = "/api/v1/competitions.CompetitionApiService"


@contextlib.contextmanager
def limited(server: PodiumServer, kind: int, most: int) -> Iterator[None]:
    """A limit of the system for the running server."""
    pid = server.process.pid
    before = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, kind, before)


@contextlib.contextmanager
def no_more_files(server: PodiumServer) -> Iterator[None]:
    """The server can open no file while this lasts. Its open connections stay."""
    pid = server.process.pid
    used = {int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir()}
    lowest_free = min(set(range(len(used) + 1)) - used)
    with limited(server, resource.RLIMIT_NOFILE, lowest_free):
        yield


def test_a_request_is_told_to_come_again(podium: Podium) -> None:
    folder = podium.competition()
    run, good = podium.run(folder, feedback="full"), good_submission(folder)
    sent = run.submit(good).json()["id"]
    announced = {"competitionName": folder.name, "contentLength": len(good), "fileName": "a.csv"}
    upload = run.client.post(f"{RPC}/StartSubmissionUpload", json=announced).json()["createUrl"]
    one_more, form = good + b"\n", {"file": ("a.csv", good)}
    kept = f"/v1/submissions/{sent}/file"
    public = f"/v1/competitions/{folder.name}/files/sample_submission.csv"
    page = {"Accept": "text/html"}
    requests: list[tuple[Callable[[], httpx.Response], int]] = [
        (lambda: run.validate(good), 200),
        (lambda: run.client.post("/validate", files=form), 200),
        (lambda: run.submit(one_more), 201),
        (lambda: run.client.get(kept), 200),
        (lambda: run.client.get(kept, headers={"Range": "bytes=1-5"}), 206),
        (lambda: run.client.get(public), 200),
        (lambda: run.client.put(upload, content=good), 200),
        (lambda: podium.send_folder(folder), 200),
        (lambda: podium.admin.get(f"/competitions/{folder.name}", headers=page), 200),
    ]
    for path in (kept, public):  # so that the files need not be compared with their digests again
        assert run.client.get(path).status_code == 200
    for client in (run.client, podium.admin):  # their connections are open, and no file is
        client.get(f"/v1/runs/{run.id}")

    with no_more_files(podium.server):
        answers = [ask() for ask, _ in requests]

    told = [(one.status_code, one.headers.get("Retry-After")) for one in answers]
    of_kaggle = (503, None)  # its client would sleep on a Retry-After
    assert told == [(503, "5")] * 6 + [of_kaggle] + [(503, "5")] * 2
    for one in answers:
        shown = one.json()
        assert "no more open files" in shown.get("detail", shown.get("message"))
    assert answers[1].json()["error"] == answers[0].json()["title"]
    assert len(run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]) == 1
    assert [ask().status_code for ask, _ in requests] == [status for _, status in requests]


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_grading_waits(podium: Podium, is_changed: bool) -> None:
    """The second file of a run is sent to a grader when the first is graded.

    If the competition's files have another time then, the server reads them again.
    """
    folder = podium.competition(metric_py=SLOW, leaderboard=None, usage=None)
    run, good = podium.run(folder), good_submission(folder)
    sent = f"/v1/runs/{run.id}/submissions"
    for file in (good, good + b"\n"):
        assert run.client.post(sent, content=file, headers=CSV).status_code == 202

    with no_more_files(podium.server):
        if is_changed:
            for path in (podium.server.data_dir / "competitions" / folder.name).rglob("*.csv"):
                os.utime(path)
        time.sleep(4)  # enough for all attempts
    states: list[str] = []
    until = time.monotonic() + 30
    while states != ["graded", "graded"] and time.monotonic() < until:
        time.sleep(0.1)
        states = [one["state"] for one in podium.admin.get(sent).json()["items"]]

    assert states == ["graded", "graded"]
    faults = podium.admin.get("/v1/faults").json()["items"]
    assert [one for one in faults if one["competition"] == folder.name] == []


def test_a_grading_waits_for_a_grader_that_cannot_be_started(tmp_path: Path) -> None:
    with contextlib.ExitStack() as clients:
        server = PodiumServer(tmp_path / "data", graders=1, grading_attempts=1).start()
        clients.callback(server.kill)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        first, waiting = podium.run(folder), podium.run(folder)
        (grader,) = below(server.process.pid, "podium-grade")
        grader.suspend()
        for run in (first, waiting):
            sent = f"/v1/runs/{run.id}/submissions"
            answer = run.client.post(sent, content=good_submission(folder), headers=CSV)
            assert answer.status_code == 202

        while (
            podium.admin.get(f"/v1/runs/{waiting.id}/submissions").json()["items"][0]["state"]
            == "queued"
        ):
            time.sleep(0.05)
        with no_more_files(server):
            grader.kill()
            time.sleep(6)  # enough for all attempts to start another
        answer = waiting.submit(good_submission(folder))
        (state, _) = [one["state"] for one in podium.admin.get(sent).json()["items"]]

    assert (answer.json()["state"], state) == ("graded", "graded")


def test_a_disk_that_takes_no_more_is_not_told_as_a_lock(podium: Podium) -> None:
    run = podium.run(folder := podium.competition())
    with limited(podium.server, resource.RLIMIT_FSIZE, 4096):
        answer = run.submit(good_submission(folder))

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert answer.json()["detail"] == (
        "The disk of the database cannot be read or written; try again."
    )
    assert run.submit(good_submission(folder)).status_code == 201
