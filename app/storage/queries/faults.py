"""Faults: why an attempt at grading failed, for whoever runs this Podium."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.storage.database.models import Fault
from app.storage.database.records import FaultRecord

TABLE = Fault.__table__


def add_fault(
    session: Session, submission_id: str, attempt: int, kind: str, place: str, at: datetime
) -> None:
    """Note that an attempt at grading a submission failed, how and where."""
    fault = {
        "submission_id": submission_id,
        "attempt": attempt,
        "kind": kind,
        "place": place,
        "at": at,
    }
    session.execute(insert(TABLE), fault)


def faults_of(session: Session, submission_id: str) -> list[FaultRecord]:
    """A submission's faults, oldest first."""
    query = select(TABLE).where(TABLE.c.submission_id == submission_id).order_by(TABLE.c.id)
    return [FaultRecord(**row) for row in session.execute(query).mappings()]
