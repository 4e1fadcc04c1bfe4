"""A metric that misbehaves, over HTTP: the grading fails, and the agent loses nothing by it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import good_submission, write_competition
from tests.server import PodiumServer
from tests.system.test_faults import run_on

# A metric of the competition's own, harmless when it is imported and switched on by the file.
SWITCH = "int(submission['target'].iloc[0])"
HOSTILE = f"""
import os

def score(answers, submission):
    print("x" * 1000)
    what = {SWITCH}
    if what == 101:
        raise ValueError(str(answers['target'].tolist()))
    if what == 102:
        while True:
            pass
    if what == 103:
        hoard = [bytearray(1 << 26) for _ in range(10_000)]
    if what == 104:
        os._exit(0)
    if what == 105:
        raise SystemExit
    if what == 106:
        return float("nan")
    if what == 107:
        raise type(str(answers['target'].tolist()), (Exception,), {{}})
    return float(abs(answers['target'] - submission['target']).max())
"""


@pytest.fixture(scope="module")
def metric_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """A server for metrics that misbehave, each in a competition of its own."""
    data = tmp_path_factory.mktemp("metrics") / "data"
    server = PodiumServer(data, grading_seconds=3, grader_memory_mb=512).start()
    yield server
    server.stop()


@pytest.mark.parametrize("what", [101, 102, 103, 104, 105, 106, 107])
def test_a_hostile_metric_fails_the_grading_and_costs_the_agent_nothing(
    metric_server: PodiumServer, tmp_path: Path, what: int
) -> None:
    folder = write_competition(tmp_path / f"hostile-{what}", metric="my_error", metric_py=HOSTILE)
    server, before = metric_server, len(metric_server.log.read_text())
    with contextlib.ExitStack() as stack:
        run = run_on(server, folder, stack)
        lines = good_submission(folder).decode().splitlines()
        lines[1] = f"r1,{what}"

        failed = run.submit("\n".join(lines).encode()).json()
        graded = run.submit(good_submission(folder)).json()
        log = server.log.read_text()[before:]
        answers = (folder / "private" / "answers.csv").read_text().splitlines()[1:]

    assert failed["state"] == "failed"
    assert failed["problem"]["type"] == "/problems/grading-fault"
    assert failed["grade"] is None
    assert (graded["state"], graded["grade"]["score"]) == ("graded", 0.0)
    assert not any(line.split(",")[1] in log for line in answers)
    assert log.count("grading fault") == 3
