"""The environment of all grades in this database: versions of Podium, Python and libraries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.storage.database.rows import insert_if_new
from app.storage.database.tables.operation import GradingEnvironment

TABLE = GradingEnvironment.__table__
ROW = 1
CURRENT = select(TABLE.c.podium_version, TABLE.c.environment, TABLE.c.since)


@dataclass(frozen=True, slots=True)
class Environment:
    """The versions that grades depend on, see `app.grading_version`."""

    podium_version: str
    environment: str

    def __str__(self) -> str:
        return f"{self.podium_version} {self.environment}"

    def differences(self, other: Environment) -> list[str]:
        """Describe each version that is different in `other`.

        >>> required = Environment("0.1.0", "python-3.11.2 numpy-2.4.6")
        >>> required.differences(Environment("0.1.0", "python-3.11.2 numpy-2.3.0"))
        ['numpy is 2.3.0, not 2.4.6']
        """
        mine, theirs = self._parts(), other._parts()
        return [
            f"{name} is {theirs.get(name, 'absent')}, not {mine.get(name, 'absent')}"
            for name in [*mine, *(name for name in theirs if name not in mine)]
            if mine.get(name) != theirs.get(name)
        ]

    def _parts(self) -> dict[str, str]:
        pairs = (part.rpartition("-") for part in self.environment.split())
        return {"podium": self.podium_version, **{name: version for name, _, version in pairs}}


def current(session: Session) -> tuple[Environment, datetime] | None:
    """The environment of this database and the time since when; None if none was declared."""
    row = session.execute(CURRENT).one_or_none()
    return None if row is None else (Environment(row.podium_version, row.environment), row.since)


def declare(session: Session, environment: Environment, now: datetime) -> bool:
    """Declare the environment of this database, if none was declared. Returns whether it did."""
    return insert_if_new(session, TABLE, ("id",), _fields(environment, now))


def replace(session: Session, environment: Environment, now: datetime) -> None:
    """Replace the environment of this database."""
    if not declare(session, environment, now):
        session.execute(update(TABLE).values(_fields(environment, now)))


def database_now(session: Session) -> datetime:
    """The time by the database's clock, which all machines share."""
    return session.execute(select(func.now(type_=TABLE.c.since.type))).scalar_one()


def _fields(environment: Environment, now: datetime) -> dict[str, object]:
    return {
        "id": ROW,
        "podium_version": environment.podium_version,
        "environment": environment.environment,
        "since": now,
    }
