"""Convert the errors of a job to answers: rejections, and faults without the errors' texts."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from app.domain.verdict import Rejection
from app.errors import BadCompetition, DamagedFile, MetricFault
from app.graders.messages.reply_writing import Answer
from app.graders.messages.results import GraderFault, Rejected
from app.graders.program.child import NotStarted
from app.graders.program.version_loader import MetricMemoryError


def answer_of(job: Callable[[], Answer]) -> Answer:
    """Do a job. Returns its answer, or the answer for the error that ended it."""
    try:
        return job()
    except BaseException as error:
        # SystemExit too: the grader must answer whatever a metric does.
        return answer_for(error)


def answer_for(error: BaseException) -> Rejected | GraderFault:
    """The answer for an error: a rejection of the file, or a fault."""
    match error:
        case Rejection():
            return Rejected(error.verdict)
        case MemoryError() | MetricMemoryError():
            return GraderFault("memory")
        case DamagedFile():
            return GraderFault("storage", error.detail)
        case NotStarted():
            return GraderFault("not_started", str(error))
        case MetricFault():
            return GraderFault("metric", error.detail)
        case BadCompetition():
            first = error.problems[0]
            return GraderFault("competition", ":".join(filter(None, (first["file"], first["key"]))))
        case _:
            return GraderFault("internal", place_of(error))


def place_of(error: BaseException) -> str:
    """The line and type of an error, without its text, which could quote an answer."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} " if frames else ""
    return where + type(error).__name__
