"""Graders estimate the noise of scores, in a process that no submission waits for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.domain.leaderboard import Leaderboard
from app.graders.messages.results import GraderFault, Rejected
from app.resampling.estimate import estimate
from app.resampling.uncertainty import OWN_METRIC, Uncertainty
from tests.factories import BOARD, good_submission, write_competition, write_submission
from tests.graders.conftest import wait_until
from tests.graders.pool import FolderPool

USAGE = ("Private", "Public", "Ignored", "Private")


def noisy_file(folder: Path, file: Path) -> Path:
    """Predictions that are off by a random number in each row, in reverse order of the ids."""
    answers = pd.read_csv(folder / "private" / "answers.csv")
    rng = np.random.default_rng(1)
    answers["target"] += rng.normal(scale=0.3, size=len(answers))
    answers[["id", "target"]][::-1].to_csv(file, index=False)
    return file


def test_the_noise_is_that_of_the_private_rows(pool: FolderPool, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "noisy" / "v1", rows=400, usage=USAGE)
    file = noisy_file(folder, tmp_path / "noisy.csv")

    found = pool.uncertainty(folder, file).result(60)

    answers = pd.read_csv(folder / "private" / "answers.csv")
    sent = pd.read_csv(file).set_index("id").loc[answers["id"], "target"].to_numpy()
    is_private = (answers["Usage"] == "Private").to_numpy()
    board = Leaderboard.full(BOARD, higher_is_better=False)
    expected = estimate(
        "root_mean_squared_error", {}, answers["target"].to_numpy()[is_private],
        sent[is_private], board,
    )  # fmt: skip
    assert isinstance(found, Uncertainty)
    assert (found.rows, found.resamples) == (200, 1000)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.medals == expected.medals


def test_a_metric_py_is_not_run(pool: FolderPool, tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    text = f"open({str(marker)!r}, 'w').close()\ndef score(answers, submission):\n    return 0.0\n"
    folder = write_competition(tmp_path / "own" / "v1", metric_py=text, leaderboard=None)
    file = write_submission(tmp_path / "own.csv", good_submission(folder))

    found = pool.uncertainty(folder, file).result(60)

    assert isinstance(found, Uncertainty)
    assert (found.reason, found.standard_error, found.rows) == (OWN_METRIC, None, None)
    assert not marker.exists()


def test_a_changed_file_is_a_fault_and_a_bad_one_is_refused(
    pool: FolderPool, tiny: Path, tiny_file: Path
) -> None:
    bad = write_submission(tiny_file.with_name("bad.csv"), b"id,target\nr1,x\n")

    assert isinstance(pool.uncertainty(tiny, bad).result(60), Rejected)
    fault = pool.uncertainty(tiny, tiny_file, "0" * 64).result(60)
    assert isinstance(fault, GraderFault)
    assert fault.kind == "storage"


# A pool in a process of its own, whose niceness a test chooses: nobody gets a lower one back.
IN_A_NICE_PROCESS = """
import os, sys
from pathlib import Path
from tests.graders.conftest import wait_until
from tests.graders.pool import FolderPool

with FolderPool(processes=1, seconds=60, memory_mb=400, cache_mb=64) as pool:
    pool.warm_up()
    graders = set(pool.pids("grade"))
    *_, asked = [pool.uncertainty(*map(Path, sys.argv[1:])) for _ in range(20)]
    wait_until(lambda: set(pool.pids("grade")) - graders)
    (new,) = set(pool.pids("grade")) - graders
    of = lambda pid: os.getpriority(os.PRIO_PROCESS, pid)
    wait_until(lambda: of(new) == 19 or asked.done())
    print(max(map(of, graders)), of(new))
    asked.result(60)
"""


def test_its_process_stands_back_in_a_server_that_does_so_itself(
    tiny: Path, tiny_file: Path
) -> None:
    more = max(0, 10 - os.getpriority(os.PRIO_PROCESS, 0))
    done = subprocess.run(
        ["nice", "-n", str(more), sys.executable, "-c", IN_A_NICE_PROCESS, tiny, tiny_file],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip

    graders, its = map(int, done.stdout.split())
    assert (min(graders, 15), its) == (15, 19)


def niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def test_its_process_stands_back_and_ends_when_nobody_asks(
    pool: FolderPool, tiny: Path, tiny_file: Path
) -> None:
    wait_until(lambda: len(pool.pids("grade")) == 2)  # that of an earlier test has ended
    graders = set(pool.pids("grade"))
    *_, asked = [pool.uncertainty(tiny, tiny_file) for _ in range(20)]  # one may end too soon
    wait_until(lambda: bool(set(pool.pids("grade")) - graders))

    (new,) = set(pool.pids("grade")) - graders
    wait_until(lambda: niceness(new) > max(map(niceness, graders)))
    assert isinstance(asked.result(60), Uncertainty)
    wait_until(lambda: set(pool.pids("grade")) == graders)
