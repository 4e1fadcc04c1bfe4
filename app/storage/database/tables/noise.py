"""The table of the noise of scores."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, ForeignKey, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.storage.database.tables.column_types import DOCUMENT, NUMBER, UtcDateTime
from app.storage.database.tables.declarative import Base


class GradeUncertainty(Base):
    """The noise of a grade's score, estimated once, at the first request."""

    __tablename__ = "grade_uncertainty"

    grade_id: Mapped[int] = mapped_column(
        NUMBER, ForeignKey("grade.id"), primary_key=True, autoincrement=False
    )
    seed: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int | None] = mapped_column(BigInteger)
    resamples: Mapped[int] = mapped_column(Integer)
    undefined: Mapped[int] = mapped_column(Integer)
    standard_error: Mapped[float | None] = mapped_column(Double)
    low: Mapped[float | None] = mapped_column(Double)
    high: Mapped[float | None] = mapped_column(Double)
    medals: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    reason: Mapped[str | None] = mapped_column(Text)
    grader: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    estimated_at: Mapped[datetime] = mapped_column(UtcDateTime)
