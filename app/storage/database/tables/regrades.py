"""The tables of regrades and their outcomes. A regrade changes no grade."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Double, ForeignKey, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.states import RegradeState, SubmissionState
from app.storage.database.tables.column_types import DOCUMENT, KEY, NUMBER, UtcDateTime, enum_column
from app.storage.database.tables.declarative import Base


class Regrade(Base):
    """All kept submissions of a competition, graded anew.

    Results use its grades while it is in force, from `applied_at` to `superseded_at`. `version_id`
    is null if each submission is graded under its own version. `submission_id` limits it to one
    submission; it cannot be applied then. `replaces` is the regrade that was in force before it,
    `summary` the difference that it made when it was applied.
    """

    __tablename__ = "regrade"
    __table_args__ = (Index(None, "competition", "id"), Index(None, "state", "id"))

    id: Mapped[str] = mapped_column(KEY, primary_key=True)
    competition: Mapped[str] = mapped_column(KEY)
    version_id: Mapped[int | None] = mapped_column(NUMBER, ForeignKey("competition_version.id"))
    submission_id: Mapped[str | None] = mapped_column(KEY, ForeignKey("submission.id"))
    state: Mapped[RegradeState] = mapped_column(enum_column(RegradeState))
    podium_version: Mapped[str] = mapped_column(Text)
    environment: Mapped[str] = mapped_column(Text)
    created_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ready_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    reason: Mapped[str | None] = mapped_column(Text)
    decided_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    applied_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    cancelled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    superseded_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # No foreign key: the rows of a backup are loaded in the order of their ids.
    replaces: Mapped[str | None] = mapped_column(KEY)
    summary: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)


class RegradeOutcome(Base):
    """The outcome of a regrade for a submission: a grade in full, violations, or a fault.

    It is `queued` until then. `attempts` counts the gradings that were begun. `claimed_by` is the
    server that began the last one; null where the queue gives each submission to one worker.
    """

    __tablename__ = "regrade_outcome"
    __table_args__ = (
        Index(None, "regrade_id", "state", "attempts", "submission_id"),
        Index(None, "submission_id", "regrade_id"),
    )

    regrade_id: Mapped[str] = mapped_column(KEY, ForeignKey("regrade.id"), primary_key=True)
    submission_id: Mapped[str] = mapped_column(KEY, ForeignKey("submission.id"), primary_key=True)
    version_id: Mapped[int] = mapped_column(NUMBER, ForeignKey("competition_version.id"))
    state: Mapped[SubmissionState] = mapped_column(enum_column(SubmissionState))
    attempts: Mapped[int] = mapped_column(Integer)
    score: Mapped[float | None] = mapped_column(Double)
    public_score: Mapped[float | None] = mapped_column(Double)
    better: Mapped[int | None] = mapped_column(Integer)
    equal: Mapped[int | None] = mapped_column(Integer)
    worse: Mapped[int | None] = mapped_column(Integer)
    teams: Mapped[int | None] = mapped_column(Integer)
    percentile: Mapped[float | None] = mapped_column(Double)
    above_median: Mapped[bool | None]
    medal: Mapped[str | None] = mapped_column(Text)
    grader: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    problem: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    warnings: Mapped[list[dict[str, Any]] | None] = mapped_column(DOCUMENT)
    fault: Mapped[str | None] = mapped_column(Text)
    place: Mapped[str | None] = mapped_column(Text)
    graded_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    search_score: Mapped[float | None] = mapped_column(Double)
    claimed_by: Mapped[str | None] = mapped_column(Text)
