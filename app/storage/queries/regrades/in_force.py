"""Which grades count: those of the regrades in force, else the first ones.

Every query of results asks this module for the state and the grade of a submission. A regrade in
force decides about each of its submissions, even if it rejects one that was graded before.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Join,
    Table,
    and_,
    case,
    literal,
    null,
    or_,
    select,
)
from sqlalchemy.orm import Session

from app.domain.states import RegradeState, SubmissionState
from app.storage.database.models import CompetitionVersion, Grade, Submission
from app.storage.database.tables.regrades import Regrade, RegradeOutcome

REGRADE = Regrade.__table__
OUTCOME = RegradeOutcome.__table__
GRADE = Grade.__table__
VERSION = CompetitionVersion.__table__
STATE_TYPE = Submission.__table__.c.state.type
NO_TIME = "expected a time with its zone, such as 2026-05-01T12:00:00Z"


def in_range(moment: datetime) -> datetime:
    """The same moment, which the database can compare with others in UTC.

    Raises:
        ValueError: it has no zone, or in UTC it is before the year 1, or after the year 9999.
    """
    if moment.tzinfo is None:
        raise ValueError(NO_TIME)
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC this time is not between the years 1 and 9999") from None
    return moment


@dataclass(frozen=True, slots=True)
class Basis:
    """The grades that results use.

    They are those that count now, or those that counted at the time `as_of`. `proposed` is the id
    of a regrade that is treated as if it were in force.
    """

    as_of: datetime | None = None
    proposed: str | None = None


NOW = Basis()


@dataclass(frozen=True, slots=True)
class InForce:
    """A regrade in force at a competition; `version` is None if each run's own version graded."""

    id: str
    competition: str
    version: int | None
    applied_at: datetime | None


def in_force(session: Session, basis: Basis = NOW) -> list[InForce]:
    """The regrades in force, by competition; there is at most one for each."""
    conditions: list[ColumnElement[bool]] = [
        REGRADE.c.applied_at.is_not(None), REGRADE.c.superseded_at.is_(None)
    ]  # fmt: skip
    if basis.as_of is not None:
        conditions = [
            REGRADE.c.applied_at <= basis.as_of,
            or_(REGRADE.c.superseded_at.is_(None), REGRADE.c.superseded_at > basis.as_of),
        ]
    counts = and_(REGRADE.c.state == RegradeState.APPLIED, *conditions)
    if basis.proposed is not None:
        its = select(REGRADE.c.competition).where(REGRADE.c.id == basis.proposed).scalar_subquery()
        counts = or_(REGRADE.c.id == basis.proposed, and_(counts, REGRADE.c.competition != its))
    query = (
        select(REGRADE.c.id, REGRADE.c.competition, VERSION.c.number, REGRADE.c.applied_at)
        .join(VERSION, VERSION.c.id == REGRADE.c.version_id, isouter=True)
        .where(counts)
        .order_by(REGRADE.c.competition)
    )
    return [InForce(*row) for row in session.execute(query)]


@functools.cache
def alias(table: Table, name: str) -> FromClause:
    """An alias of a table. It is made once, because making its columns takes as long as a query."""
    return table.alias(name)


class CountedGrades:
    """Columns of the grades that count, for queries over `submission` or an alias of it.

    `regrades` are the ids of the regrades in force; without any, queries are not changed. With
    `as_of`, the state of a submission that was settled later is `queued`.
    """

    def __init__(
        self,
        submission: FromClause,
        regrades: Sequence[str],
        *,
        as_of: datetime | None = None,
        name: str = "counted",
    ) -> None:
        self._submission = submission
        self._regrades = list(regrades)
        self._outcome: FromClause = alias(OUTCOME, f"{name}_outcome")
        self._grade: FromClause = alias(GRADE, f"{name}_grade")
        self._as_of = as_of

    @property
    def state(self) -> ColumnElement[Any]:
        """The state of the submission."""
        own: ColumnElement[Any] = self._submission.c.state
        if self._as_of is not None:
            settled_at = self._submission.c.settled_at
            waits = literal(SubmissionState.QUEUED, STATE_TYPE)
            own = case(
                (settled_at <= self._as_of, own), (self._submission.c.id.is_not(None), waits)
            )
        return self._of_regrade(self._outcome.c.state, own)

    @property
    def regrade(self) -> ColumnElement[Any]:
        """The regrade that decided; null where the first grade counts."""
        return self._outcome.c.regrade_id if self._regrades else null()

    @property
    def version_id(self) -> ColumnElement[Any]:
        """The version under which the submission was graded; null for no submission."""
        return self._of_regrade(self._outcome.c.version_id, self._submission.c.version_id)

    def column(self, name: str) -> ColumnElement[Any]:
        """A column of the grade; null if the submission is not graded."""
        own: ColumnElement[Any] = self._grade.c[name]
        if self._as_of is not None:
            own = case((self._submission.c.settled_at <= self._as_of, own))
        return self._of_regrade(self._outcome.c[name], own)

    def join_states(self, source: FromClause) -> FromClause:
        """Join what `state` needs."""
        if not self._regrades:
            return source
        on = and_(
            self._outcome.c.submission_id == self._submission.c.id,
            self._outcome.c.regrade_id.in_(self._regrades),
        )
        return source.join(self._outcome, on, isouter=True)

    def join(self, source: FromClause) -> Join:
        """Join what all columns need."""
        on = and_(
            self._grade.c.submission_id == self._submission.c.id,
            self._grade.c.version_id == self._submission.c.version_id,
        )
        return self.join_states(source).join(self._grade, on, isouter=True)

    def _of_regrade(self, new: ColumnElement[Any], first: ColumnElement[Any]) -> ColumnElement[Any]:
        if not self._regrades:
            return first
        return case((self._outcome.c.regrade_id.is_not(None), new), else_=first)
