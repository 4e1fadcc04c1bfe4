"""A grader for competitions with a metric.py: a process for each competition, and one for each job.

This process keeps no answers and runs no competition's code. Each competition has a process, so
that a metric never finds data of another competition in its memory.

Replies pass through this process: scores, and cells of rejected files. If it forked the process of
the next competition, they would be in the memory of the jobs of that competition. So a copy of it,
made before its first job, starts these processes. The copy gets only commands and channels; the
competition of a process is named in the first message that comes through its channel.
"""

from __future__ import annotations

import contextlib
import socket
from collections import OrderedDict
from dataclasses import dataclass

from app.graders.messages import protocol
from app.graders.messages.framing import receive, send
from app.graders.messages.protocol import Reply, Request
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import CacheCounts, GraderFault
from app.graders.program.child import Child, NotStarted, start_child, starting
from app.graders.program.competition_process import folder_of, serve_competition
from app.graders.program.faults import answer_for
from app.graders.program.job_process import JobRules
from app.graders.version_folder import VersionFolder

_START, _END, _ENDING = b"s", b"e", b"w"
_NOBODY = "0" * 32  # instead of the random id of a request, which jobs must not know
MEGABYTE = 1024 * 1024
MOST_COMPETITIONS = 8  # processes that are kept; each also takes memory of its own


@dataclass
class Competition:
    """The process of a competition, and the bytes of answers that it keeps."""

    pid: int
    channel: socket.socket
    kept_bytes: int = 0


class CustomGrader:
    """Grades submissions by metric.py, and checks competitions that have one.

    The processes of the competitions that were used last are kept, within a budget of bytes.
    """

    def __init__(self, cache_mb: int, rules: JobRules) -> None:
        self._budget = cache_mb * MEGABYTE
        self._starter = CompetitionStarter(rules)
        self._kept: OrderedDict[VersionFolder, Competition] = OrderedDict()
        self._hits = self._misses = self._evictions = 0

    def handle(self, request: Request) -> bytes:
        """Do one job. Returns the bytes of the reply."""
        try:
            answer = self._answer(request)
        except NotStarted as error:
            answer = answer_for(error)
        return protocol.write_reply(request.id, answer, self._counts())

    def _answer(self, request: Request) -> Answer:
        if request.task == "check":
            competition = self._starter.start(request)
            try:
                return protocol.read(Reply, receive(competition.channel)).answer.result()
            except (OSError, EOFError):
                return GraderFault("crashed", self._starter.ending(competition))
            finally:
                self._starter.end(competition)
        if request.task == "grade":
            return self._grade(request)
        return GraderFault("internal", "this grader does not validate")

    def _grade(self, request: Request) -> Answer:
        folder = folder_of(request)
        competition = self._competition(folder, request)
        try:
            send(competition.channel, protocol.write(request))
            reply = protocol.read(Reply, receive(competition.channel))
        except (OSError, EOFError):
            # The process died without a message. It never ran code of the competition, so reading
            # the files killed it.
            self._kept.pop(folder)
            return GraderFault("crashed", self._starter.ending(competition))
        competition.kept_bytes = reply.cache.kept_bytes
        if reply.retire:
            self._starter.end(self._kept.pop(folder))
        self._evict()
        return reply.answer.result()

    def _competition(self, folder: VersionFolder, request: Request) -> Competition:
        found = self._kept.get(folder)
        if found is not None:
            self._hits += 1
            self._kept.move_to_end(folder)
            return found
        self._misses += 1
        self._kept[folder] = self._starter.start(request)
        return self._kept[folder]

    def _evict(self) -> None:
        """End the least recently used processes until the budget is kept."""
        while self._kept and (
            len(self._kept) > MOST_COMPETITIONS
            or sum(one.kept_bytes for one in self._kept.values()) > self._budget
        ):
            _, oldest = self._kept.popitem(last=False)
            self._starter.end(oldest)
            self._evictions += 1

    def _counts(self) -> CacheCounts:
        kept_bytes = sum(one.kept_bytes for one in self._kept.values())
        return CacheCounts(self._hits, self._misses, self._evictions, len(self._kept), kept_bytes)


class CompetitionStarter:
    """The grader's side: it starts and ends processes of competitions."""

    def __init__(self, rules: JobRules) -> None:
        self._commands, theirs = socket.socketpair()
        with theirs:
            self._process = start_child(lambda: _serve(theirs, rules), (theirs.fileno(),))

    def start(self, request: Request) -> Competition:
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
        with contextlib.suppress(OSError):  # it died: whoever waits for its reply is told
            send(ours, protocol.write(about))
        return Competition(int(answer), ours)

    def end(self, competition: Competition) -> None:
        """Kill the process of a competition, unless it was ended before."""
        self._end(competition, _END)

    def ending(self, competition: Competition) -> str:
        """Wait a second for the end of a process, then kill it. Returns how it ended."""
        return self._end(competition, _ENDING)

    def _end(self, competition: Competition, command: bytes) -> str:
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
