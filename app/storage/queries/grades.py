"""Grades: one per submission and competition version, whoever writes it how often."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.storage.database.mapping import one, record, values
from app.storage.database.models import Grade
from app.storage.database.records import GradeRecord
from app.storage.database.upsert import insert_all_if_new

TABLE = Grade.__table__
OF_SUBMISSION = TABLE.c.submission_id == bindparam("submission_id")
BY_VERSION = select(TABLE).where(OF_SUBMISSION, TABLE.c.version_id == bindparam("version_id"))
ALL = select(TABLE).where(OF_SUBMISSION).order_by(TABLE.c.version_id)


def add_grades(session: Session, added: Sequence[GradeRecord]) -> None:
    """Store grades. Where a submission has one under the same version, the first is kept.

    Raises:
        IntegrityError: there is no such submission or version.
    """
    rows = [values(grade) for grade in added]
    for row in rows:
        del row["id"]
    insert_all_if_new(session, TABLE, ("submission_id", "version_id"), rows)


def get_grade(session: Session, submission_id: str, version_id: int) -> GradeRecord | None:
    """The grade of a submission under a competition version."""
    key = {"submission_id": submission_id, "version_id": version_id}
    return one(GradeRecord, session.execute(BY_VERSION, key).one_or_none())


def grades_of(session: Session, submission_id: str) -> list[GradeRecord]:
    """A submission's grades under all versions, oldest version first."""
    rows = session.execute(ALL, {"submission_id": submission_id})
    return [record(GradeRecord, row) for row in rows]
