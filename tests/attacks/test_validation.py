"""An agent that keeps validation busy: other runs' files are checked all the same, and in time."""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import time
from concurrent.futures import Future

import pytest

from app.domain.verdict import Rejection
from app.services.runtime.turns import Turns
from tests.api.conftest import CSV, Podium
from tests.factories import good_submission
from tests.grading.make import checker
from tests.processes import below
from tests.server import PodiumServer

MEGABYTE = 1024 * 1024
LIMIT = 12.0
SETTINGS = {"validation_seconds": LIMIT}


def validators(server: PodiumServer) -> list[int]:
    """The processes of the server that check files."""
    return [process.pid for process in below(server.process.pid, "podium-validate")]


@pytest.mark.parametrize("line", [b"\n", b"\r", b"\r\n", b"a,1\n", b'"a",1\n', b'"a\n",1\n'])
def test_a_file_of_many_lines_is_refused_by_counting_them(podium: Podium, line: bytes) -> None:
    run = podium.run(podium.competition())
    body = gzip.compress(b"id,target\n" + line * (60 * MEGABYTE // len(line)), 1)
    headers = {**CSV, "Content-Encoding": "gzip"}
    answer = run.client.post(f"/v1/runs/{run.id}/validate", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    violations = {one["code"]: one["message"] for one in answer.json()["violations"]}
    assert "found more than 10040 lines" in violations["row_count"]


def test_blank_lines_before_the_header_are_bounded() -> None:
    started = time.process_time()
    with pytest.raises(Rejection) as caught:
        checker().check(b"\n" * (30 * MEGABYTE) + b"id,x\na,1\nb,1\nc,1\n")
    assert [one.code.value for one in caught.value.verdict.violations] == ["not_csv"]
    assert time.process_time() - started < 5


def test_a_stopped_checking_process_is_told_in_time_and_replaced(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    pids = validators(podium.server)
    assert len(pids) == 2
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    url = f"/v1/runs/{run.id}/validate"
    answer = run.client.post(url, content=good_submission(folder), headers=CSV)
    assert answer.status_code == 503, answer.text
    assert f"within {LIMIT:g} seconds" in answer.json()["detail"]
    assert int(answer.headers["Retry-After"]) > 0
    for pid in validators(podium.server):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    assert run.client.post(url, content=good_submission(folder), headers=CSV).json()["valid"]


def test_a_run_has_one_file_checked_at_a_time_and_runs_take_turns() -> None:
    turns: Turns[str] = Turns(2)
    jobs: list[tuple[str, Future[str]]] = []

    def add(run: str, name: str) -> Future[str]:
        def start() -> Future[str]:
            job: Future[str] = Future()
            jobs.append((name, job))
            return job

        return turns.add(run, start)

    many = [add("greedy", f"greedy {number}") for number in range(5)]
    assert [name for name, _ in jobs] == ["greedy 0"]  # one place stays free for others
    first = add("other", "other 0")
    second = add("third", "third 0")
    assert [name for name, _ in jobs] == ["greedy 0", "other 0"]
    jobs[0][1].set_result("done")
    assert jobs[-1][0] == "third 0"  # not the next of the run that was served just now
    many[1].cancel()
    jobs[1][1].set_exception(ValueError("broken"))
    assert isinstance(first.exception(0), ValueError)
    assert jobs[-1][0] == "greedy 2"  # what nobody waits for is not started
    jobs[2][1].set_result("done")
    assert second.result(0) == many[0].result(0) == "done"
    assert len(jobs) == 4


def test_a_job_that_cannot_be_started_gives_its_place_back() -> None:
    turns: Turns[int] = Turns(1)

    def fail() -> Future[int]:
        raise OSError("no file")

    assert isinstance(turns.add("a", fail).exception(0), OSError)
    done: Future[int] = Future()
    done.set_result(1)
    assert turns.add("a", lambda: done).result(0) == 1
