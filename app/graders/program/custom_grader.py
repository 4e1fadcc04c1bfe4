"""A grader for competitions with a metric.py: a process for each competition, and one for each job.

This process keeps no answers and runs no competition's code. Each competition has a process, so
that a metric never finds data of another competition in its memory.

Replies pass through this process: scores, and cells of rejected files. If it forked the process of
the next competition, they would be in the memory of that competition's jobs. So a copy of it, made
before its first job, starts these processes. The copy gets only commands and channels; the first
message through the channel of a process names its competition.
"""

from __future__ import annotations

from collections import OrderedDict

from app.graders.messages import protocol
from app.graders.messages.framing import receive, send
from app.graders.messages.protocol import Reply, Request
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import GraderFault
from app.graders.program.child import NotStarted
from app.graders.program.competition_process import folder_of
from app.graders.program.competition_starter import CompetitionStarter, StartedCompetition
from app.graders.program.faults import answer_for
from app.graders.program.job_process import JobRules
from app.graders.version_folder import VersionFolder
from app.units import MEGABYTE

MOST_COMPETITIONS = 8  # processes that are kept; each also takes some memory


class CustomGrader:
    """Grades submissions by metric.py, and checks competitions that have one.

    The processes of the competitions that were used last are kept, within a budget of bytes.
    """

    def __init__(self, cache_mb: int, rules: JobRules) -> None:
        self._budget = cache_mb * MEGABYTE
        self._starter = CompetitionStarter(rules)
        self._kept: OrderedDict[VersionFolder, StartedCompetition] = OrderedDict()

    def handle(self, request: Request) -> bytes:
        """Do one job. Returns the bytes of the reply."""
        try:
            answer = self._answer(request)
        except NotStarted as error:
            answer = answer_for(error)
        return protocol.write_reply(request.id, answer, self._kept_bytes())

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
        competition.kept_bytes = reply.kept_bytes
        if reply.retire:
            self._starter.end(self._kept.pop(folder))
        self._evict()
        return reply.answer.result()

    def _competition(self, folder: VersionFolder, request: Request) -> StartedCompetition:
        found = self._kept.get(folder)
        if found is not None:
            self._kept.move_to_end(folder)
            return found
        self._kept[folder] = self._starter.start(request)
        return self._kept[folder]

    def _evict(self) -> None:
        """End the least recently used processes until the budget is kept."""
        while self._kept and (
            len(self._kept) > MOST_COMPETITIONS or self._kept_bytes() > self._budget
        ):
            _, oldest = self._kept.popitem(last=False)
            self._starter.end(oldest)

    def _kept_bytes(self) -> int:
        return sum(one.kept_bytes for one in self._kept.values())
