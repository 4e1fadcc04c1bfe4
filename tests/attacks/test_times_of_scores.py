"""An agent with a clock: the time of an outcome does not tell the score."""

from __future__ import annotations

import concurrent.futures
import contextlib
import random
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from tests.api.conftest import CSV, Podium, Run
from tests.server import PodiumServer

STEP = 0.3  # long enough for the files of all agents, which are sent at the same moments
AGENTS = 6
ROUNDS = 100  # of AGENTS files, half of them near the answers


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


def test_the_time_of_an_answer_does_not_tell_the_score(tmp_path: Path) -> None:
    """300 near and 300 far files. The same clock tells them apart where the policy shows scores.

    If a machine does not grade the files of all agents within a step, far files are more often
    shown a step later. So the test is repeated with longer steps.
    """
    for step in (STEP, 4 * STEP):
        times, is_hidden = times_of_answers(tmp_path / f"{step}", step)
        if is_hidden:
            break
    assert is_hidden, (auc(times), auc(in_steps(times, step)))
    assert np.median([seconds for _, seconds in times]) > step


def times_of_answers(directory: Path, step: float) -> tuple[list[tuple[bool, float]], bool]:
    """Times of answers to near and far files, and whether they do not tell them apart."""
    server = PodiumServer(directory / "data", graders=2, outcome_step_seconds=step).start()
    with contextlib.ExitStack() as clients:
        clients.callback(server.stop)
        podium = Podium(server, directory / "folders", clients)
        folder, near, far = text_competition(podium)
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
    # The standard error of an AUC of equal times is 0.024 here: four of them.
    return times, all(0.4 <= auc(one) <= 0.6 for one in (times, in_steps(times, step)))


def in_steps(times: list[tuple[bool, float]], step: float) -> list[tuple[bool, float]]:
    return [(is_near, round(seconds / step)) for is_near, seconds in times]
