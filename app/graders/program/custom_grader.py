"""A grader for competitions with a metric.py: a process for each competition, and one for each job.

This process keeps no answers and runs no competition's code. It forks once for each competition,
so that a metric never finds data of another competition in its memory.
"""

from __future__ import annotations

import contextlib
import socket
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from app.graders.messages import protocol
from app.graders.messages.framing import receive, send
from app.graders.messages.protocol import Reply, Request
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import CacheCounts, GraderFault
from app.graders.program.child import Child, NotStarted, start_child, starting
from app.graders.program.competition_process import serve_competition
from app.graders.program.faults import answer_for
from app.graders.program.job_process import JobRules, check_in_process
from app.graders.version_folder import VersionFolder

MEGABYTE = 1024 * 1024
MOST_COMPETITIONS = 8  # processes that are kept; each also takes memory of its own


@dataclass
class _Competition:
    """The process of a competition, and the bytes of answers that it keeps."""

    child: Child
    channel: socket.socket
    kept_bytes: int = 0

    def end(self) -> str:
        self.channel.close()
        return self.child.end()


class CustomGrader:
    """Grades submissions by metric.py, and checks competitions that have one.

    The processes of the competitions that were used last are kept, within a budget of bytes.
    """

    def __init__(self, cache_mb: int, rules: JobRules) -> None:
        self._budget = cache_mb * MEGABYTE
        self._rules = rules
        self._kept: OrderedDict[VersionFolder, _Competition] = OrderedDict()
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
            with starting():
                return check_in_process(_folder(request), self._rules)
        if request.task == "grade":
            return self._grade(request)
        return GraderFault("internal", "this grader does not validate")

    def _grade(self, request: Request) -> Answer:
        folder = _folder(request)
        competition = self._competition(folder)
        try:
            send(competition.channel, protocol.write(request))
            reply = protocol.read(Reply, receive(competition.channel))
        except (OSError, EOFError):
            # The process died without a message. It never ran code of the competition, so reading
            # the files killed it.
            self._kept.pop(folder)
            return GraderFault("crashed", competition.child.ending())
        competition.kept_bytes = reply.cache.kept_bytes
        if reply.retire:
            self._kept.pop(folder).end()
        self._evict()
        return reply.answer.result()

    def _competition(self, folder: VersionFolder) -> _Competition:
        found = self._kept.get(folder)
        if found is not None:
            self._hits += 1
            self._kept.move_to_end(folder)
            return found
        self._misses += 1
        with starting():
            ours, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as if_it_fails, starting():
            if_it_fails.callback(ours.close)

            def serve() -> None:
                serve_competition(folder, theirs, self._rules)

            child = start_child(serve, (theirs.fileno(),))
            if_it_fails.pop_all()
        self._kept[folder] = _Competition(child, ours)
        return self._kept[folder]

    def _evict(self) -> None:
        """End the least recently used processes until the budget is kept."""
        while self._kept and (
            len(self._kept) > MOST_COMPETITIONS
            or sum(one.kept_bytes for one in self._kept.values()) > self._budget
        ):
            _, oldest = self._kept.popitem(last=False)
            oldest.end()
            self._evictions += 1

    def _counts(self) -> CacheCounts:
        kept_bytes = sum(one.kept_bytes for one in self._kept.values())
        return CacheCounts(self._hits, self._misses, self._evictions, len(self._kept), kept_bytes)


def _folder(request: Request) -> VersionFolder:
    return VersionFolder(request.slug, Path(request.version_dir))
