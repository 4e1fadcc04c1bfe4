"""Turns: one job of each run at a time, and the run that waited longest is next."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future

import pytest

from app.errors import Unavailable
from app.services.runtime.turns import SharedJobs, Turns


class Jobs:
    """Starts jobs that end when the test says so, and records their order."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.running: dict[str, Future[str]] = {}

    def job(self, name: str):
        def start() -> Future[str]:
            self.started.append(name)
            self.running[name] = Future()
            return self.running[name]

        return start

    def end(self, name: str) -> None:
        self.running.pop(name).set_result(name)


@pytest.fixture
def jobs() -> Jobs:
    return Jobs()


def test_a_run_does_one_job_at_a_time(jobs: Jobs) -> None:
    turns: Turns[str] = Turns(3)
    results = [turns.add("a", jobs.job(f"a{n}")) for n in range(2)]

    assert jobs.started == ["a0"]
    jobs.end("a0")
    assert jobs.started == ["a0", "a1"]
    assert (results[0].result(0), results[1].done()) == ("a0", False)


def test_a_run_with_many_jobs_does_not_keep_others_waiting(jobs: Jobs) -> None:
    turns: Turns[str] = Turns(1)
    for name in ("a0", "a1", "a2", "b0", "b1", "c0"):
        turns.add(name[0], jobs.job(name))

    for _ in range(6):
        jobs.end(jobs.started[-1])

    assert jobs.started == ["a0", "b0", "c0", "a1", "b1", "a2"]


def test_no_more_jobs_run_than_there_are_places(jobs: Jobs) -> None:
    turns: Turns[str] = Turns(2)
    for run in "abcd":
        turns.add(run, jobs.job(run))

    assert jobs.started == ["a", "b"]
    jobs.end("b")
    assert jobs.started == ["a", "b", "c"]


def test_a_job_that_fails_or_is_cancelled_frees_its_place(jobs: Jobs) -> None:
    turns: Turns[str] = Turns(1)

    def broken() -> Future[str]:
        raise OSError("no process")

    results = [turns.add("a", broken), turns.add("b", jobs.job("b")), turns.add("c", jobs.job("c"))]
    unwanted = turns.add("d", jobs.job("d"))
    last = turns.add("e", jobs.job("e"))

    with pytest.raises(OSError, match="no process"):
        results[0].result(0)
    jobs.running.pop("b").set_exception(ValueError("bad"))
    with pytest.raises(ValueError, match="bad"):
        results[1].result(0)
    assert unwanted.cancel()
    jobs.running["c"].cancel()
    jobs.running["c"].set_running_or_notify_cancel()
    with pytest.raises(CancelledError):
        results[2].result(0)
    jobs.end("e")
    assert (jobs.started, last.result(0)) == (["b", "c", "e"], "e")


def test_whoever_asks_for_a_job_that_waits_or_runs_gets_its_future(jobs: Jobs) -> None:
    shared: SharedJobs[str] = SharedJobs(2)
    first = shared.get("x", jobs.job("x"), "one key")
    with pytest.raises(Unavailable, match="this key"):
        shared.get("y", jobs.job("y"), "one key")  # half of the places are for others
    waiting = shared.get("y", jobs.job("y"), "another key")

    assert shared.get("x", jobs.job("again"), "another key") is first
    assert shared.get("y", jobs.job("again"), "another key") is waiting
    with pytest.raises(Unavailable, match="2 jobs"):
        shared.get("z", jobs.job("z"), "a third key")
    jobs.end("x")
    assert (jobs.started, first.result(0)) == (["x", "y"], "x")
    assert shared.get("x", jobs.job("x"), "one key") is not first  # it ended: another one


def test_thousands_of_jobs_that_end_at_once_are_all_done(jobs: Jobs) -> None:
    def ended() -> Future[str]:
        job: Future[str] = Future()
        job.set_result("at once")
        return job

    turns: Turns[str] = Turns(1)
    turns.add("a", jobs.job("a"))
    waiting = [turns.add(f"run {number}", ended) for number in range(3000)]

    jobs.end("a")

    assert {one.result(0) for one in waiting} == {"at once"}
