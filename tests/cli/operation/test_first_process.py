"""`podium serve` as the first process of a container, as in an image without an init."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.processes import below
from tests.server import START_SECONDS, PodiumServer

SCRIPT = """
import os, signal, sys, time
from app.cli.operation.first_process import leave_first_process
leave_first_process()
print(os.getpid(), os.getppid(), flush=True)
"""
ORPHANS = """
for _ in range(20):
    if not os.fork():
        if not os.fork():
            time.sleep(0.1)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def container() -> list[str]:
    """The words before a command that make it the first process of a pid namespace."""
    words = ["unshare", "--pid", "--fork", "--kill-child"]
    if os.getuid():
        words += ["--user", "--map-root-user"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no pid namespaces")
    return words


@contextlib.contextmanager
def started(container: list[str], script: str) -> Iterator[subprocess.Popen[str]]:
    words = [*container, sys.executable, "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def first_process(unshare: int) -> psutil.Process:
    return psutil.Process(unshare).children()[0]


def ended_children(first: psutil.Process) -> list[int]:
    """The processes that have ended and that nobody waited for."""
    return [process.pid for process in below(first.pid, ended=True)]


def test_the_command_is_a_child_of_the_first_process(container: list[str]) -> None:
    with started(container, SCRIPT + "sys.exit(7)") as process:
        assert process.communicate(timeout=60) == ("2 1\n", None)
        assert process.returncode == 7


def test_any_other_process_stays_one() -> None:
    with started([], SCRIPT) as process:
        assert process.communicate(timeout=60)[0] == f"{process.pid} {os.getpid()}\n"


def test_signals_are_passed_on(container: list[str]) -> None:
    body = """
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests under nohup ignores it
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
print("waits", flush=True)
while not told:
    time.sleep(0.01)
print("told", flush=True)
time.sleep(60)
"""
    with started(container, SCRIPT + body) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["2 1\n", "waits\n"]
        first = first_process(process.pid)
        first.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "told\n"
        first.send_signal(signal.SIGHUP)
        assert process.wait(60) == 128 + signal.SIGHUP


def test_processes_without_a_parent_are_waited_for(container: list[str]) -> None:
    with started(
        container, SCRIPT + ORPHANS + "print('made', flush=True); time.sleep(60)"
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["2 1\n", "made\n"]
        first = first_process(process.pid)
        wait_until(lambda: len(first.children(recursive=True)) == 1)
        first.kill()


@pytest.fixture
def contained(container: list[str], tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server in a pid namespace: the process of `unshare`, and the id of the first process."""
    server = PodiumServer(tmp_path / "data", migrates=True)
    podium = Path(sys.executable).parent / "podium"
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(
        [*container, str(podium), "serve", "--port", str(server.port)],
        env=server.environment, stdout=subprocess.PIPE, stderr=log, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert any(line.startswith("Podium serves") for line in process.stdout)
            yield process, first_process(process.pid).pid
        finally:
            process.kill()


def test_a_server_leaves_no_ended_process_behind(
    contained: tuple[subprocess.Popen[str], int],
) -> None:
    """A killed template takes its graders with it, which then belong to the first process."""
    process, pid = contained
    first = psutil.Process(pid)
    wait_until(lambda: below(pid, "podium-grade") != [])
    graders = below(pid, "podium-grade")
    template = graders[0].parent()
    assert template is not None
    template.kill()
    wait_until(lambda: not any(grader.is_running() for grader in graders))
    wait_until(lambda: not ended_children(first))

    first.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
