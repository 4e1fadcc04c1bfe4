"""`podium` in a process of its own, as subprocess.Popen would start it, without its imports."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.graders.runtime_env import COMMON_CODE, ONE_THREAD

ROOT = Path(__file__).parents[2]
PR_SET_CHILD_SUBREAPER = 36
LOAD_SECONDS = 300.0  # importing everything takes 6 s of processor time
FORK_SECONDS = 60.0
# Python and its libraries read these at their start, so a fork would not see another value.
# What the numbers of a grader depend on, for its template is forked from here too.
GRADERS = COMMON_CODE | ONE_THREAD | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
LANGUAGE = ("LANG", "LC_")
# Set on some machines, on which a library computes wrongly otherwise: a fork keeps pytest's value,
# as it does of ONE_THREAD, which all tests have.
MACHINES = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}
READ_AT_START = ("PYTHON", "LD_", "OPENBLAS_", "OMP_", "MALLOC_", "ARROW_", *LANGUAGE)
EXECUTE_CHILD = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]
OPTIONS = {
    "stdin", "stdout", "stderr", "text", "encoding", "errors", "bufsize", "cwd", "env", "pass_fds",
    "start_new_session",
}  # fmt: skip
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
# Set after the fork, or harmless; PYTHON itself is a variable of the Makefile, not of Python.
WITHOUT_EFFECT = {"PYTHON", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


class ForkServer:
    """The process that forks, one per process of pytest; it starts when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket

    def start(
        self, words: list[str], environment: dict[str, str], cwd: str, new_session: bool,
        descriptors: dict[int, int],
    ) -> int:  # fmt: skip
        """Start `podium WORDS` as a child of this process; return its process id."""
        check_environment(environment)
        request = {
            "words": words, "environment": environment, "cwd": cwd, "new_session": new_session,
            "descriptors": list(descriptors),
        }  # fmt: skip
        with self._lock:
            if self._process is None:
                self._begin()
            with reaping_orphans():
                sources = list(descriptors.values())
                socket.send_fds(self._channel, [json.dumps(request).encode()], sources)
                answer = self._channel.recv(64)
        assert answer, "the fork server has ended; its standard error says why"
        return int(answer)

    def _begin(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.forkserver.program", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], cwd=ROOT, stdin=subprocess.DEVNULL,
                env={**os.environ, **GRADERS},
            )  # fmt: skip
        self._channel.settimeout(LOAD_SECONDS)
        if self._channel.recv(64) != b"ready":
            process.wait(FORK_SECONDS)
            raise AssertionError("the fork server did not start")  # the next test tries again
        self._channel.settimeout(FORK_SECONDS)
        self._process = process
        atexit.register(self._end)

    def _end(self) -> None:
        assert self._process is not None
        self._channel.close()
        self._process.wait(FORK_SECONDS)


_server = ForkServer()


class PodiumProcess(subprocess.Popen):
    """subprocess.Popen for `podium WORDS`, with a fork in place of exec; all else is Popen's own.

    Of Popen's arguments it takes those of streams and text, `cwd`, `env`, `pass_fds` and
    `start_new_session`.
    """

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        unknown = options.keys() - OPTIONS
        assert not unknown, f"start the command itself: a fork knows nothing of {unknown}"
        super().__init__([str(word) for word in words], **options)

    def _execute_child(self, *given: Any) -> None:
        """Start the process: what Popen calls when the ends of its pipes are open."""
        named = EXECUTE_CHILD.bind(self, *given).arguments
        ends = (named["p2cread"], named["c2pwrite"], named["errwrite"])
        streams = {target: target if end == -1 else end for target, end in enumerate(ends)}
        environment = os.environ if named["env"] is None else named["env"]
        try:
            self.pid = _server.start(
                list(named["args"]),
                {os.fsdecode(k): os.fsdecode(v) for k, v in environment.items()},
                os.path.abspath(named["cwd"] or os.getcwd()),  # noqa: PTH100, PTH109
                bool(named["start_new_session"]),
                {**streams, **{fd: fd for fd in named["pass_fds"]}},
            )
            self._child_created = True
        finally:
            self._close_pipe_fds(*(named[name] for name in PIPES))  # type: ignore[attr-defined]


def run_podium(
    words: Sequence[object], *, input: str | None = None, timeout: float | None = None,  # noqa: A002
    capture_output: bool = False, check: bool = False, **options: Any,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """subprocess.run for `podium WORDS`."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with PodiumProcess([str(word) for word in words], **options) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
    if check:
        done.check_returncode()
    return done


def check_environment(environment: dict[str, str]) -> None:
    """A variable that only a newly started Python would read must be as it was at the start."""
    names = {name for name in (*environment, *os.environ) if name.startswith(READ_AT_START)}
    # Without a language, Python takes UTF-8, which is what the fork server has.
    absent = names - environment.keys()
    kept = {name for name in absent if name.startswith(LANGUAGE)}
    kept |= absent & (MACHINES | ONE_THREAD.keys())
    other = sorted(
        name
        for name in names - kept - WITHOUT_EFFECT
        if environment.get(name) != os.environ.get(name)
    )
    assert not other, f"start the command itself: a fork does not read {', '.join(other)} anew"


@contextlib.contextmanager
def reaping_orphans() -> Iterator[None]:
    """Become the parent of processes below this one whose parent ends meanwhile."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(PR_SET_CHILD_SUBREAPER, 0)


def _prctl(option: int, value: int) -> None:
    assert ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0
