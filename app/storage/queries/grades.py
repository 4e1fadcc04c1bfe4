"""Grades: one per submission and competition version. A second write changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.storage.database.models import Grade
from app.storage.database.records import GradeRecord
from app.storage.database.rows import insert_all_if_new, record, values

TABLE = Grade.__table__
OF_SUBMISSION = TABLE.c.submission_id == bindparam("submission_id")
ALL_VERSIONS = select(TABLE).where(OF_SUBMISSION).order_by(TABLE.c.version_id)


def add_grades(session: Session, added: Sequence[GradeRecord]) -> None:
    """Store grades. A submission that has a grade under the same version keeps the first.

    Raises:
        IntegrityError: the submission or the version does not exist.
    """
    rows = [values(grade) for grade in added]
    for row in rows:
        del row["id"]
    insert_all_if_new(session, TABLE, ("submission_id", "version_id"), rows)


def grades_of(session: Session, submission_id: str) -> list[GradeRecord]:
    """A submission's grades under all versions, oldest version first."""
    rows = session.execute(ALL_VERSIONS, {"submission_id": submission_id})
    return [record(GradeRecord, row) for row in rows]
