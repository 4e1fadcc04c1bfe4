"""Submissions with the grades that count: the outcomes of the regrade in force, if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.storage.database.models import Submission
from app.storage.database.records import GradeRecord, SubmissionRecord
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries.regrades.in_force import CountedGrades, in_force
from app.storage.queries.regrades.regrades import in_force_at

TABLE = RegradeOutcome.__table__
SUBMISSION = Submission.__table__
Graded = tuple[SubmissionRecord, GradeRecord | None]
NUMBERS = (
    "score", "public_score", "search_score", "better", "equal", "worse", "teams", "percentile",
    "above_median", "medal", "grader", "graded_at",
)  # fmt: skip


def counted_grades(
    session: Session, competition: str, found: Sequence[Graded]
) -> tuple[list[Graded], dict[str, str]]:
    """Submissions at a competition with the states and grades that count.

    Also returns the id of the regrade that decided, by submission; without first grades.
    """
    in_force = in_force_at(session, competition) if found else None
    if in_force is None:
        return list(found), {}
    ids = [submission.id for submission, _ in found]
    query = select(TABLE).where(TABLE.c.regrade_id == in_force.id, TABLE.c.submission_id.in_(ids))
    rows = {row.submission_id: row for row in session.execute(query)}
    counted: list[Graded] = []
    for submission, grade in found:
        row = rows.get(submission.id)
        if row is None:
            counted.append((submission, grade))
            continue
        new = replace(submission, state=row.state, problem=row.problem, warnings=row.warnings or [])
        is_graded = row.score is not None
        numbers = {name: getattr(row, name) for name in NUMBERS}
        made = GradeRecord(submission_id=row.submission_id, version_id=row.version_id, **numbers)
        counted.append((new, made if is_graded else None))
    return counted, dict.fromkeys(rows, in_force.id)


def count_states(session: Session, run_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """The number of submissions by run and state that counts. Zeros are absent."""
    each = CountedGrades(SUBMISSION, [one.id for one in in_force(session)])
    query = (
        select(SUBMISSION.c.run_id, each.state.label("state"), func.count())
        .select_from(each.join_states(SUBMISSION))
        .where(SUBMISSION.c.run_id.in_(run_ids))
        .group_by(SUBMISSION.c.run_id, each.state)
    )
    found: dict[str, dict[str, int]] = {}
    for run_id, state, count in session.execute(query):
        found.setdefault(run_id, {})[state.value] = int(count)
    return found
