"""Graders that are killed: whoever waits gets an answer, and the others go on."""

import os
import random
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from concurrent.futures import CancelledError

import psutil
import pytest

from app.errors import GradingFault, Unavailable
from app.graders import grader_slot
from app.graders.messages.results import GraderFault
from app.grading.graded import Graded
from tests.graders.conftest import wait_until
from tests.graders.pool import FolderPool

SLEEPER = (
    "import time\ndef score(answers, submission):\n    time.sleep({seconds})\n    return 0.0\n"
)


def test_a_grader_killed_in_mid_job_fails_that_job_alone(pool, with_metric, tiny, tiny_file):
    slow = with_metric(SLEEPER.format(seconds=1))
    jobs = [pool.grade(*slow), pool.grade(*slow)]
    wait_until(lambda: len(pool.pids("custom")) == 2)
    time.sleep(0.5)
    os.kill(pool.pids("custom")[0], signal.SIGKILL)
    others = [pool.grade(tiny, tiny_file) for _ in range(20)]
    outcomes = [job.result(30) for job in jobs]
    assert outcomes.count(GraderFault("crashed", "signal 9")) == 1
    assert sum(isinstance(outcome, Graded) for outcome in outcomes) == 1
    assert {other.result(30).score for other in others} == {0.0}


def test_an_idle_grader_that_is_killed_is_replaced_without_a_job_noticing(pool, tiny, tiny_file):
    wait_until(pool.is_ready)
    victims = set(pool.pids())
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    wait_until(lambda: all(_is_over(victim) for victim in victims))
    jobs = [pool.grade(tiny, tiny_file) for _ in range(10)]
    assert {job.result(30).score for job in jobs} == {0.0}
    assert pool.validate(tiny, tiny_file).result(30).is_valid
    wait_until(pool.is_ready)
    wait_until(lambda: not victims & set(pool.pids()))


def test_a_job_that_could_not_be_delivered_goes_to_a_new_grader(pool, tiny, tiny_file):
    wait_until(pool.is_ready)
    before = set(pool.pids("grade"))
    for grader in pool._slots[:2]:  # noqa: SLF001
        process = grader.process
        os.kill(process.pid, signal.SIGSTOP)  # alive, but its line is cut
        process._channel.shutdown(socket.SHUT_WR)  # noqa: SLF001
    jobs = [pool.grade(tiny, tiny_file) for _ in range(10)]
    assert {job.result(30).score for job in jobs} == {0.0}
    assert before - set(pool.pids("grade"))


def test_a_killed_grader_is_replaced_though_no_job_comes(pool):
    wait_until(pool.is_ready)
    os.kill(pool.pids("grade")[0], signal.SIGKILL)
    wait_until(lambda: not pool.is_ready())
    wait_until(pool.is_ready)


def test_a_stopped_grader_does_not_hold_its_job_beyond_the_limit(pool, tiny, tiny_file):
    wait_until(pool.is_ready)
    for pid in pool.pids("grade"):
        os.kill(pid, signal.SIGSTOP)
    jobs = [pool.grade(tiny, tiny_file) for _ in range(4)]
    assert Counter(getattr(job.result(30), "kind", "graded") for job in jobs) == {
        "timeout": 2,
        "graded": 2,
    }


def test_a_storm_of_kills_loses_no_future(tiny, tiny_file):
    chance = random.Random(7)
    with FolderPool(processes=2, seconds=5, memory_mb=400, cache_mb=16) as pool:
        pool.warm_up()
        jobs = [pool.grade(tiny, tiny_file) for _ in range(2000)]
        kills = 0
        while kills < 6:
            time.sleep(chance.random() * 0.3)
            for pid in chance.sample(pool.pids("grade"), k=min(1, len(pool.pids("grade")))):
                psutil.Process(pid).kill()
                kills += 1
        outcomes = Counter(
            outcome.kind if isinstance(outcome, GraderFault) else "graded"
            for outcome in (job.result(120) for job in jobs)
        )
        assert set(outcomes) <= {"graded", "crashed"}
        assert outcomes["crashed"] <= kills
        assert pool.grade(tiny, tiny_file).result(30).score == 0.0


def test_a_job_that_is_slow_does_not_hold_up_the_other_grader(pool, with_metric, tiny, tiny_file):
    wait_until(pool.is_ready)
    slow = pool.grade(*with_metric(SLEEPER.format(seconds=1)))
    jobs = [pool.grade(tiny, tiny_file) for _ in range(50)]
    assert {job.result(30).score for job in jobs} == {0.0}
    assert not slow.done()
    assert slow.result(30).score == 0.0


