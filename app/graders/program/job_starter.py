"""Start the processes of jobs, each one before its job comes.

The job starter is a process of one competition. It is a copy of the process that checks files, made
once the answers are decoded. It only starts and ends processes, so it changes few of the pages that
it shares with them; the process that checks files would have to copy its pages after every start.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from app.graders.messages.framing import receive, send
from app.graders.program.child import Child, NotStarted, start_child, starting
from app.graders.program.job_limits import WATCH_MILLISECONDS, JobLimits, own_bytes, threads

# A process that waits for a job has loaded its metric.py. Those of many competitions together could
# use up the memory or the process ids of the machine. So it is ended after SPARE_SECONDS, or after
# LOADING_SECONDS if it has more memory or threads than these. The thread pool of a library usually
# has fewer threads.
LOADING_SECONDS, SPARE_SECONDS = 1.0, 20.0
SPARE_BYTES, SPARE_THREADS = 64 * 1024 * 1024, 32
_TAKE, _END, _ENDING, _NONE = b"t", b"e", b"w", b"n"

Job = Callable[[socket.socket], None]


class JobStarter:
    """The side of the process that checks files: it gets processes for jobs, one at a time."""

    def __init__(self, job: Job, descriptors: tuple[int, ...], limits: JobLimits) -> None:
        """Start the job starter. Its processes run `job`, and have these open files.

        Raises:
            NotStarted: the system gives no more processes.
        """
        with starting():
            self._commands, theirs = socket.socketpair()
        with theirs, starting():

            def serve() -> None:
                _serve(theirs, job, descriptors, limits)

            self._process = start_child(serve, (theirs.fileno(), *descriptors))
        self.pid = self._process.pid
        self._has_taken = False

    def take(self) -> socket.socket:
        """The channel to a process that has done no job yet. `end` it before the next.

        Raises:
            NotStarted: the system gives no more processes.
            EOFError, OSError: the job starter is gone.
        """
        self._commands.sendall(_TAKE)
        message, descriptors, _, _ = socket.recv_fds(self._commands, 1, 1)
        if message == _NONE:
            raise NotStarted("the system gives no more of them")
        self._has_taken = True
        if not message or not descriptors:
            raise EOFError
        # The kind is named, because Python would otherwise ask the socket, which the walls refuse.
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptors[0])

    def end(self) -> None:
        """Kill the process of the present job, if there is one; then the next is started.

        Raises:
            OSError: the job starter is gone.
        """
        if self._has_taken:
            self._has_taken = False
            self._commands.sendall(_END)

    def ending(self) -> str:
        """Wait a second for the last job's process to end, then kill it.

        Returns how it ended, as text for a fault.

        Raises:
            EOFError, OSError: the job starter is gone.
        """
        self._commands.sendall(_ENDING)
        return receive(self._commands).decode()

    def close(self) -> None:
        """End the job starter and its processes."""
        self._commands.close()
        self._process.end()


@dataclass
class _Process:
    """A process of a job, and the other end of its channel."""

    child: Child
    channel: socket.socket
    started: float = field(default_factory=time.monotonic)

    def end(self) -> None:
        self.channel.close()
        self.child.end()


def _serve(
    commands: socket.socket, job: Job, descriptors: tuple[int, ...], limits: JobLimits
) -> None:
    """Start and end processes until the other side closes the channel."""
    spare: _Process | None = None
    taken: _Process | None = None
    waiting = select.poll()
    waiting.register(commands, select.POLLIN)
    while True:
        while not waiting.poll(None if spare is taken is None else WATCH_MILLISECONDS):
            if spare is not None:
                limits.enforce(spare.child)  # its metric.py is loaded
                if spare.child.status is not None or _is_too_much(spare):
                    spare.end()
                    spare = None
            if taken is not None and taken.child.status is None:
                limits.enforce(taken.child)
        command = commands.recv(1)
        if command == _TAKE:
            try:
                taken, spare = spare or _start(job, descriptors), None
            except NotStarted:
                commands.sendall(_NONE)
                continue
            socket.send_fds(commands, [_TAKE], [taken.channel.fileno()])
            taken.channel.close()
        elif command == _ENDING and taken is not None:
            send(commands, taken.child.ending(limits.enforce).encode())
        elif command == _END and taken is not None:
            taken.child.end()
            taken = None
            with contextlib.suppress(OSError, NotStarted):  # then the next job starts its own
                spare = _start(job, descriptors)
        else:
            return


def _is_too_much(spare: _Process) -> bool:
    """Whether a process that waits for its job has waited too long, or uses too much."""
    waited = time.monotonic() - spare.started
    return waited > SPARE_SECONDS or (
        waited > LOADING_SECONDS
        and (own_bytes(spare.child) > SPARE_BYTES or threads(spare.child) > SPARE_THREADS)
    )


def _start(job: Job, descriptors: tuple[int, ...]) -> _Process:
    with starting():
        ours, theirs = socket.socketpair()
    with theirs, contextlib.ExitStack() as if_it_fails, starting():
        if_it_fails.callback(ours.close)
        child = start_child(lambda: job(theirs), (theirs.fileno(), *descriptors))
        if_it_fails.pop_all()
    return _Process(child, ours)
