"""An agent with a clock: the time of an outcome does not tell the score."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import random
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission
from tests.processes import below
from tests.server import PodiumServer
from tests.sse import follow

STEP = 0.3  # long enough for the files of all agents, which are sent at the same moments
AGENTS = 6
ROUNDS = 100  # of AGENTS files, half of them near the answers
SLOW = "import time\n\ndef score(answers, submission):\n    time.sleep({})\n    return 0.0\n"
SETTINGS = {
    "graders": 2,
    "outcome_step_seconds": STEP,
    "event_heartbeat_seconds": 0.7,
}  # of the server


def texts(rows: int) -> tuple[list[str], list[str]]:
    """Long texts, and others as long that have little in common with them.

    To compare two takes the square of their length, to read them their length: so few, long texts
    show the difference best.
    """
    chance = random.Random(7)
    return tuple(  # type: ignore[return-value]
        ["".join(chance.choices("abcdefghij", k=1600)) for _ in range(rows)] for _ in range(2)
    )


def as_csv(values: list[str]) -> bytes:
    lines = [f"r{row},{value}" for row, value in enumerate(values, start=1)]
    return ("\n".join(["id,target", *lines]) + "\n").encode()


@pytest.fixture
def text_competition(podium: Podium) -> tuple[Path, bytes, bytes]:
    """A competition whose metric is quick where texts are alike; the answers, and a far file."""
    truth, others = texts(60)
    folder = podium.folder(
        rows=60, kind="text", metric="mean_levenshtein_error", usage=None, leaderboard=None
    )
    (folder / "private/answers.csv").write_bytes(as_csv(truth))
    assert podium.send_folder(folder).status_code == 201
    return folder, as_csv(truth), as_csv(others)


def seconds_of(run: Run, body: bytes) -> float:
    started = time.perf_counter()
    answer = run.client.post(
        f"/v1/runs/{run.id}/submissions", content=body, headers={**CSV, "Prefer": "wait=30"}
    )
    seconds = time.perf_counter() - started
    assert (answer.status_code, answer.json()["state"]) == (201, "graded")
    return seconds


def series(run: Run, near: bytes, far: bytes, rounds: int) -> list[tuple[bool, float]]:
    """Times of near files and as many far ones, in an order of this run alone.

    By turns, all agents would send near files in the same rounds. The times of a round are alike,
    so the standard error of the AUC was twice as large as that of 600 single times.
    """
    order = random.Random(run.id).sample([True, False] * (rounds // 2), rounds)
    return [(is_near, seconds_of(run, near if is_near else far)) for is_near in order]


def auc(times: list[tuple[bool, float]]) -> float:
    return float(roc_auc_score([is_near for is_near, _ in times], [-s for _, s in times]))


def test_the_time_of_an_answer_does_not_tell_the_score(
    podium: Podium, text_competition: tuple[Path, bytes, bytes]
) -> None:
    """300 near and 300 far files. The same clock tells them apart where the policy shows scores."""
    folder, near, far = text_competition
    assert len(near) == len(far)
    agents = [
        podium.run(folder, feedback=policy) for policy in ("validity", "public") * (AGENTS // 2)
    ]

    with concurrent.futures.ThreadPoolExecutor(AGENTS) as together:
        found = together.map(lambda run: series(run, near, far, ROUNDS), agents)
        times = [one for each in found for one in each]
    known = series(podium.run(folder, feedback="full"), near, far, 80)

    quick, slow = (np.quantile([s for n, s in known if n is near], 0.25) for near in (True, False))
    assert quick < slow - 0.001  # a clock can tell
    steps = [(is_near, round(seconds / STEP)) for is_near, seconds in times]
    # The standard error of an AUC of equal times is 0.024 here: four of them.
    assert 0.4 <= auc(steps) <= 0.6
    assert 0.4 <= auc(times) <= 0.6
    assert np.median([seconds for _, seconds in times]) > STEP


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
