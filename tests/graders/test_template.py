"""The template: graders are copies of one process, and it lives no longer than they do."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import psutil
import pytest

from app.graders.process import GraderProcess
from app.graders.template import GraderTemplate, StartFailed
from tests.graders.conftest import wait_until
from tests.graders.pool import FolderPool

MEMORY = {"memory_mb": 400, "cache_mb": 16}
# A grader may not be looked into by its own user: see app/graders/walls.
looks_into_graders = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root may read the memory and the open files of a grader"
)


def template_of(pid: int) -> psutil.Process:
    parent = psutil.Process(pid).parent()
    assert parent is not None
    return parent


@looks_into_graders
def test_graders_share_one_template_and_most_of_its_memory() -> None:
    template = GraderTemplate()
    graders = [GraderProcess("grade", template=template, **MEMORY) for _ in range(3)]
    try:
        parents = {template_of(grader.pid).pid for grader in graders}
        names = {psutil.Process(pid).name() for pid in (*parents, graders[0].pid)}
        memory = [psutil.Process(grader.pid).memory_full_info() for grader in graders]
    finally:
        for grader in graders:
            grader.kill()

    assert len(parents) == 1
    assert names == {"podium-template", "podium-grade"}
    assert all(one.uss < one.rss / 3 for one in memory)
    assert not any(map(psutil.pid_exists, parents))  # it ended with the last grader


@looks_into_graders
def test_a_grader_is_in_a_session_of_its_own_with_no_file_of_another() -> None:
    template = GraderTemplate()
    graders = [GraderProcess("grade", template=template, **MEMORY) for _ in range(2)]
    try:
        sessions = [os.getsid(grader.pid) for grader in graders]
        files = [
            {str(each.readlink()) for each in Path(f"/proc/{grader.pid}/fd").iterdir()}
            for grader in graders
        ]
        template_pid = template_of(graders[0].pid).pid
        kept = [each.readlink() for each in Path(f"/proc/{template_pid}/fd").iterdir()]
    finally:
        for grader in graders:
            grader.kill()

    assert sessions == [grader.pid for grader in graders]
    sockets = [{file for file in each if file.startswith("socket:")} for each in files]
    assert [len(each) for each in sockets] == [1, 1]
    assert not sockets[0] & sockets[1]
    # The standard streams and the server's channel. libffi may keep its own file open.
    assert len([file for file in kept if not file.name.startswith("libffi.so")]) == 4


def test_a_killed_grader_says_how_it_ended_and_the_others_live() -> None:
    template = GraderTemplate()
    first, second = (GraderProcess("grade", template=template, **MEMORY) for _ in range(2))
    os.kill(first.pid, signal.SIGSEGV)
    wait_until(lambda: not first.is_alive())
    wait_until(lambda: psutil.Process(first.pid).status() == psutil.STATUS_ZOMBIE)

    assert first.kill() == first.kill() == -signal.SIGSEGV
    assert not psutil.pid_exists(first.pid)
    assert second.is_alive()
    assert second.kill() == -signal.SIGKILL


def test_a_template_that_is_killed_is_made_again(tiny: Path, tiny_file: Path) -> None:
    with FolderPool(processes=2, seconds=60, memory_mb=400, cache_mb=16) as pool:
        pool.warm_up()
        before = pool.pids()
        template_of(before[0]).kill()
        wait_until(lambda: not any(map(psutil.pid_exists, before)))
        wait_until(pool.is_ready)

        assert pool.grade(tiny, tiny_file).result(60).score == 0.0
        assert not set(pool.pids()) & set(before)


def test_graders_outlive_a_signal_to_end_the_service(tiny: Path, tiny_file: Path) -> None:
    """systemd sends it to every process of the service, and the server lets them finish."""
    with FolderPool(processes=2, seconds=60, memory_mb=400, cache_mb=16) as pool:
        pool.warm_up()
        before = pool.pids()
        template = template_of(before[0])
        for one in (*template.children(recursive=True), template):
            one.terminate()

        assert pool.grade(tiny, tiny_file).result(60).score == 0.0
        assert pool.pids() == before
        assert template.is_running()


def test_a_stopped_template_is_replaced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    template = GraderTemplate()
    grader = GraderProcess("grade", template=template, **MEMORY)
    stopped = template_of(grader.pid)
    stopped.suspend()
    monkeypatch.setattr("app.graders.template.START_SECONDS", 0.5)

    assert grader.kill() == -signal.SIGKILL
    assert not psutil.pid_exists(stopped.pid)
    monkeypatch.undo()
    again = GraderProcess("grade", template=template, **MEMORY)
    assert again.is_alive()
    again.kill()


def test_a_grader_that_cannot_begin_ends_at_once() -> None:
    ours, theirs = socket.socketpair()
    template = GraderTemplate()
    with ours, theirs:
        pid = template.start({"role": "grade"}, theirs)  # the other arguments are missing
        wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)

        assert template.end(pid) == 1


def test_what_the_template_says_reaches_whoever_wanted_a_grader(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError('numpy is broken here')")
    path = f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"
    monkeypatch.setattr("app.graders.template.LIBRARIES", {"PYTHONPATH": path})

    with pytest.raises(StartFailed, match="numpy is broken here"):
        GraderProcess("grade", **MEMORY)


def test_a_late_answer_of_the_template_is_not_taken_for_that_of_the_next_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template = GraderTemplate()
    first = GraderProcess("grade", template=template, **MEMORY)
    stopped = template_of(first.pid)
    stopped.suspend()
    monkeypatch.setattr("app.graders.template.START_SECONDS", 0.3)
    with pytest.raises(StartFailed, match="does not answer"):
        GraderProcess("grade", template=template, **MEMORY)
    monkeypatch.undo()
    if stopped.is_running():
        stopped.resume()

    again = GraderProcess("grade", template=template, **MEMORY)
    try:
        (named,) = [
            one.pid for one in template_of(again.pid).children()
            if one.status() != psutil.STATUS_ZOMBIE and one.pid != first.pid
        ]  # fmt: skip
        assert named == again.pid
    finally:
        again.kill()
        first.kill()
