"""Store and find submissions, queue them again, and settle them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, Select, and_, bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from app.domain.states import SETTLED, SubmissionState
from app.storage.database import notify
from app.storage.database.models import Grade, Submission
from app.storage.database.records import GradeRecord, SettledRecord, SubmissionRecord
from app.storage.database.rows import record, values

PREFIX = "sub"  # of ids
TABLE = Submission.__table__
GRADE = Grade.__table__
COLUMN_COUNT = len(TABLE.c)
# A submission may have several grades. This is the one under the submission's own version.
OF_OWN_VERSION = and_(GRADE.c.submission_id == TABLE.c.id, GRADE.c.version_id == TABLE.c.version_id)
WITH_GRADE = select(TABLE, GRADE).join(GRADE, OF_OWN_VERSION, isouter=True)
# Without the outcome: reading it takes longer for a file with many mistakes, so the time would
# reveal it to a caller who may not know it.
BARE = select(*(column for column in TABLE.c if column.name not in {"problem", "warnings"}))
OUTCOMES = select(TABLE.c.id, TABLE.c.problem, TABLE.c.warnings, GRADE).join(
    GRADE, OF_OWN_VERSION, isouter=True
)
OF_RUN = TABLE.c.run_id == bindparam("run_id")
IS_QUEUED = TABLE.c.state == SubmissionState.QUEUED

ADD = insert(TABLE)
# Two queries in one, because SQLite would look for the largest id among all that it counts.
UP_TO = (OF_RUN, TABLE.c.id <= bindparam("last"))
COUNT_UP_TO = select(
    select(func.count()).select_from(TABLE).where(*UP_TO).scalar_subquery(),
    select(func.max(TABLE.c.id)).where(*UP_TO).scalar_subquery(),
)
BY_ID = WITH_GRADE.where(TABLE.c.id == bindparam("id"))
BARE_BY_ID = BARE.where(TABLE.c.id == bindparam("id"))
BY_KEY = BARE.where(OF_RUN, TABLE.c.idempotency_key == bindparam("key"))
REQUEUE = (
    update(TABLE)
    .where(TABLE.c.state == SubmissionState.GRADING)
    .values(state=SubmissionState.QUEUED, claimed_by=None, claimed_at=None)
)
# One comparison for each state: a statement with an IN list cannot be executed for many rows.
IS_OPEN = and_(*(TABLE.c.state != state for state in sorted(SETTLED)))
SETTLE = update(TABLE).where(TABLE.c.id == bindparam("of"), IS_OPEN)


def add_submissions(session: Session, added: Sequence[SubmissionRecord]) -> None:
    """Store submissions.

    Raises:
        IntegrityError: a run has a submission with the same idempotency key.
    """
    if added:
        session.execute(ADD, [values(submission) for submission in added])
        notify.publish(session, {submission.run_id for submission in added})


def get_submission(
    session: Session, submission_id: str, *, outcomes: bool = True
) -> tuple[SubmissionRecord, GradeRecord | None] | None:
    """A submission and its grade under its own version.

    Without `outcomes` it has neither grade, problem nor warnings, here and in the lists.
    """
    query = BY_ID if outcomes else BARE_BY_ID
    row = session.execute(query, {"id": submission_id}).one_or_none()
    return None if row is None else _found(row, outcomes)


def with_outcomes(
    session: Session, found: Sequence[SubmissionRecord]
) -> dict[str, tuple[SubmissionRecord, GradeRecord | None]]:
    """Submissions that were read without their outcomes, with them and their grades, by id."""
    if not found:
        return {}
    by_id = {one.id: one for one in found}
    rows = session.execute(OUTCOMES.where(TABLE.c.id.in_(by_id)))
    return {
        of: (replace(by_id[of], problem=problem, warnings=warnings), _grade(grade))
        for of, problem, warnings, *grade in rows
    }


def by_idempotency_key(session: Session, run_id: str, key: str) -> SubmissionRecord | None:
    """The run's submission that was sent with this Idempotency-Key, without its outcome."""
    row = session.execute(BY_KEY, {"run_id": run_id, "key": key}).one_or_none()
    return None if row is None else _found(row, outcomes=False)[0]


def list_submissions(
    session: Session,
    run_id: str,
    *,
    after: str | None = None,
    limit: int,
    outcomes: bool = True,
) -> list[tuple[SubmissionRecord, GradeRecord | None]]:
    """A run's submissions with their grades, oldest first, at most `limit` after the id `after`."""
    query = (WITH_GRADE if outcomes else BARE).where(TABLE.c.run_id == run_id)
    query = query.order_by(TABLE.c.id).limit(limit)
    if after is not None:
        query = query.where(TABLE.c.id > after)
    return [_found(row, outcomes) for row in session.execute(query)]


