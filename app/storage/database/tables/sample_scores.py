"""The table of the scores of sample submissions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Double, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.storage.database.tables.column_types import NUMBER, UtcDateTime
from app.storage.database.tables.declarative import Base


class SampleScore(Base):
    """The score of a version's sample submission, measured at its import; null if it has none."""

    __tablename__ = "sample_score"

    version_id: Mapped[int] = mapped_column(
        NUMBER, ForeignKey("competition_version.id"), primary_key=True, autoincrement=False
    )
    score: Mapped[float | None] = mapped_column(Double)
    measured_at: Mapped[datetime] = mapped_column(UtcDateTime)
