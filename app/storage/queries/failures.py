"""Failures: submissions whose grading failed in a way that the file can have caused.

A failed submission is one if any of its attempts ended with a fault that a file can cause.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database.models import IS_FAILED, Submission
from app.storage.database.tables.operation import Fault
from app.storage.queries.operation.faults import BY_FILE

TABLE = Submission.__table__
FAULT = Fault.__table__
IS_BY_FILE = (
    select(FAULT.c.id)
    .where(FAULT.c.submission_id == TABLE.c.id, FAULT.c.kind.in_(sorted(BY_FILE)))
    .exists()
)
# The state as it is in the condition of the index, so that the index is used.
IS_FAILURE = (IS_FAILED, IS_BY_FILE)
BY_RUN = (
    select(TABLE.c.run_id, func.count())
    .where(*IS_FAILURE, TABLE.c.run_id.in_(bindparam("run_ids", expanding=True)))
    .group_by(TABLE.c.run_id)
)
TIMES = select(TABLE.c.run_id, TABLE.c.received_at, TABLE.c.settled_at).where(
    *IS_FAILURE, TABLE.c.run_id.in_(bindparam("run_ids", expanding=True))
)


class RecentOutcome(NamedTuple):
    """When a submission was received and settled, and whether it is a failure."""

    received_at: datetime
    settled_at: datetime
    is_failure: bool


def among(session: Session, submission_ids: Collection[str]) -> set[str]:
    """The failures among these submissions."""
    query = select(TABLE.c.id).where(*IS_FAILURE, TABLE.c.id.in_(sorted(submission_ids)))
    return set(session.execute(query).scalars())


def by_run(session: Session, run_ids: Collection[str]) -> dict[str, int]:
    """The number of failures of each of these runs. Zeros are absent.

    An index has only failed submissions, so the cost does not depend on the run's others.
    """
    rows = session.execute(BY_RUN, {"run_ids": sorted(run_ids)})
    return {run_id: int(count) for run_id, count in rows}


def times_by_run(
    session: Session, run_ids: Collection[str]
) -> list[tuple[str, datetime, datetime]]:
    """The failures of these runs: the run of each, and when it was received and settled."""
    rows = session.execute(TIMES, {"run_ids": sorted(run_ids)})
    return [(row[0], row[1], row[2]) for row in rows]


def of_run(session: Session, run_id: str) -> list[tuple[str, datetime, datetime]]:
    """The failures of a run: the id of each, and when it was received and settled."""
    query = select(TABLE.c.id, TABLE.c.received_at, TABLE.c.settled_at).where(
        *IS_FAILURE, TABLE.c.run_id == run_id
    )
    return [(row[0], row[1], row[2]) for row in session.execute(query)]


def settled_since(session: Session, run_id: str, since: datetime) -> list[RecentOutcome]:
    """The run's submissions that were settled after `since`."""
    is_failure = (TABLE.c.state == SubmissionState.FAILED) & IS_BY_FILE
    query = select(TABLE.c.received_at, TABLE.c.settled_at, is_failure).where(
        TABLE.c.run_id == run_id, TABLE.c.settled_at > since
    )
    return [RecentOutcome(row[0], row[1], bool(row[2])) for row in session.execute(query)]
