"""What comes back from a grader: a grade, a refusal, or a fault of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.domain.verdict import Verdict
from app.grading.graded import Graded

GraderFaultKind = Literal[
    "timeout",  # the job took longer than it may
    "memory",  # the job asked for more memory than it may
    "crashed",  # the grader died under the job
    "metric",  # the metric raised, or returned something that is not a finite number
    "competition",  # the competition's files cannot be used
    "storage",  # a stored file is missing, or is not what was stored
    "internal",  # an error in Podium's own code, or a file that is not there
    "isolation",  # isolation is required for a metric.py, and this machine lacks a part of it
    "server_died",  # the server died while it graded the file
    "not_started",  # no grader could be started for the job
    "worker_lost",  # the worker that graded it died, or was not heard of for too long
]


@dataclass(frozen=True, slots=True)
class Rejected:
    """The file's fault: it is not a valid submission."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class GraderFault:
    """Our fault or the competition's: nothing was decided about the file.

    `place` says where, as a file, a line and a type of error. It never holds the text of an
    error: that could quote an answer.
    """

    kind: GraderFaultKind
    place: str = ""


GradingResult = Graded | Rejected | GraderFault


@dataclass(frozen=True, slots=True)
class CompetitionCheck:
    """What trying a competition showed, before it is imported.

    `problems` are `{file, key, message}`, and an empty tuple means that the competition can be
    used. `answers_score` is what the answers score when they are submitted, `sample_score` what
    the sample submission scores; None where it did not come to that.
    """

    problems: tuple[dict[str, str], ...]
    rows: int | None = None
    answers_score: float | None = None
    sample_score: float | None = None
    sample_verdict: Verdict | None = None
