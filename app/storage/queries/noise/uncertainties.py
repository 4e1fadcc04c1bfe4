"""The noise of scores, kept for each grade. A second write changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, select
from sqlalchemy.orm import Session

from app.storage.database.models import Grade, Run, Submission
from app.storage.database.rows import insert_if_new, one, record, values
from app.storage.database.tables.noise import GradeUncertainty
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries import archive
from app.storage.queries.regrades.brief_runs import last_graded
from app.storage.queries.reviews import decisions

TABLE = GradeUncertainty.__table__
GRADE = Grade.__table__
SUBMISSION = Submission.__table__
RUN = Run.__table__
OUTCOME = RegradeOutcome.__table__
OF_GRADE = select(TABLE).where(TABLE.c.grade_id == bindparam("grade_id"))
IDS_PER_QUERY = 500  # ids in a query


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyRecord:
    """The noise of a grade's score: the fields of `app.resampling.uncertainty.Uncertainty`.

    `grader` names Podium's version and the environment that estimated it.
    """

    grade_id: int
    seed: int
    rows: int | None
    resamples: int
    undefined: int
    standard_error: float | None
    low: float | None
    high: float | None
    medals: dict[str, float] | None
    reason: str | None
    grader: dict[str, Any]
    estimated_at: datetime


def get(session: Session, grade_id: int) -> UncertaintyRecord | None:
    """The noise of a grade's score; None if it was not estimated yet."""
    return one(UncertaintyRecord, session.execute(OF_GRADE, {"grade_id": grade_id}).one_or_none())


def add(session: Session, new: UncertaintyRecord) -> None:
    """Store the noise of a grade's score, unless it is stored already.

    Raises:
        IntegrityError: the grade does not exist.
    """
    insert_if_new(session, TABLE, ("grade_id",), values(new))


def is_any_known(session: Session, experiment: str, as_of: datetime | None) -> bool:
    """Whether the noise of any score of an experiment was estimated, now or until `as_of`."""
    until = [] if as_of is None else [TABLE.c.estimated_at <= as_of]
    query = (
        select(TABLE.c.grade_id)
        .join(GRADE, GRADE.c.id == TABLE.c.grade_id)
        .join(SUBMISSION, SUBMISSION.c.id == GRADE.c.submission_id)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .where(RUN.c.experiment == experiment, *until)
        .limit(1)
    )
    return session.execute(query).first() is not None


def of_finals(
    session: Session, experiments: Sequence[str], regrades: Sequence[str]
) -> Iterator[tuple[str, str | None, dict[str, float]]]:
    """Each final submission of these experiments' runs whose chances of medals are stored.

    Returns the experiment, the medal, and the chances. Submissions are left out if they are
    archived, excluded by a review, or graded by one of `regrades`.
    """
    decided = exists().where(
        OUTCOME.c.submission_id == SUBMISSION.c.id, OUTCOME.c.regrade_id.in_(regrades)
    )
    query = (
        select(RUN.c.experiment, GRADE.c.medal, TABLE.c.medals)
        .select_from(TABLE)
        .join(GRADE, GRADE.c.id == TABLE.c.grade_id)
        .join(SUBMISSION, SUBMISSION.c.id == GRADE.c.submission_id)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .where(
            RUN.c.experiment.in_(experiments),
            *archive.is_shown(RUN, experiment_named=True, competition_named=False),
            SUBMISSION.c.id == func.coalesce(RUN.c.selected_id, last_graded()),
            GRADE.c.version_id == RUN.c.version_id,
            ~decisions.is_excluded(),
            *([~decided] if regrades else []),
        )
    )
    for experiment, medal, medals in session.execute(query):
        if medals is not None:
            yield experiment, medal, medals


def of_submissions(session: Session, ids: Sequence[str]) -> dict[str, UncertaintyRecord]:
    """The stored uncertainties of these submissions, under their own versions, by submission."""
    found = {}
    for start in range(0, len(ids), IDS_PER_QUERY):
        query = (
            select(SUBMISSION.c.id, TABLE)
            .join(
                GRADE,
                and_(
                    GRADE.c.submission_id == SUBMISSION.c.id,
                    GRADE.c.version_id == SUBMISSION.c.version_id,
                ),
            )
            .join(TABLE, TABLE.c.grade_id == GRADE.c.id)
            .where(SUBMISSION.c.id.in_(ids[start : start + IDS_PER_QUERY]))
        )
        for row in session.execute(query):
            found[row[0]] = record(UncertaintyRecord, row[1:])
    return found
