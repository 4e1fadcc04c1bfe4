"""What became of a job, as an answer: errors of every kind become faults without their words."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from app.domain.verdict import Rejection
from app.errors import BadCompetition, DamagedFile, MetricFault
from app.graders.reply_writing import Answer
from app.graders.results import GraderFault, Rejected
from app.graders.version_loader import MetricMemoryError


def answer_of(job: Callable[[], Answer]) -> Answer:
    """Do a job; gives its answer, or the one that stands for the error it ended with."""
    try:
        return job()
    except BaseException as error:
        # SystemExit too: whatever a metric does, the grader says what became of its job.
        return answer_for(error)


def answer_for(error: BaseException) -> Rejected | GraderFault:
    """The answer that stands for an error: a rejection of the file, or a fault."""
    match error:
        case Rejection():
            return Rejected(error.verdict)
        case MemoryError() | MetricMemoryError():
            return GraderFault("memory")
        case DamagedFile():
            return GraderFault("storage", error.detail)
        case MetricFault():
            return GraderFault("metric", error.detail)
        case BadCompetition():
            first = error.problems[0]
            return GraderFault("competition", ":".join(filter(None, (first["file"], first["key"]))))
        case _:
            return GraderFault("internal", place_of(error))


def place_of(error: BaseException) -> str:
    """Where an error was raised and its type; not its text, which could quote an answer."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} " if frames else ""
    return where + type(error).__name__
