"""The tables of reviews: sketches of files, signals, decisions, and files known to be leaked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.states import ReviewDecision
from app.review.signals import Level, Signal
from app.storage.database.tables.column_types import DOCUMENT, KEY, NUMBER, UtcDateTime, enum_column
from app.storage.database.tables.declarative import Base


class SubmissionSketch(Base):
    """The sketch of a graded submission; `digest` is that of its blocks and of its rows.

    Ids follow the order of the grades, which is not that of the submissions. `reviewed_at` is null
    until its signals were computed.
    """

    __tablename__ = "submission_sketch"
    __table_args__ = (
        UniqueConstraint("submission_id"),
        Index(None, "version_id", "digest", "id"),
        Index(None, "version_id", "reviewed_at"),
        Index(None, "reviewed_at"),
    )

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    submission_id: Mapped[str] = mapped_column(KEY, ForeignKey("submission.id"))
    version_id: Mapped[int] = mapped_column(NUMBER, ForeignKey("competition_version.id"))
    rows: Mapped[int] = mapped_column(BigInteger)
    digest: Mapped[str] = mapped_column(KEY)
    blocks: Mapped[bytes] = mapped_column(LargeBinary)
    cells: Mapped[bytes] = mapped_column(LargeBinary)
    reviewed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ReviewSignal(Base):
    """A signal of a submission, and the run that it resembles, if any.

    A run keeps the first signal of each kind and level.
    """

    __tablename__ = "review_signal"
    __table_args__ = (UniqueConstraint("run_id", "signal", "level"), Index(None, "run_id", "id"))

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    submission_id: Mapped[str] = mapped_column(KEY, ForeignKey("submission.id"))
    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"))
    signal: Mapped[Signal] = mapped_column(enum_column(Signal))
    level: Mapped[Level] = mapped_column(enum_column(Level))
    other_run: Mapped[str | None] = mapped_column(KEY, ForeignKey("run.id"))
    detail: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class RunReview(Base):
    """A decision about a run. It applies until `superseded_at`; if that is null, it applies now.

    `decided_by` is null for a command on the server.
    """

    __tablename__ = "run_review"
    __table_args__ = (Index(None, "run_id", "id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"))
    decision: Mapped[ReviewDecision] = mapped_column(enum_column(ReviewDecision))
    reason: Mapped[str] = mapped_column(Text)
    decided_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    superseded_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class KnownLeak(Base):
    """A file known to contain leaked answers of a competition, by its digest."""

    __tablename__ = "known_leak"

    competition: Mapped[str] = mapped_column(KEY, primary_key=True)
    sha256: Mapped[str] = mapped_column(KEY, primary_key=True)
    note: Mapped[str] = mapped_column(Text)
    added_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