def test_closing_cancels_what_waits_and_lets_quick_jobs_end(with_metric):
    pool = FolderPool(processes=1, seconds=60, memory_mb=400, cache_mb=16)
    pool.warm_up()
    slow, begun = with_metric(SLEEPER.format(seconds=1)), threading.Event()
    at_work, waiting = pool.grade(*slow, begun=begun.set), pool.grade(*slow)
    assert begun.wait(30)
    pids = pool.pids()
    pool.close(grace=10)
    assert at_work.result(0).score == 0.0
    assert waiting.cancelled()
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_closing_does_not_wait_for_a_job_without_end(with_metric):
    pool = FolderPool(processes=1, seconds=600, memory_mb=400, cache_mb=16)
    pool.warm_up()
    begun = threading.Event()
    at_work = pool.grade(*with_metric(SLEEPER.format(seconds=600)), begun=begun.set)
    assert begun.wait(30)
    pids = pool.pids()
    started = time.monotonic()
    pool.close(grace=0.2)
    assert time.monotonic() - started < 60
    with pytest.raises(CancelledError):
        at_work.result(0)
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_closing_does_not_wait_for_a_template_that_is_stopped(with_metric):
    """A server that was asked to end took two minutes; a job could end as a fault of its file."""
    pool = FolderPool(processes=1, seconds=600, memory_mb=400, cache_mb=16)
    pool.warm_up()
    begun = threading.Event()
    at_work = pool.grade(*with_metric(SLEEPER.format(seconds=600)), begun=begun.set)
    assert begun.wait(30)
    pids = pool.pids()
    psutil.Process(pids[0]).parent().suspend()
    started = time.monotonic()
    pool.close(grace=0.2)
    assert time.monotonic() - started < 60
    assert at_work.cancelled()
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def test_a_closed_pool_takes_no_job(tiny, tiny_file):
    pool = FolderPool(processes=1, seconds=60, memory_mb=400, cache_mb=16)
    pool.close()
    with pytest.raises(Unavailable):
        pool.grade(tiny, tiny_file)
    assert not pool.is_ready()


def test_a_cancelled_job_is_not_done(pool, with_metric):
    slow, at_once = with_metric(SLEEPER.format(seconds=1)), with_metric(SLEEPER.format(seconds=0))
    done = pool.counts()["jobs"]
    running = [pool.grade(*slow) for _ in range(2)]
    wait_until(lambda: pool.counts()["jobs"] == done + 2)  # both graders have one
    unwanted = pool.grade(*at_once)
    assert unwanted.cancel()
    assert [job.result(30).score for job in running] == [0.0, 0.0]
    assert pool.grade(*at_once).result(30).score == 0.0
    assert pool.counts()["jobs"] == done + 3


def test_no_grader_outlives_a_killed_server(tmp_path, tiny):
    program = textwrap.dedent(
        """
        import sys, time
        from app.graders.pool import GraderPool
        pool = GraderPool(processes=2, seconds=60, memory_mb=400, cache_mb=16)
        pool.warm_up()
        print(*pool.pids(), flush=True)
        time.sleep(600)
        """
    )
    server = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    with server:
        assert server.stdout is not None
        pids = [int(pid) for pid in server.stdout.readline().split()]
        assert len(pids) == 3
        assert all(psutil.pid_exists(pid) for pid in pids)
        server.kill()
    wait_until(lambda: not any(_runs(pid) for pid in pids))


def test_no_grader_outlives_a_server_that_forgot_to_close_its_pool():
    program = textwrap.dedent(
        """
        from app.graders.pool import GraderPool
        pool = GraderPool(processes=1, seconds=60, memory_mb=400, cache_mb=16)
        pool.warm_up()
        print(*pool.pids(), flush=True)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    wait_until(lambda: not any(_runs(int(pid)) for pid in done.stdout.split()))


@pytest.mark.parametrize("executable", ["/bin/false", "/nowhere/python"])
def test_a_grader_that_cannot_start_is_reported_and_its_job_given_back(
    monkeypatch, tiny, tiny_file, executable
):
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(grader_slot, "PAUSE_SECONDS", 0.1)
    with FolderPool(processes=1, seconds=60, memory_mb=400, cache_mb=16) as pool:
        assert pool.grade(tiny, tiny_file).result(60) == GraderFault("not_started")
        with pytest.raises(GradingFault):
            pool.warm_up()
        assert not pool.isolation().network


def test_a_pool_recovers_when_graders_can_start_again(monkeypatch, tiny, tiny_file):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with FolderPool(processes=1, seconds=60, memory_mb=400, cache_mb=16) as pool:
        with pytest.raises(GradingFault):
            pool.warm_up()
        monkeypatch.undo()
        wait_until(pool.is_ready)
        assert pool.grade(tiny, tiny_file).result(60).score == 0.0


def _is_over(pid: int) -> bool:
    """Whether this process has ended with all its threads, reaped or not: pidfd_open(2)."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 0)[0])
    finally:
        os.close(process)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
