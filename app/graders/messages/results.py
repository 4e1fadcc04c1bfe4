"""The results of a grader: a grade, a rejection, or a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.domain.verdict import Verdict
from app.grading.graded import Graded

GraderFaultKind = Literal[
    "timeout",  # the job took longer than its limit
    "memory",  # the job asked for more memory than its limit
    "crashed",  # the grader died during the job
    "metric",  # the metric raised, or returned something that is not a finite number
    "competition",  # the competition's files cannot be used
    "storage",  # a stored file is missing or has changed
    "internal",  # an error in Podium's own code, or a file that is not there
    "isolation",  # isolation is required for a metric.py, and this machine lacks a part of it
    "server_died",  # the server died while it graded the file
    "not_started",  # no grader could be started for the job
    "worker_lost",  # the worker that graded it died, or sent no heartbeat for too long
]


@dataclass(frozen=True, slots=True)
class Rejected:
    """The file is not a valid submission."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class GraderFault:
    """A fault of Podium or of the competition: there is no verdict on the file.

    `place` is a file, a line and a type of error. It never contains the text of an error, which
    could quote an answer.
    """

    kind: GraderFaultKind
    place: str = ""


KILLED = GraderFault("crashed", "signal 9")
ABOUT_KILLED = (
    "A grading that crashed at signal 9 was killed, most often by the system because the machine "
    "or its container had no memory left. Give it more memory, or bound what gradings take: "
    "PODIUM_GRADERS is the number of graders, PODIUM_GRADER_MEMORY_MB the memory of each."
)

GradingResult = Graded | Rejected | GraderFault


@dataclass(frozen=True, slots=True)
class CompetitionCheck:
    """The result of checking a competition before its import.

    `problems` are `{file, key, message}`; if there are none, the competition can be used.
    `answers_score` is the score of the answers as a submission, `sample_score` that of the sample
    submission; None if it was not computed.
    """

    problems: tuple[dict[str, str], ...]
    rows: int | None = None
    answers_score: float | None = None
    sample_score: float | None = None
    sample_verdict: Verdict | None = None
