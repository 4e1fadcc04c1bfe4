"""Receipts: signed statements, and the runs that need one. Rows are only added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, func, insert, or_, select
from sqlalchemy.orm import Session

from app.domain.states import SETTLED, RegradeState, RunState, SubmissionState
from app.receipts.statements import ReceiptKind
from app.storage.database.jsonl import IN_PARTS
from app.storage.database.models import Run, Submission
from app.storage.database.rows import one, record, values
from app.storage.database.tables.receipts import Receipt
from app.storage.database.tables.regrades import Regrade, RegradeOutcome
from app.storage.database.tables.results_elsewhere import ImportedRun, ReportedScore

TABLE = Receipt.__table__
RUN = Run.__table__
SUBMISSION = Submission.__table__
REPORTED = ReportedScore.__table__
IMPORTED_RUN = ImportedRun.__table__
REGRADE = Regrade.__table__
OUTCOME = RegradeOutcome.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRecord:
    """A signed statement; `number` is that of its entry in the log."""

    id: str
    kind: ReceiptKind
    experiment: str
    run_id: str | None
    submission_id: str | None
    facts: str
    statement: str
    signature: str
    envelope_signature: str
    key_id: str
    number: int
    supersedes: str | None
    created_at: datetime

    @property
    def data(self) -> bytes:
        """The bytes that were signed."""
        return self.statement.encode()


def add(session: Session, new: ReceiptRecord) -> None:
    """Store a receipt."""
    session.execute(insert(TABLE), values(new))


def get(session: Session, receipt_id: str) -> ReceiptRecord | None:
    """The receipt with this id."""
    row = session.execute(select(TABLE).where(TABLE.c.id == receipt_id)).one_or_none()
    return one(ReceiptRecord, row)


def last_of_run(session: Session, run_id: str) -> ReceiptRecord | None:
    """The latest receipt of a run."""
    query = select(TABLE).where(TABLE.c.run_id == run_id).order_by(TABLE.c.number.desc()).limit(1)
    return one(ReceiptRecord, session.execute(query).one_or_none())


def last_of_experiment(
    session: Session, experiment: str, kind: ReceiptKind
) -> ReceiptRecord | None:
    """The latest receipt of this kind for an experiment, not for one of its runs."""
    query = (
        select(TABLE)
        .where(TABLE.c.experiment == experiment, TABLE.c.kind == kind)
        .order_by(TABLE.c.number.desc())
        .limit(1)
    )
    return one(ReceiptRecord, session.execute(query).one_or_none())


def of_run(session: Session, run_id: str) -> list[ReceiptRecord]:
    """The receipts of a run, oldest first."""
    query = select(TABLE).where(TABLE.c.run_id == run_id).order_by(TABLE.c.number)
    return [record(ReceiptRecord, row) for row in session.execute(query)]


def of_experiment(
    session: Session, experiment: str, *, kind: ReceiptKind | None, after: int, limit: int | None
) -> list[ReceiptRecord]:
    """Receipts of an experiment and its runs, oldest first, after the one with this number.

    Their order is that of the log, because ids contain the time by the clock of one server.
    """
    query = select(TABLE).where(TABLE.c.experiment == experiment, TABLE.c.number > after)
    if kind is not None:
        query = query.where(TABLE.c.kind == kind)
    rows = session.execute(query.order_by(TABLE.c.number).limit(limit))
    return [record(ReceiptRecord, row) for row in rows]


def replaced_among(session: Session, ids: list[str]) -> set[str]:
    """The receipts among these that a later one supersedes."""
    query = select(TABLE.c.supersedes).where(TABLE.c.supersedes.in_(ids))
    return set(session.execute(query).scalars())


def frozen_experiments(session: Session) -> set[str]:
    """The names of all frozen experiments."""
    query = select(TABLE.c.experiment).where(TABLE.c.kind == ReceiptKind.FREEZE).distinct()
    return set(session.execute(query).scalars())


def latest_by_run(session: Session, experiment: str) -> dict[str, str]:
    """The id of the latest receipt of each run of an experiment, by the run's id."""
    query = (
        select(TABLE.c.run_id, TABLE.c.id)
        .where(TABLE.c.experiment == experiment, TABLE.c.run_id.is_not(None))
        .order_by(TABLE.c.number)
    )
    return {str(run_id): str(receipt_id) for run_id, receipt_id in session.execute(query)}


