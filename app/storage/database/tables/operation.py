"""The tables of operation: faults, environments, commit marks, waiting uploads, secrets, logins."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.storage.database.tables.column_types import KEY, NUMBER, UtcDateTime
from app.storage.database.tables.declarative import Base

# The names of the secrets that sign cookies of logins, and addresses that need no key.
LOGINS, SIGNED_URLS = "login-secret", "url-secret"


class Fault(Base):
    """A failed attempt at grading."""

    __tablename__ = "fault"
    __table_args__ = (Index(None, "submission_id", "id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    submission_id: Mapped[str] = mapped_column(KEY, ForeignKey("submission.id"))
    attempt: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(Text)
    place: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class GradingEnvironment(Base):
    """The environment that grades for this database. The first start writes the only row."""

    __tablename__ = "grading_environment"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    podium_version: Mapped[str] = mapped_column(Text)
    environment: Mapped[str] = mapped_column(Text)
    since: Mapped[datetime] = mapped_column(UtcDateTime)


class WriteMark(Base):
    """The number of a writer's last committed group, one row per writer: see `commit_marks`."""

    __tablename__ = "write_receipt"

    writer: Mapped[str] = mapped_column(KEY, primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class PendingUpload(Base):
    """A file uploaded through Kaggle's API that is not submitted yet."""

    __tablename__ = "held_upload"
    __table_args__ = (Index(None, "run_id", "came_at"),)

    nonce: Mapped[str] = mapped_column(KEY, primary_key=True)
    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"))
    name: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(Text)
    bytes: Mapped[int] = mapped_column(BigInteger)
    came_at: Mapped[datetime] = mapped_column(UtcDateTime)
    until: Mapped[datetime] = mapped_column(UtcDateTime)


class Secret(Base):
    """A secret that all servers of one Podium share, in hex."""

    __tablename__ = "secret"

    name: Mapped[str] = mapped_column(KEY, primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class EndedLogin(Base):
    """A login of a browser that ended before it expired: its id, and the time of its expiry."""

    __tablename__ = "ended_login"
    __table_args__ = (Index(None, "until"),)

    login: Mapped[str] = mapped_column(KEY, primary_key=True)
    until: Mapped[datetime] = mapped_column(UtcDateTime)
