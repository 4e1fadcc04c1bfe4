"""The server's side of a grader process: start it, send it jobs, kill it.

Each grader has a socket of its own and shares no lock, so that its death affects only its own job.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.graders.messages.framing import (
    TooLargeMessage,
    is_anything_waiting,
    receive_before,
    send_before,
)
from app.graders.messages.protocol import ProtocolError, Ready, Reply, Request, read, write
from app.graders.template import START_SECONDS, GraderTemplate, StartFailed
from app.graders.version_folder import VersionFolder
from app.graders.walls.isolation import Isolation

Role = Literal["grade", "custom", "validate"]
Task = Literal["grade", "validate", "check", "uncertainty"]


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
    """A grader, started from a template, or from a template of its own."""

    def __init__(
        self,
        role: Role,
        *,
        memory_mb: int,
        cache_mb: int,
        requires_isolation: bool = False,
        shows_texts: bool = False,
        template: GraderTemplate | None = None,
    ) -> None:
        """Start the process and wait until it is warm.

        Raises:
            StartFailed: it did not become ready; the process was killed.
            OSError: the system gives no more processes, open files or memory.
        """
        self._template = template or GraderTemplate()
        self._status: int | None = None
        self._killing = threading.Lock()
        arguments = {
            "role": role,
            "memory_mb": memory_mb,
            "cache_mb": cache_mb,
            "requires_isolation": requires_isolation,
            "shows_texts": shows_texts,
        }
        self._channel, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(self._channel.close)
            self.pid = self._template.start(arguments, theirs)
            if_it_fails.pop_all()
        try:
            deadline = time.monotonic() + START_SECONDS
            ready = read(Ready, receive_before(self._channel, deadline, self.is_alive))
        except (TimeoutError, EOFError, OSError, ProtocolError) as error:
            status = self.kill()
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
        if self._status is not None:
            return False
        # No child of it has the other end of the channel, so the channel closes when it ends.
        ended = select.poll()
        with contextlib.suppress(ValueError, OSError):  # `kill` in another thread closes it now
            ended.register(self._channel, 0)
            return not ended.poll(0)
        return False

    def ask(self, job: Job, seconds: float) -> Reply:
        """Send one job, and wait for the reply.

        Raises:
            TimeoutError: it took longer than `seconds`, and still runs: kill the grader.
            SendFailed: the job did not start. Kill the grader.
            GraderDied: the grader ended before it answered.
            ProtocolError: the message is not a reply to this job. Kill the grader.
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
            send_before(self._channel, write(request), deadline)
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
        with self._killing:
            if self._status is None:
                self._status = self._template.end(self.pid)
            self._channel.close()
            return self._status