def latest_submissions(
    session: Session,
    run_id: str,
    *,
    before: str | None = None,
    offset: int = 0,
    limit: int,
    outcomes: bool = True,
) -> list[tuple[SubmissionRecord, GradeRecord | None]]:
    """A run's submissions with their grades, newest first, those before the id `before`."""
    query = (WITH_GRADE if outcomes else BARE).where(TABLE.c.run_id == run_id)
    query = query.order_by(TABLE.c.id.desc())
    if before is not None:
        query = query.where(TABLE.c.id < before)
    return [_found(row, outcomes) for row in session.execute(query.offset(offset).limit(limit))]


def best_first(
    session: Session, run_id: str, score: str, *, higher_is_better: bool
) -> Iterator[SubmissionRecord]:
    """A run's graded submissions that have this kind of score, the best first: no outcomes."""
    column = GRADE.c[score]
    best = column.desc() if higher_is_better else column
    query = BARE.join(GRADE, OF_OWN_VERSION).where(TABLE.c.run_id == run_id, column.is_not(None))
    rows = session.execute(query.order_by(best, TABLE.c.id).execution_options(yield_per=100))
    return (SubmissionRecord(**row._asdict()) for row in rows)


def count_up_to(session: Session, run_id: str, last: str) -> tuple[int, str]:
    """The number of the run's submissions up to the id `last`, and the last id ("": none)."""
    count, found = session.execute(COUNT_UP_TO, {"run_id": run_id, "last": last}).one()
    return int(count), found or ""


def requeue_claimed_by(
    session: Session,
    claimant: str,
    *,
    counts_attempt: bool = True,
    only: Sequence[str] | None = None,
) -> int:
    """Queue again all submissions that `claimant` was grading when it died; returns their number.

    With `counts_attempt=False` the interrupted attempt does not count. With `only`, queue none but
    these submissions.
    """
    query = REQUEUE.where(TABLE.c.claimed_by == claimant)
    if only is not None:
        query = query.where(TABLE.c.id.in_(only))
    if not counts_attempt:
        query = query.values(attempts=TABLE.c.attempts - 1)
    return _row_count(session.execute(query))


def claimants(session: Session) -> list[str]:
    """The servers that are grading submissions, without claimants of the queue (`job:token`)."""
    query = select(TABLE.c.claimed_by).where(
        TABLE.c.state == SubmissionState.GRADING, ~TABLE.c.claimed_by.contains(":")
    )
    return sorted(set(session.execute(query).scalars()))


def claimed_by(session: Session, claimant: str) -> list[tuple[str, str, int]]:
    """The ids of the submissions that `claimant` is grading, in order, with run and attempt.

    Locks them. Waits for submissions whose outcome another process is writing, and leaves them out.
    """
    query = select(TABLE.c.id, TABLE.c.run_id, TABLE.c.attempts).where(
        TABLE.c.state == SubmissionState.GRADING, TABLE.c.claimed_by == claimant
    )
    return [tuple(row) for row in session.execute(query.order_by(TABLE.c.id).with_for_update())]


def queued_among(session: Session, ids: Select[tuple[str]]) -> list[str]:
    """The ids among these whose submissions are queued, oldest first."""
    query = select(TABLE.c.id).where(IS_QUEUED, TABLE.c.id.in_(ids)).order_by(TABLE.c.id)
    return list(session.execute(query).scalars())


def requeue_claim(session: Session, submission_id: str) -> bool:
    """Queue a submission again if it is in the state `grading`. Returns whether it was."""
    return _row_count(session.execute(REQUEUE.where(TABLE.c.id == submission_id))) == 1


def settle_all(session: Session, outcomes: Sequence[SettledRecord]) -> None:
    """Write submissions' outcomes. A submission that has an outcome keeps it.

    Raises:
        ValueError: a state is not final.
    """
    for outcome in outcomes:
        if not outcome.state.is_settled:
            raise ValueError(f"{outcome.state.value!r} is not a final state")
    if outcomes:
        rows = [values(outcome) for outcome in outcomes]
        for row in rows:
            row["of"] = row.pop("id")
        session.execute(SETTLE, rows)


def settled_among(session: Session, ids: Sequence[str]) -> list[str]:
    """The ids among `ids` whose submissions are settled."""
    query = select(TABLE.c.id).where(TABLE.c.id.in_(ids), TABLE.c.state.in_(sorted(SETTLED)))
    return list(session.execute(query).scalars())


def _found(row: Row[Any], outcomes: bool) -> tuple[SubmissionRecord, GradeRecord | None]:
    return _with_grade(row) if outcomes else (SubmissionRecord(**row._asdict()), None)


def _with_grade(row: Row[Any]) -> tuple[SubmissionRecord, GradeRecord | None]:
    return record(SubmissionRecord, row[:COLUMN_COUNT]), _grade(row[COLUMN_COUNT:])


def _grade(columns: Sequence[Any]) -> GradeRecord | None:
    return None if columns[0] is None else record(GradeRecord, columns)


def _row_count(result: Any) -> int:
    return int(result.rowcount)
