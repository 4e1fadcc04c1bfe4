"""Faults: why an attempt at grading failed, for the administrator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, insert, select
from sqlalchemy.orm import Session

from app.storage.database.models import Run, Submission
from app.storage.database.tables.operation import Fault

TABLE = Fault.__table__
SUBMISSION = Submission.__table__
RUN = Run.__table__


@dataclass(frozen=True, slots=True)
class ListedFault:
    """A failed attempt at grading a submission: the kind, the place and the time of its fault."""

    id: int
    submission: str
    run: str
    competition: str
    attempt: int
    kind: str
    place: str
    at: datetime


SERVER_DIED = "server_died"  # the kind of a fault of a server that died while it graded a file
# The kinds of faults that a file can cause. All others are faults of Podium, its store or the
# competition, whatever the file is.
BY_FILE = frozenset({"crashed", "memory", "metric", SERVER_DIED, "timeout", "worker_lost"})


def add_fault(
    session: Session, submission_id: str, attempt: int, kind: str, place: str, at: datetime
) -> None:
    """Record how and where an attempt at grading a submission failed."""
    fault = {
        "submission_id": submission_id,
        "attempt": attempt,
        "kind": kind,
        "place": place,
        "at": at,
    }
    session.execute(insert(TABLE), fault)


def list_faults(
    session: Session, *, submission_id: str | None = None, before: int | None = None, limit: int
) -> list[ListedFault]:
    """Faults, latest first: of one submission or of all, those older than the fault `before`."""
    query = (
        select(
            TABLE.c.id, TABLE.c.submission_id, SUBMISSION.c.run_id, RUN.c.competition,
            TABLE.c.attempt, TABLE.c.kind, TABLE.c.place, TABLE.c.at,
        )
        .join(SUBMISSION, SUBMISSION.c.id == TABLE.c.submission_id)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .order_by(TABLE.c.id.desc())
        .limit(limit)
    )  # fmt: skip
    if submission_id is not None:
        query = query.where(TABLE.c.submission_id == submission_id)
    if before is not None:
        query = query.where(TABLE.c.id < before)
    return [ListedFault(*row) for row in session.execute(query)]


def count_deaths(session: Session, submission_id: str) -> int:
    """How many times a server died while it graded a submission."""
    query = select(func.count()).where(
        TABLE.c.submission_id == submission_id, TABLE.c.kind == SERVER_DIED
    )
    return int(session.execute(query).scalar_one())


def with_deaths() -> Select[tuple[str]]:
    """A query for the ids of submissions during whose grading a server died."""
    return select(TABLE.c.submission_id).where(TABLE.c.kind == SERVER_DIED)
