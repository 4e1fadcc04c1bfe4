"""The tables of results that were made elsewhere: imported and reported ones."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.states import ReportedScoreKind
from app.storage.database.tables.column_types import DOCUMENT, KEY, NUMBER, UtcDateTime, enum_column
from app.storage.database.tables.declarative import Base


class ImportedGrade(Base):
    """A result that another grader reported. It has a competition and a seed, but no run.

    `document` is the unchanged entry of the report. The other columns are derived from it.
    """

    __tablename__ = "imported_grade"
    __table_args__ = (UniqueConstraint("experiment", "competition", "seed"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    experiment: Mapped[str] = mapped_column(KEY, ForeignKey("experiment.name"))
    competition: Mapped[str] = mapped_column(KEY, index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    made: Mapped[bool]
    valid: Mapped[bool]
    score: Mapped[float | None] = mapped_column(Double)
    medal: Mapped[str | None] = mapped_column(Text)
    above_median: Mapped[bool]
    source: Mapped[str] = mapped_column(Text)
    document: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    imported_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ReportedScore(Base):
    """A score that a harness measured outside Podium, with its evidence. It is not a grade."""

    __tablename__ = "reported_score"
    __table_args__ = (Index(None, "run_id", "id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"))
    sort: Mapped[ReportedScoreKind] = mapped_column(enum_column(ReportedScoreKind))
    score: Mapped[float] = mapped_column(Double)
    step: Mapped[int | None] = mapped_column(BigInteger)
    run_seconds: Mapped[float | None] = mapped_column(Double)
    final: Mapped[bool]
    evidence: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    reported_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    reported_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ImportedRun(Base):
    """The origin of an imported run: the entry of a file from which the run was made.

    `place` is the entry's key in the file, `sha256` the file's digest, `document` the entry.
    """

    __tablename__ = "imported_run"

    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"), primary_key=True)
    file: Mapped[str] = mapped_column(Text)
    place: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(Text)
    document: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    imported_at: Mapped[datetime] = mapped_column(UtcDateTime)
