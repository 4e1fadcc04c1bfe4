"""The server's side of a grader process: start it, send it jobs, kill it.

Each grader has a socket of its own and shares no lock, so that its death affects only its own job.
It is started by exec with a clean environment, so that not even /proc shows the server's keys and
database URL to it, and it never imports the server's code.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import app
from app.graders.messages.framing import TooLargeMessage, is_anything_waiting, receive_before, send
from app.graders.messages.protocol import ProtocolError, Ready, Reply, Request, read, write
from app.graders.runtime_env import LIBRARIES
from app.graders.version_folder import VersionFolder
from app.graders.walls.isolation import Isolation

Role = Literal["grade", "custom", "validate"]
Task = Literal["grade", "validate", "check", "uncertainty"]
START_SECONDS = 120.0  # enough for a cold disk and a busy machine; otherwise about a second


class StartFailed(Exception):
    """The grader could not be started; the message has the reason."""


class GraderDied(Exception):
    """The grader is gone."""


class SendFailed(Exception):
    """The grader did not get the job: it was gone, or had sent an unexpected message."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job for a grader, with its files."""

    task: Task
    version: VersionFolder
    file: Path | None = None
    sha256: str = ""


class GraderProcess:
    """A grader. Use it from one thread: it dies with the thread that started it."""

    def __init__(
        self,
        role: Role,
        *,
        memory_mb: int,
        cache_mb: int,
        requires_isolation: bool = False,
        shows_texts: bool = False,
    ) -> None:
        """Start the process and wait until it is warm.

        Raises:
            StartFailed: it did not become ready; the process was killed.
        """
        ours, theirs = socket.socketpair()
        self._channel = ours
        with theirs, contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(ours.close)
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    sys.executable, "-B", "-P", "-s", "-m", "app.graders.program.grader_main",
                    role, str(theirs.fileno()), str(os.getpid()), str(memory_mb), str(cache_mb),
                    str(int(requires_isolation)), str(int(shows_texts)),
                ],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=_environment(), cwd="/", start_new_session=True,
            )  # fmt: skip
            if_it_fails.pop_all()
        self.pid = self._process.pid
        try:
            deadline = time.monotonic() + START_SECONDS
            ready = read(Ready, receive_before(ours, deadline, self.is_alive))
        except (TimeoutError, EOFError, OSError, ProtocolError) as error:
            self.kill()
            status = self._process.returncode
            raise StartFailed(f"{type(error).__name__}, exit status {status}") from None
        except BaseException:
            self.kill()
            raise
        if ready.isolation is None:
            self.kill()
            raise StartFailed(ready.start_error)
        self.isolation: Isolation = ready.isolation

    def is_alive(self) -> bool:
        """Whether the process runs. It is not reaped here, so its pid stays valid until `kill`."""
        if self._process.returncode is not None:
            return False
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.pid, options) is None
        except ChildProcessError:  # reaped by `kill` in another thread just now
            return False

    def ask(self, job: Job, seconds: float) -> Reply:
        """Send one job, and wait for the reply.

        Raises:
            TimeoutError: it took longer than `seconds`, and still runs: kill the grader.
            SendFailed: the job did not start. Kill the grader.
            GraderDied: the grader ended before it answered.
            ProtocolError: the message is no reply to this job. Kill the grader.
        """
        deadline = time.monotonic() + seconds
        request = Request(
            id=secrets.token_hex(16),
            task=job.task,
            slug=job.version.slug,
            version_dir=str(job.version.path),
            file="" if job.file is None else str(job.file),
            sha256=job.sha256,
        )
        try:
            if is_anything_waiting(self._channel):
                raise SendFailed("the grader sent something before it was asked")
            self._channel.settimeout(seconds)
            send(self._channel, write(request))
        except TimeoutError:
            raise
        except (EOFError, OSError) as error:
            raise SendFailed("the grader is gone") from error
        try:
            reply = read(Reply, receive_before(self._channel, deadline, self.is_alive))
        except TimeoutError:
            raise
        except TooLargeMessage:
            raise ProtocolError("too large a message") from None
        except (EOFError, OSError) as error:
            raise GraderDied(type(error).__name__) from error
        if reply.request != request.id:
            raise ProtocolError("a reply to another request")
        return reply

    def kill(self) -> int:
        """Kill the process and its children. Returns its exit status."""
        if self._process.returncode is None:
            # Its session is its own, so the group is it and its children.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        status = self._process.wait()
        self._channel.close()
        return status


def _environment() -> dict[str, str]:
    """The environment of a grader: the path of Podium's code, and settings of libraries."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(app.__file__).parents[1]),
        **LIBRARIES,
    }
