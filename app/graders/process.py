"""One grader process, seen from the server: started, asked, and killed when it must be.

Each grader has a socket of its own and shares no lock with any other, so that its death, at any
moment, is felt by its own job alone. It is started by exec with a clean environment, so that not
even /proc shows it the server's keys and database URL, and it never imports the server's code.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import app
from app.graders.messages import Reply, read_message
from app.graders.numerics import LIBRARIES
from app.graders.sandbox import Isolation
from app.graders.wire import receive_before, send

Role = Literal["grade", "validate"]
START_SECONDS = 120.0  # a cold disk and a busy machine; a warm one needs about a second


class NotStartedError(Exception):
    """The grader could not be started; the message says why."""


class DiedError(Exception):
    """The grader is gone."""


class NonsenseError(Exception):
    """The grader sent what is no answer; the message says what, in words of ours."""


class NotDeliveredError(Exception):
    """The grader was gone before it was given the job."""


class GraderProcess:
    """A grader. Start, ask and stop it from one thread: it dies with the thread that started it."""

    def __init__(self, role: Role, *, memory_mb: int, cache_mb: int) -> None:
        """Start the process and wait until it is warm.

        Raises:
            NotStartedError: it did not become ready; nothing is left of it.
        """
        ours, theirs = socket.socketpair()
        self._channel = ours
        with theirs, contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(ours.close)
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    sys.executable, "-B", "-P", "-s", "-m", "app.graders.worker",
                    role, str(theirs.fileno()), str(os.getpid()), str(memory_mb), str(cache_mb),
                ],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=_environment(), cwd="/", start_new_session=True,
            )  # fmt: skip
            if_it_fails.pop_all()
        self.pid = self._process.pid
        try:
            first = read_message(
                receive_before(ours, time.monotonic() + START_SECONDS, self.is_alive)
            )
        except (TimeoutError, EOFError, OSError, pickle.UnpicklingError) as error:
            self.kill()
            status = self._process.returncode
            raise NotStartedError(f"{type(error).__name__}, exit status {status}") from None
        except BaseException:
            self.kill()
            raise
        if not isinstance(first, Isolation):
            self.kill()
            raise NotStartedError(str(first))
        self.isolation = first

    def is_alive(self) -> bool:
        """Whether the process runs. It is not reaped here: until `kill` its pid stays its own."""
        if self._process.returncode is not None:
            return False
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.pid, options) is None
        except ChildProcessError:  # reaped by `kill` in another thread just now
            return False

    def ask(self, request: tuple[str, ...], seconds: float) -> Reply:
        """Have one job done.

        Raises:
            TimeoutError: it took longer than `seconds`. The grader is still at it: kill it.
            NotDeliveredError: the grader was gone already; the job was not begun.
            DiedError: the grader ended before it answered.
            NonsenseError: what it sent is no answer. Kill it.
        """
        deadline = time.monotonic() + seconds
        try:
            self._channel.settimeout(seconds)
            send(self._channel, request)
        except TimeoutError:
            raise
        except OSError as error:
            raise NotDeliveredError from error
        try:
            reply = read_message(receive_before(self._channel, deadline, self.is_alive))
        except TimeoutError:
            raise
        except (EOFError, OSError) as error:
            raise DiedError(type(error).__name__) from error
        except pickle.UnpicklingError as error:
            raise NonsenseError(str(error)) from error
        if not isinstance(reply, Reply):
            raise NonsenseError(f"it sent a {type(reply).__name__}")
        return reply

    def kill(self) -> int:
        """End the process and whatever it started, at once; gives its exit status."""
        if self._process.returncode is None:
            # Its session is its own, so the group is it and its children.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        status = self._process.wait()
        self._channel.close()
        return status


def _environment() -> dict[str, str]:
    """All that a grader's environment holds: where our code is, and how libraries calculate."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(app.__file__).parents[1]),
        **LIBRARIES,
    }
