"""An agent with a clock: the times of outcomes, changes and heartbeats tell it nothing."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.processes import below
from tests.server import PodiumServer
from tests.sse import follow

STEP = 0.3
SLOW = "import time\n\ndef score(answers, submission):\n    time.sleep({})\n    return 0.0\n"
SETTINGS = {
    "graders": 2,
    "outcome_step_seconds": STEP,
    "event_heartbeat_seconds": 0.7,
}  # of the server


@pytest.mark.parametrize("policy", ["validity", "public"])
def test_an_outcome_appears_at_set_moments_only(podium: Podium, policy: str) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback=policy)
    sent = run.submit(good_submission(folder), Prefer="return=minimal").json()
    address = f"/v1/submissions/{sent['id']}"

    with follow(run.client, run.id) as events:
        states = [state for _, state in events.until("graded")]
        seen = run.client.get(address).json()
    researcher = podium.admin.get(address).json()

    assert states in (["queued", "graded"], ["graded"])  # never when a grader began
    assert passed(seen) % STEP == pytest.approx(0, abs=1e-5) or passed(seen) % STEP > STEP - 1e-5
    assert passed(researcher) < passed(seen)
    if policy == "public":
        assert seen["grade"]["graded_at"] == seen["settled_at"]


def test_an_outcome_is_hidden_until_then(podium: Podium) -> None:
    folder = podium.competition(metric_py=SLOW.format(1.9 * STEP), leaderboard=None)
    run = podium.run(folder)
    sent = run.submit(good_submission(folder), Prefer="return=minimal").json()
    address = f"/v1/submissions/{sent['id']}"

    seen = []
    while not seen or seen[-1][0] == "queued":
        shown = run.client.get(address).json()
        seen.append((shown["state"], shown["settled_at"] is None))
    settled = podium.admin.get(address).json()["settled_at"]

    assert set(seen) == {("queued", True), ("graded", False)}
    assert datetime.fromisoformat(shown["settled_at"]) > datetime.fromisoformat(settled)


def test_a_quota_and_a_choice_do_not_tell_earlier(tmp_path: Path) -> None:
    """A rejected file counts until the run may know that it was rejected."""
    server = PodiumServer(tmp_path / "data", graders=1, outcome_step_seconds=6).start()
    with contextlib.ExitStack() as clients:
        clients.callback(server.kill)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run = podium.run(folder, limits={"submissions_total": 1})
        sent = run.submit(b"id,target\nr1,1\n", Prefer="return=minimal").json()
        settle(podium, run)
        second = run.submit(good_submission(folder), Prefer="return=minimal")
        choice = {"submission": sent["id"]}
        chosen = run.client.put(f"/v1/runs/{run.id}/selected", json=choice)

        assert (second.status_code, chosen.status_code) == (429, 200)
        with follow(run.client, run.id) as events:
            events.until("rejected")
        assert run.submit(good_submission(folder), Prefer="return=minimal").status_code == 202
        assert run.client.put(f"/v1/runs/{run.id}/selected", json=choice).status_code == 409


def settle(podium: Podium, run: Run) -> None:
    """Wait until the file is graded, as an admin sees it."""
    while podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"][0]["state"] in (
        "queued", "grading",
    ):  # fmt: skip
        time.sleep(0.05)


def test_a_change_that_is_not_shown_does_not_move_the_heartbeat(podium: Podium) -> None:
    """A grading that begins and ends between two heartbeats leaves them where they were."""
    folder = podium.competition(metric_py=SLOW.format(0.3), leaderboard=None)
    run = podium.run(folder, feedback="none")
    run.submit(good_submission(folder), Prefer="return=minimal")
    came = []
    with run.client.stream("GET", f"/v1/runs/{run.id}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("event:"):
                started = time.perf_counter()
            elif line.startswith(":"):
                came.append(time.perf_counter() - started)
                if len(came) == 2:
                    break

    assert came == pytest.approx([0.7, 1.4], abs=0.2)


def test_changes_that_are_not_shown_delay_no_heartbeat(tmp_path: Path) -> None:
    """Files are graded one after another; each end came up to 20 ms and a reading in between."""
    server = PodiumServer(tmp_path / "data", graders=1, event_heartbeat_seconds=0.02).start()
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", stack)
        folder = podium.competition(metric_py=SLOW.format(0.03), leaderboard=None)
        run = podium.run(folder, feedback="none")
        for _ in range(50):
            run.submit(good_submission(folder), Prefer="return=minimal")
        with run.client.stream("GET", f"/v1/runs/{run.id}/events") as stream:
            came = (time.perf_counter() for line in stream.iter_lines() if line.startswith(":"))
            first, *_, last = itertools.islice(came, 101)

    assert last - first == pytest.approx(100 * 0.02, abs=0.2)


def passed(shown: dict[str, str]) -> float:
    settled, received = (datetime.fromisoformat(shown[n]) for n in ("settled_at", "received_at"))
    return (settled - received).total_seconds()


def test_readyz_does_not_show_when_a_grading_ends(podium: Podium) -> None:
    folder = podium.competition(metric_py=SLOW.format(0.5), leaderboard=None, usage=None)
    run = podium.run(folder, feedback="none")
    with polled(podium) as seen:
        for _ in range(2):
            run.submit(good_submission(folder), Prefer="wait=0")
            time.sleep(1.5)
            assert httpx.get(f"{podium.server.url}/healthz").status_code == 200  # a connection more

    assert len(seen) == 1


def test_readyz_does_not_show_that_a_grader_died(podium: Podium) -> None:
    """A file that ends its grader is failed, and the policy may hide that from the agent."""
    for _ in range(3):
        grader, *_ = below(podium.server.process.pid, "podium-grade")
        with polled(podium) as seen:
            grader.kill()
            time.sleep(1.5)  # another one is started within a second

        assert {(status, graders) for status, graders, *_ in seen} == {(200, "ok")}


@contextlib.contextmanager
def polled(podium: Podium) -> Iterator[set[tuple[Any, ...]]]:
    """What a stranger sees who asks /readyz again and again meanwhile."""
    seen: set[tuple[Any, ...]] = set()
    ended = threading.Event()

    def poll() -> None:
        with httpx.Client(base_url=podium.server.url) as stranger:
            while not ended.is_set():
                answer = stranger.get("/readyz")
                found = answer.json()
                seen.add((answer.status_code, found["graders"], *found["connections"].values()))

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()
