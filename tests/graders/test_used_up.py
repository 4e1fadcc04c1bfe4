"""A job whose process the system cannot start has to wait; the file and its run are not blamed."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app.errors import Unavailable
from app.graders.messages.results import GraderFault
from app.grading.graded import Graded
from tests.attacks.test_hostile_metric import SEND
from tests.graders.pool import FolderPool
from tests.processes import below

METRIC = "def score(answers, submission):\n    return 0.5\n"
NO_FORK = """
import errno, os

def fork():
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

os.fork = fork
"""


@pytest.fixture
def custom() -> Iterator[FolderPool]:
    with FolderPool(processes=1, seconds=20, memory_mb=400, cache_mb=16) as pool:
        pool.warm_up()
        yield pool


def give_no_more_files(pid: int) -> tuple[int, int]:
    """Let a process open no more files, which a new process needs. Returns its limits before."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, hard))


def end_all(starter: psutil.Process) -> None:
    """Kill the process of the last job, and the next one if it was begun before the limit."""
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < 0.3:
        alive = below(starter.pid, deep=False)
        for one in alive:
            one.kill()
        quiet_since = time.monotonic() if alive else quiet_since
        time.sleep(0.02)


def test_a_grader_that_cannot_be_forked_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: Path, tiny_file: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_FORK)
    path = f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"
    monkeypatch.setattr("app.graders.template.LIBRARIES", {"PYTHONPATH": path})

    with (
        FolderPool(processes=1, seconds=20, memory_mb=400, cache_mb=16) as pool,
        pytest.raises(Unavailable, match="Resource temporarily unavailable"),
    ):
        pool.grade(tiny, tiny_file).result(60)


@pytest.mark.parametrize("whose", ["the grader", "a competition", "a job"])
def test_a_process_for_a_metric_that_cannot_be_started_is_waited_for(
    custom: FolderPool, with_metric, whose: str
) -> None:
    first, second = with_metric(METRIC), with_metric(METRIC)
    assert isinstance(custom.grade(*first).result(60), Graded)
    (grader,) = custom.pids("custom")
    (of_competitions,) = psutil.Process(grader).children()
    limited, asked = of_competitions.pid, second
    if whose == "the grader":
        limited = grader
    if whose == "a job":
        ((starter,),) = [one.children() for one in of_competitions.children()]
        limited, asked = starter.pid, first
    before = give_no_more_files(limited)
    if whose == "a job":
        end_all(starter)

    with pytest.raises(Unavailable, match="No process can be started"):
        custom.grade(*asked).result(60)

    resource.prlimit(limited, resource.RLIMIT_NOFILE, before)
    assert isinstance(custom.grade(*asked).result(60), Graded)
    assert custom.pids("custom") == (grader,)


@pytest.mark.parametrize("kind", ["fault", "not_started"])
def test_a_metric_cannot_state_that_its_process_was_not_started(
    custom: FolderPool, with_metric, kind: str
) -> None:
    told = {
        "fault": '{"type":"fault","kind":"not_started","place":"x"}',
        "not_started": '{"type":"not_started","place":"x"}',
    }[kind]
    message = f'{{"message":{told}}}'.encode()
    metric = f"{SEND}\ndef score(a, b):\n    send({message!r})\n    time.sleep(60)\n"

    fault = custom.grade(*with_metric(metric)).result(60)

    assert isinstance(fault, GraderFault)
    assert fault.kind == "crashed"
