"""Regrades: add one, find them, and change their progress."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.domain.states import RegradeState
from app.storage.database.rows import one, record, values
from app.storage.database.tables.regrades import Regrade
from app.storage.queries.operation.environments import Environment

PREFIX = "rgr"  # of ids
TABLE = Regrade.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class RegradeRecord:
    """A regrade of a competition; see `tables.regrades.Regrade`.

    `created_by` and `decided_by` are ids of keys; None for a command on the server. `reason` is
    why it was applied or cancelled.
    """

    id: str
    competition: str
    version_id: int | None
    submission_id: str | None = None
    state: RegradeState = RegradeState.RUNNING
    podium_version: str
    environment: str
    created_by: str | None
    created_at: datetime
    ready_at: datetime | None = None
    reason: str | None = None
    decided_by: str | None = None
    applied_at: datetime | None = None
    cancelled_at: datetime | None = None
    superseded_at: datetime | None = None
    replaces: str | None = None
    summary: dict[str, Any] | None = None

    @property
    def began_in(self) -> Environment:
        """The environment of its grades."""
        return Environment(self.podium_version, self.environment)


def add(session: Session, new: RegradeRecord) -> None:
    """Store a regrade."""
    session.execute(insert(TABLE), values(new))


def get(session: Session, regrade_id: str, *, locks: bool = False) -> RegradeRecord | None:
    """A regrade by its id; `locks` it for the transaction."""
    query = select(TABLE).where(TABLE.c.id == regrade_id)
    row = session.execute(query.with_for_update() if locks else query).one_or_none()
    return one(RegradeRecord, row)


def of_competition(
    session: Session, slug: str, *, after: str | None = None, limit: int
) -> list[RegradeRecord]:
    """A competition's regrades, oldest first, after the one with this id."""
    query = select(TABLE).where(TABLE.c.competition == slug).order_by(TABLE.c.id).limit(limit)
    if after is not None:
        query = query.where(TABLE.c.id > after)
    return [record(RegradeRecord, row) for row in session.execute(query)]


def running(session: Session) -> list[RegradeRecord]:
    """The regrades with submissions to grade, oldest first."""
    query = select(TABLE).where(TABLE.c.state == RegradeState.RUNNING).order_by(TABLE.c.id)
    return [record(RegradeRecord, row) for row in session.execute(query)]


def in_force_at(session: Session, slug: str, *, locks: bool = False) -> RegradeRecord | None:
    """The regrade whose grades results at this competition use; None: the first grades."""
    query = select(TABLE).where(
        TABLE.c.competition == slug,
        TABLE.c.state == RegradeState.APPLIED,
        TABLE.c.superseded_at.is_(None),
    )
    row = session.execute(query.with_for_update() if locks else query).one_or_none()
    return one(RegradeRecord, row)


def change(session: Session, regrade_id: str, **fields: Any) -> None:
    """Overwrite fields of a regrade."""
    session.execute(update(TABLE).where(TABLE.c.id == regrade_id).values(fields))


def change_running(session: Session, regrade_id: str, **fields: Any) -> bool:
    """Overwrite fields of a regrade that is running. Returns whether it is."""
    running_one = update(TABLE).where(
        TABLE.c.id == regrade_id, TABLE.c.state == RegradeState.RUNNING
    )
    result: Any = session.execute(running_one.values(fields))
    return int(result.rowcount) == 1
