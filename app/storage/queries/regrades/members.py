"""Find submissions that a regrade does not have yet, and add them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, func, insert, literal, select
from sqlalchemy.orm import Session

from app.domain.states import SETTLED, SubmissionState
from app.storage.database.models import Run, Submission
from app.storage.database.records import AddedSubmission
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries.regrades.regrades import RegradeRecord

TABLE = RegradeOutcome.__table__
SUBMISSION = Submission.__table__
RUN = Run.__table__
FILLED_AT_ONCE = 5000
LISTED_AT_ONCE = 50_000  # the time of each list grows with the number of submissions that are left


def fill(session: Session, regrade: RegradeRecord) -> list[AddedSubmission]:
    """Add settled submissions to a regrade that it does not have, at most `FILLED_AT_ONCE`.

    Returns them with the versions that will grade them.
    """
    query = _submissions(regrade).where(*_missing(regrade)).limit(FILLED_AT_ONCE)
    if regrade.submission_id is not None:
        query = query.where(SUBMISSION.c.id == regrade.submission_id)
    added = [AddedSubmission(*row) for row in session.execute(query)]
    _insert(session, regrade, added)
    return added


def settled_after(session: Session, regrade: RegradeRecord, after: str) -> list[AddedSubmission]:
    """The settled submissions of a regrade's competition after this one, oldest first.

    At most `LISTED_AT_ONCE`. Submissions that the regrade has already are included, because
    PostgreSQL may not have statistics of them yet and would choose a slow plan.
    """
    query = _submissions(regrade).where(*_settled(regrade.competition), SUBMISSION.c.id > after)
    return [AddedSubmission(*row) for row in session.execute(query.limit(LISTED_AT_ONCE))]


def add(
    session: Session, regrade: RegradeRecord, listed: Sequence[AddedSubmission]
) -> list[AddedSubmission]:
    """Add those of these submissions that the regrade does not have, and return them."""
    ids = [one.submission_id for one in listed]
    query = select(TABLE.c.submission_id).where(
        TABLE.c.regrade_id == regrade.id, TABLE.c.submission_id.in_(ids)
    )
    known = set(session.execute(query).scalars())
    added = [one for one in listed if one.submission_id not in known]
    _insert(session, regrade, added)
    return added


def _insert(session: Session, regrade: RegradeRecord, added: Sequence[AddedSubmission]) -> None:
    new = {"regrade_id": regrade.id, "state": SubmissionState.QUEUED, "attempts": 0}
    rows = [
        {**new, "submission_id": one.submission_id, "version_id": one.version_id} for one in added
    ]
    if rows:
        session.execute(insert(TABLE), rows)


def _submissions(regrade: RegradeRecord) -> Select[Any]:
    """Submissions with their bytes and the versions that will grade them, oldest first."""
    fixed = regrade.version_id
    version = SUBMISSION.c.version_id if fixed is None else literal(fixed)
    return (
        select(SUBMISSION.c.id, SUBMISSION.c.bytes, version)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .order_by(SUBMISSION.c.id)
    )


def _missing(regrade: RegradeRecord) -> tuple[ColumnElement[bool], ...]:
    known = (
        select(TABLE.c.submission_id)
        .where(TABLE.c.regrade_id == regrade.id, TABLE.c.submission_id == SUBMISSION.c.id)
        .exists()
    )
    return *_settled(regrade.competition), ~known


def _settled(competition: str) -> tuple[ColumnElement[bool], ...]:
    of_competition = RUN.c.competition == competition
    return of_competition, SUBMISSION.c.state.in_(sorted(SETTLED))


def count_settled(session: Session, competition: str) -> int:
    """How many submissions to a competition are settled."""
    return int(session.execute(select(_count_settled(competition))).scalar_one())


def count_missing(session: Session, regrade: RegradeRecord) -> int:
    """How many settled submissions of the competition the regrade does not have.

    All that it has are settled ones of the competition. So two counts are enough, which take a
    fifth of the time of looking for each submission among those of the regrade.
    """
    own = select(func.count()).select_from(TABLE).where(TABLE.c.regrade_id == regrade.id)
    query = select(_count_settled(regrade.competition) - own.scalar_subquery())
    return int(session.execute(query).scalar_one())


def _count_settled(competition: str) -> ScalarSelect[int]:
    query = (
        select(func.count())
        .select_from(SUBMISSION)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .where(*_settled(competition))
    )
    return query.scalar_subquery()