def all_receipts(session: Session) -> Iterator[ReceiptRecord]:
    """All receipts, oldest first; only some are in memory at a time."""
    query = select(TABLE).order_by(TABLE.c.id)
    for rows in session.execute(query, execution_options=IN_PARTS).partitions():
        yield from (record(ReceiptRecord, row) for row in rows)


def closed_without(session: Session, since: datetime, limit: int) -> list[str]:
    """Runs that were closed since then, are settled and have no receipt, the latest first.

    Imported runs and runs with only reported scores are left out, because Podium did not grade
    them.
    """
    # Without `coalesce` SQLite would find all closed runs by the index of states.
    lately = and_(RUN.c.closed_at > since, func.coalesce(RUN.c.state, "") == RunState.CLOSED)
    return _closed_without(session, lately, limit)


def graded_late_without(session: Session, limit: int) -> list[str]:
    """The same for all closed runs with a submission that was settled after the close.

    It reads all runs without a receipt. There may be many in a Podium from before receipts.
    """
    later = SUBMISSION.c.settled_at > RUN.c.closed_at
    is_late = exists().where(SUBMISSION.c.run_id == RUN.c.id, later)
    return _closed_without(session, and_(is_late, RUN.c.state == RunState.CLOSED), limit)


def _closed_without(session: Session, condition: ColumnElement[bool], limit: int) -> list[str]:
    own = SUBMISSION.c.run_id == RUN.c.id
    waits = exists().where(own, SUBMISSION.c.state.not_in(sorted(SETTLED)))
    is_reported = exists().where(REPORTED.c.run_id == RUN.c.id)
    query = (
        select(RUN.c.id)
        .join(TABLE, TABLE.c.run_id == RUN.c.id, isouter=True)
        .join(IMPORTED_RUN, IMPORTED_RUN.c.run_id == RUN.c.id, isouter=True)
        .where(condition)
        .where(TABLE.c.id.is_(None), IMPORTED_RUN.c.run_id.is_(None))
        .where(~waits, or_(exists().where(own), ~is_reported))
        .order_by(RUN.c.closed_at.desc())
        .limit(limit)
    )
    return list(session.execute(query).scalars())


def regraded_since(session: Session, since: datetime | None, limit: int) -> list[str]:
    """Runs whose last receipt is older than a regrade of a submission that was applied since then.

    With None, all regrades in force are considered.
    """
    last = select(func.max(TABLE.c.created_at)).where(TABLE.c.run_id == RUN.c.id).scalar_subquery()
    query = (
        select(RUN.c.id)
        .join(REGRADE, REGRADE.c.competition == RUN.c.competition)
        .where(REGRADE.c.state == RegradeState.APPLIED, REGRADE.c.superseded_at.is_(None))
        .where(last < REGRADE.c.applied_at)
        .where(
            exists().where(
                SUBMISSION.c.run_id == RUN.c.id,
                OUTCOME.c.submission_id == SUBMISSION.c.id,
                OUTCOME.c.regrade_id == REGRADE.c.id,
            )
        )
        .order_by(RUN.c.id)
        .limit(limit)
    )
    if since is not None:
        query = query.where(REGRADE.c.applied_at > since)
    return list(session.execute(query).scalars())


def graded_digests(session: Session, experiment: str) -> dict[str, str]:
    """The SHA-256 of each graded submission of an experiment, by its id."""
    # Without `coalesce` SQLite would find those of all experiments by their state.
    is_graded = func.coalesce(SUBMISSION.c.state, "") == SubmissionState.GRADED
    query = (
        select(SUBMISSION.c.id, SUBMISSION.c.sha256)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .where(RUN.c.experiment == experiment, is_graded)
    )
    return {str(key): str(sha256) for key, sha256 in session.execute(query)}
