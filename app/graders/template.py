"""The server's side of the template: the process that every grader is a copy of.

Loading the libraries takes more than a second of processor time. The template does it once, so
that a grader starts, and a killed one is replaced, within a tenth of that. It is started by exec
with a clean environment, so that not even /proc shows the server's keys and database URL to a
grader, and it never imports the server's code. It reads no file of a competition.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import app
from app.graders.messages.framing import TooLargeMessage, receive_before
from app.graders.runtime_env import LIBRARIES
from app.system_limits import is_used_up

START_SECONDS = 120.0  # enough for a cold disk and a busy machine; otherwise one or two seconds


class StartFailed(Exception):
    """A grader could not be started; the message has the reason."""


class GraderTemplate:
    """Starts and ends graders, from any thread.

    Its process starts with the first grader, or with `launch`, and ends with the last. If it dies
    or does not answer, its graders end too, and the next start makes another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._graders: set[int] = set()
        self._is_ready = False
        self._is_given_up = False

    @contextlib.contextmanager
    def launch(self) -> Iterator[Self]:
        """Let the process load the libraries while the caller does something else.

        The process ends with this context, if no grader started or the last one has ended.
        """
        with self._lock:
            if self._process is None:
                self._launch()
        try:
            yield self
        finally:
            with self._lock:
                if not self._graders:
                    self._end()

    def start(self, arguments: dict[str, Any], channel: socket.socket) -> int:
        """Start a grader, which gets the arguments and the channel. Returns its process id.

        Raises:
            StartFailed: the template does not start, or could not start the grader.
            OSError: the system gives no more processes, open files or memory.
        """
        with self._lock:
            if self._is_given_up:
                raise StartFailed("no more graders are started")
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._launch()
            if not self._is_ready:
                self._await_ready()
            answer = self._ask({"start": {**arguments, "server": os.getpid()}}, channel)
            if "pid" not in answer:
                # A late answer would be treated as that of the next request.
                if not answer or not self._graders:
                    self._end()
                reason = str(answer.get("error", "the template does not answer"))
                limit = OSError(answer.get("errno"), reason)
                raise limit if is_used_up(limit) else StartFailed(reason)
            pid = int(answer["pid"])
            self._graders.add(pid)
            return pid

    def end(self, pid: int) -> int:
        """Kill a grader with its children. Returns its exit status, negative for a signal."""
        with self._lock:
            if pid not in self._graders:  # it ended with an earlier template
                return -signal.SIGKILL
            answer = self._ask({"end": pid})
            self._graders.discard(pid)
            if "status" not in answer or not self._graders:
                self._end()
            return int(answer.get("status", -signal.SIGKILL))

    def give_up(self) -> None:
        """Start no more graders, and kill the process instead of waiting for its answer."""
        self._is_given_up = True

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(ours.close)
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    sys.executable, "-B", "-P", "-s", "-m", "app.graders.program.template_main",
                    str(theirs.fileno()),
                ],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=_environment(), cwd="/", start_new_session=True,
            )  # fmt: skip
            if_it_fails.pop_all()
        self._channel = ours

    def _await_ready(self) -> None:
        ready = self._answer()
        if "ready" not in ready:
            status = self._end()
            raise StartFailed(str(ready.get("error", f"exit status {status}")))
        self._is_ready = True

    def _ask(self, request: dict[str, Any], passed: socket.socket | None = None) -> dict[str, Any]:
        """Send a request, with a socket for the template; {} if there is no answer."""
        assert self._channel is not None  # noqa: S101 (a template runs)
        descriptors = [] if passed is None else [passed.fileno()]
        try:
            self._channel.settimeout(START_SECONDS)
            socket.send_fds(self._channel, [json.dumps(request).encode()], descriptors)
            self._channel.settimeout(None)  # `receive_before` has a deadline of its own
        except OSError:
            return {}
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._channel is not None  # noqa: S101
        deadline = time.monotonic() + START_SECONDS
        try:
            answer = json.loads(receive_before(self._channel, deadline, self._is_alive))
        except (TimeoutError, TooLargeMessage, EOFError, OSError, ValueError):
            return {}
        return answer if isinstance(answer, dict) else {}

    def _is_alive(self) -> bool:
        is_there = self._process is not None and self._process.poll() is None
        return is_there and not self._is_given_up

    def _end(self) -> int | None:
        """Kill the template; the kernel then kills its graders. Returns its exit status."""
        process, self._process = self._process, None
        channel, self._channel = self._channel, None
        self._is_ready = False
        self._graders.clear()
        if channel is not None:
            channel.close()
        if process is None:
            return None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _environment() -> dict[str, str]:
    """The environment of a grader: the path of Podium's code, and settings of libraries."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(app.__file__).parents[1]),
        **LIBRARIES,
    }
