"""The process of the next job is prepared ahead; it still serves one job, and is replaced or ended.

A metric returns the id of its process, and the time when its file was loaded.
"""

import concurrent.futures
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from app.graders.messages.results import GraderFault
from app.graders.program import job_starter
from app.graders.program.job_limits import JobLimits
from app.graders.program.job_starter import JobStarter
from tests.attacks.test_hostile_metric import SCORED, SEND
from tests.graders.conftest import wait_until

LIMITS = JobLimits(memory_mb=400)
PID = "import os\n\ndef score(answers, submission):\n    return float(os.getpid())\n"
LOADED = (
    "import time\nLOADED = time.monotonic()\n\n"
    "def score(answers, submission):\n    return time.monotonic() - LOADED\n"
)


def children(process: int) -> list[int]:
    """The processes that a process has started and that are alive."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in found]


def competitions(pool) -> list[int]:
    """The processes of competitions below the graders for metric.py."""
    return [one for pid in pool.pids("custom") for starter in children(pid)
            for one in children(starter)]  # fmt: skip


def spares(pool) -> list[int]:
    """The processes of jobs that wait below the graders for metric.py."""
    starters = [starter for one in competitions(pool) for starter in children(one)]
    return [spare for starter in starters for spare in children(starter)]


def test_each_job_has_a_process_of_its_own_that_was_there_before_it(pool, with_metric):
    folder, file = with_metric(PID)
    seen = []
    for _ in range(4):
        # Two graders, each of which prepares a process for the next job.
        seen.append(int(pool.grade(folder, file).result(60).score))
        wait_until(lambda: seen[-1] not in spares(pool))
    assert len(set(seen)) == 4


def test_the_metric_is_loaded_before_the_job_comes(pool, with_metric):
    folder, file = with_metric(LOADED)
    for _ in range(4):
        pool.grade(folder, file).result(60)
        time.sleep(0.5)
    assert pool.grade(folder, file).result(60).score > 0.2


def test_a_waiting_process_that_is_killed_costs_no_job(pool, with_metric):
    folder, file = with_metric(PID)
    for _ in range(3):
        pool.grade(folder, file).result(60)
    time.sleep(1)  # until the processes of the last jobs are ended and the next ones wait
    waiting = spares(pool)
    assert waiting
    for spare in waiting:
        os.kill(spare, signal.SIGKILL)
        status = Path(f"/proc/{spare}/stat")
        wait_until(lambda status=status: ") Z " in status.read_text())
    for _ in range(2):
        assert pool.grade(folder, file).result(60).score > 0


def test_a_result_that_is_sent_before_the_job_is_refused(pool, with_metric):
    body = "\ndef score(answers, submission):\n    return 0.0\n"
    folder, file = with_metric(f"{SEND}\nsend({SCORED!r})\n{body}")
    for _ in range(3):  # so that each grader has prepared a process
        pool.grade(folder, file).result(60)
        time.sleep(0.5)
    fault = pool.grade(folder, file).result(60)
    assert fault == GraderFault("crashed", "a result, before the job was sent")


def test_a_job_starter_that_dies_costs_at_most_one_job(pool, with_metric):
    folder, file = with_metric(PID)
    for _ in range(3):
        pool.grade(folder, file).result(60)
    for starter in [starter for one in competitions(pool) for starter in children(one)]:
        os.kill(starter, signal.SIGKILL)
    results = [pool.grade(folder, file).result(60) for _ in range(6)]
    lost = [one for one in results if isinstance(one, GraderFault)]
    assert len(lost) <= 2  # each of the two graders had one starter
    assert not isinstance(results[-1], GraderFault)


def in_a_new_process(test: Callable[[], None]) -> None:
    """Run a test where Arrow has read nothing: it would keep open files, and a copy that closes
    them ends. Graders tell Arrow to keep none.
    """
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as process:
        process.submit(test).result()


def tell_and_wait(channel: socket.socket) -> None:
    os.write(channel.fileno(), b"%010d" % os.getpid())
    os.read(channel.fileno(), 1)


def fill_memory_and_wait(channel: socket.socket) -> None:
    kept = b"x" * (2 * job_starter.SPARE_BYTES)
    tell_and_wait(channel)
    del kept


def a_process_that_waits_too_long_is_ended() -> None:
    job_starter.LOADING_SECONDS = job_starter.SPARE_SECONDS = 0.2
    starter = JobStarter(tell_and_wait, (), LIMITS)
    with starter.take() as channel:
        first = int(channel.recv(10))
    starter.end()
    wait_until(lambda: bool(set(children(starter.pid)) - {first}))
    wait_until(lambda: not children(starter.pid))
    with starter.take() as channel:  # and the next job gets another
        assert int(channel.recv(10)) > 0
        os.kill(starter.pid, signal.SIGKILL)
        channel.settimeout(20)
        assert channel.recv(1) == b""  # a job ends with its parent, though its channel is open
    starter.close()


def test_a_process_that_waits_too_long_is_ended():
    in_a_new_process(a_process_that_waits_too_long_is_ended)


def a_process_that_keeps_much_memory_does_not_wait() -> None:
    job_starter.LOADING_SECONDS = 0.3
    starter = JobStarter(fill_memory_and_wait, (), LIMITS)
    with starter.take() as channel:
        first = int(channel.recv(10))
    starter.end()
    wait_until(lambda: bool(set(children(starter.pid)) - {first}))
    wait_until(lambda: not children(starter.pid), seconds=10)
    starter.close()


def test_a_process_that_keeps_much_memory_does_not_wait():
    in_a_new_process(a_process_that_keeps_much_memory_does_not_wait)
