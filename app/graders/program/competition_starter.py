"""Start the processes of competitions from a copy of the grader that has read no competition.

The grader sends this copy commands and channels. A process gets its request through its channel,
so nothing of a competition is in the memory from which the next process is copied.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass

from app.graders.messages import protocol
from app.graders.messages.framing import receive, send
from app.graders.messages.protocol import Request
from app.graders.program.child import Child, NotStarted, start_child, starting
from app.graders.program.competition_process import serve_competition
from app.graders.program.job_process import JobRules

_START, _END, _ENDING = b"s", b"e", b"w"
_NOBODY = "0" * 32  # instead of the random id of a request, which jobs must not know


@dataclass
class StartedCompetition:
    """The process of a competition, and the bytes of answers that it keeps."""

    pid: int
    channel: socket.socket
    kept_bytes: int = 0


class CompetitionStarter:
    """The grader's side: it starts and ends processes of competitions."""

    def __init__(self, rules: JobRules) -> None:
        self._commands, theirs = socket.socketpair()
        with theirs:
            self._process = start_child(lambda: _serve(theirs, rules), (theirs.fileno(),))

    def start(self, request: Request) -> StartedCompetition:
        """Start a process for the competition of a request; it answers a check at once.

        Raises:
            NotStarted: the system gives no more processes.
        """
        with starting():
            ours, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as if_it_fails:
            if_it_fails.callback(ours.close)
            socket.send_fds(self._commands, [_START], [theirs.fileno()])
            answer = receive(self._commands).decode()
            if not answer.isdecimal():
                raise NotStarted(answer)
            if_it_fails.pop_all()
        about = request.model_copy(update={"id": _NOBODY, "file": "", "sha256": ""})
        with contextlib.suppress(OSError):  # it died: the reader of its reply finds out
            send(ours, protocol.write(about))
        return StartedCompetition(int(answer), ours)

    def end(self, competition: StartedCompetition) -> None:
        """Kill the process of a competition, unless it was ended before."""
        self._end(competition, _END)

    def ending(self, competition: StartedCompetition) -> str:
        """Wait a second for the end of a process, then kill it. Returns how it ended."""
        return self._end(competition, _ENDING)

    def _end(self, competition: StartedCompetition, command: bytes) -> str:
        competition.channel.close()
        self._commands.sendall(command + b"%d" % competition.pid)
        return receive(self._commands).decode()


def _serve(commands: socket.socket, rules: JobRules) -> None:
    """Start and end processes until the grader closes the channel."""
    children: dict[int, Child] = {}
    while True:
        command, descriptors, _, _ = socket.recv_fds(commands, 16, 1)
        if not command:
            return
        if command == _START:
            answer = _started(descriptors, children, rules)
        else:
            child = children.pop(int(command[1:]), None)
            answer = ""
            if child is not None:
                answer = child.ending() if command[:1] == _ENDING else child.end()
        send(commands, answer.encode())


def _started(descriptors: list[int], children: dict[int, Child], rules: JobRules) -> str:
    """Start a process with this channel. Returns its id, or why there is none."""
    if not descriptors:
        return "the system gives no more open files"
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptors[0])
    with channel:
        try:
            with starting():
                child = start_child(lambda: serve_competition(channel, rules), descriptors)
        except NotStarted as error:
            return str(error)
    children[child.pid] = child
    return str(child.pid)
