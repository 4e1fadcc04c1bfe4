"""The tables of acts of admins: what was archived, amended and withdrawn."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.states import AmendmentKind, ArchivalKind
from app.storage.database.tables.column_types import DOCUMENT, KEY, NUMBER, UtcDateTime, enum_column
from app.storage.database.tables.declarative import Base


class Archival(Base):
    """The last archiving of a competition, experiment or run, and its restoration if there was one.

    It is archived while `restored_at` is null. `archived_by` is null for a command on the server.
    """

    __tablename__ = "archival"

    kind: Mapped[ArchivalKind] = mapped_column(enum_column(ArchivalKind), primary_key=True)
    name: Mapped[str] = mapped_column(KEY, primary_key=True)
    archived_at: Mapped[datetime] = mapped_column(UtcDateTime)
    reason: Mapped[str] = mapped_column(Text)
    archived_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    restored_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    restore_reason: Mapped[str | None] = mapped_column(Text)
    restored_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))


class Amendment(Base):
    """A change of an experiment, or a withdrawal of imported results, with the previous state."""

    __tablename__ = "amendment"
    __table_args__ = (Index(None, "experiment", "id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    experiment: Mapped[str] = mapped_column(KEY, ForeignKey("experiment.name"))
    kind: Mapped[AmendmentKind] = mapped_column(enum_column(AmendmentKind))
    before: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    after: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    results: Mapped[int] = mapped_column(Integer)
    reason: Mapped[str] = mapped_column(Text)
    amended_by: Mapped[str | None] = mapped_column(KEY, ForeignKey("api_key.id"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
