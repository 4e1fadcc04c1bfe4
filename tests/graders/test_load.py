"""Many jobs: all come to their right end, at the needed pace, and memory stays flat."""

import os
import resource
import time
from pathlib import Path

import psutil
import pytest

from app.graders.messages.results import GraderFault, Rejected
from app.graders.process import GraderProcess, Job
from app.grading.graded import Graded
from tests.factories import (
    good_submission,
    wide_submission,
    write_competition,
    write_submission,
)
from tests.graders.conftest import wait_until
from tests.graders.pool import FolderPool, version_at


def test_two_hundred_jobs_at_once_each_get_their_own_answer(pool, tmp_path):
    competitions = [write_competition(tmp_path / f"c{n}" / "v1", seed=n) for n in range(4)]
    jobs = []
    for n in range(200):
        folder = competitions[n % 4]
        shift = float(n)
        file = write_submission(tmp_path / f"{n}.csv", good_submission(folder, shift=shift))
        jobs.append((shift, pool.grade(folder, file)))
    for shift, job in jobs:
        assert job.result(60).score == pytest.approx(shift, abs=1e-9)


def test_grading_and_validating_go_on_beside_each_other(pool, tiny, tiny_file):
    graded = [pool.grade(tiny, tiny_file) for _ in range(100)]
    checked = [pool.validate(tiny, tiny_file) for _ in range(100)]
    assert all(job.result(30).score == 0.0 for job in graded)
    assert all(job.result(30).is_valid for job in checked)


def test_answers_are_read_once_until_the_budget_of_the_cache_is_used_up(tmp_path):
    jobs = []
    with FolderPool(processes=1, seconds=60, memory_mb=400, cache_mb=1) as pool:
        for n in range(12):
            folder = write_competition(tmp_path / f"c{n}" / "v1", rows=5_000, seed=n)
            file = write_submission(tmp_path / f"{n}.csv", good_submission(folder))
            jobs.append((folder, file))
            assert pool.grade(folder, file).result(30).score == 0.0
        for folder, _ in jobs:
            (folder / "private" / "answers.csv").unlink()

        assert pool.grade(*jobs[-1]).result(30).score == 0.0
        assert isinstance(pool.grade(*jobs[0]).result(30), GraderFault)


def test_an_idle_grader_gives_back_what_a_large_file_took(tmp_path):
    folder = write_competition(tmp_path / "large" / "v1", rows=50_000)
    file = write_submission(tmp_path / "large.csv", wide_submission(folder))
    grader = GraderProcess("grade", memory_mb=2000, cache_mb=16)
    try:
        reply = grader.ask(Job("grade", version_at(folder), file), 60)
        assert isinstance(reply.answer.result(), Graded)
        process = psutil.Process(grader.pid)
        largest = max(process.memory_info().rss, peak(grader.pid))
        wait_until(lambda: process.memory_info().rss < largest - file.stat().st_size)
    finally:
        grader.kill()


def peak(pid: int) -> int:
    """The most that a process ever took, in bytes: proc(5)."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_a_server_with_many_open_files_has_graders_too(tiny, tiny_file):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 3000:
        pytest.skip("this machine lets nobody have so many open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3000), hard))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        grader = GraderProcess("grade", memory_mb=400, cache_mb=16)
        try:
            reply = grader.ask(Job("grade", version_at(tiny), tiny_file), 60)
        finally:
            grader.kill()
        assert isinstance(reply.answer.result(), Graded)
    finally:
        for descriptor in many:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_memory_stays_flat_over_two_thousand_gradings(tmp_path):
    folder = write_competition(tmp_path / "flat" / "v1", rows=1_000)
    good = write_submission(tmp_path / "good.csv", good_submission(folder, shift=0.5))
    bad = write_submission(tmp_path / "bad.csv", b"id,target\nr1,x\nr1,nan\n")
    with FolderPool(processes=2, seconds=60, memory_mb=400, cache_mb=16) as pool:
        pool.warm_up()

        def grade_many(count: int) -> int:
            jobs = [pool.grade(folder, bad if n % 5 == 0 else good) for n in range(count)]
            refused = [job.result(60) for job in jobs[::5]]
            assert all(isinstance(outcome, Rejected) for outcome in refused)
            assert all(job.result(60) is not None for job in jobs)
            return _resident(pool)

        early = grade_many(500)
        late = grade_many(1_500)
        assert pool.counts()["starts"] == 3
    assert late - early < 8 * 1024 * 1024


def test_small_jobs_are_quick(pool, tiny, tiny_file):
    """A poll or a sleep in the way would make all of them slow, a busy machine only some."""
    wait_until(pool.is_ready)
    for _ in range(50):
        pool.grade(tiny, tiny_file).result(30)
    times = []
    for _ in range(100):
        started = time.perf_counter()
        pool.grade(tiny, tiny_file).result(30)
        times.append(time.perf_counter() - started)
    assert sorted(times)[10] < 0.02  # ten times what an idle machine needs


def _resident(pool: FolderPool) -> int:
    return sum(psutil.Process(pid).memory_info().rss for pid in pool.pids())
