"""Sketches of submissions, and those whose signals are still to be computed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import FromClause, Integer, bindparam, func, select, update
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.grading.graded import Sketch
from app.storage.database.models import Experiment, Grade, Run, Submission
from app.storage.database.rows import insert_all_if_new
from app.storage.database.tables.reviews import SubmissionSketch

TABLE = SubmissionSketch.__table__
SUBMISSION = Submission.__table__
RUN = Run.__table__
GRADE = Grade.__table__
EXPERIMENT = Experiment.__table__
NEVER = datetime(1970, 1, 1, tzinfo=UTC)

WAITING = (
    select(TABLE)
    .where(
        TABLE.c.reviewed_at.is_(None),
        TABLE.c.version_id.not_in(bindparam("passed_over", expanding=True)),
    )
    # All have the same time: null. If the order were by id only, PostgreSQL would search all files
    # for them if many waited when it made its statistics.
    .order_by(TABLE.c.reviewed_at, TABLE.c.id)
    .limit(bindparam("most", type_=Integer))
    .subquery()
)
NOT_REVIEWED = (
    select(
        WAITING.c.id,
        SUBMISSION.c.id,
        RUN.c.id,
        RUN.c.experiment,
        EXPERIMENT.c.agent,
        RUN.c.competition,
        WAITING.c.version_id,
        SUBMISSION.c.sha256,
        RUN.c.feedback,
        SUBMISSION.c.run_seconds,
        GRADE.c.score,
        GRADE.c.public_score,
        WAITING.c.rows,
        WAITING.c.digest,
        WAITING.c.blocks,
        WAITING.c.cells,
    )
    .select_from(WAITING)
    .join(SUBMISSION, SUBMISSION.c.id == WAITING.c.submission_id)
    .join(
        GRADE,
        (GRADE.c.submission_id == SUBMISSION.c.id) & (GRADE.c.version_id == WAITING.c.version_id),
    )
    .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
    .join(EXPERIMENT, EXPERIMENT.c.name == RUN.c.experiment)
    .order_by(WAITING.c.id)
)
VERSIONS_WAITING = (
    NOT_REVIEWED.with_only_columns(WAITING.c.version_id, func.count().label("number"))
    .group_by(WAITING.c.version_id)
    .order_by(None)
)
REVIEWED = (
    update(TABLE)
    .where(TABLE.c.submission_id == bindparam("one"))
    .values(reviewed_at=bindparam("moment"))
)


def of_submissions(sketches: FromClause) -> FromClause:
    """Sketches with their submissions, runs and experiments."""
    return (
        sketches.join(SUBMISSION, SUBMISSION.c.id == sketches.c.submission_id)
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .join(EXPERIMENT, EXPERIMENT.c.name == RUN.c.experiment)
    )


OF_SUBMISSION = (SUBMISSION.c.id, RUN.c.id, RUN.c.experiment, EXPERIMENT.c.agent)
CELLS = (
    select(TABLE.c.id, *OF_SUBMISSION, TABLE.c.cells)
    .select_from(of_submissions(TABLE))
    .where(
        TABLE.c.version_id == bindparam("version"),
        TABLE.c.id > bindparam("after"),
        TABLE.c.cells != b"",
    )
    .order_by(TABLE.c.id)
    .limit(bindparam("most", type_=Integer))
)
BEFORE_LATEST = (
    select(TABLE.c.id)
    .where(TABLE.c.version_id == bindparam("version"))
    .order_by(TABLE.c.id.desc())
    .limit(1)
    .offset(bindparam("count", type_=Integer))
)
# Files that were committed after files with larger numbers, and reviewed since a moment.
LATE_CELLS = (
    select(TABLE.c.id, *OF_SUBMISSION, TABLE.c.cells)
    .select_from(of_submissions(TABLE))
    .where(
        TABLE.c.version_id == bindparam("version"),
        TABLE.c.id <= bindparam("until"),
        TABLE.c.reviewed_at > bindparam("since"),
        TABLE.c.cells != b"",
    )
    .order_by(TABLE.c.id)
)
OF_RUN = (
    select(TABLE.c.rows, TABLE.c.blocks, TABLE.c.cells)
    .join(SUBMISSION, SUBMISSION.c.id == TABLE.c.submission_id)
    .where(SUBMISSION.c.run_id == bindparam("run"), SUBMISSION.c.id <= bindparam("until"))
    .order_by(SUBMISSION.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)


class GradedFile(NamedTuple):
    """A graded submission, as its signals need it. `number` is that of its sketch."""

    number: int
    submission: str
    run: str
    experiment: str
    agent: str
    competition: str
    version_id: int
    sha256: str
    feedback: Feedback
    run_seconds: float
    score: float
    public_score: float | None
    rows: int
    digest: str
    blocks: bytes
    cells: bytes

    @property
    def sketch(self) -> Sketch:
        """Its sketch."""
        return Sketch(self.rows, self.blocks, self.cells)


class FileCells(NamedTuple):
    """A submission with the numbers of its sketch."""

    number: int
    submission: str
    run: str
    experiment: str
    agent: str
    cells: bytes


def digest_of(sketch: Sketch) -> str:
    """A short name of a sketch's predictions: equal predictions have equal ones."""
    return hashlib.sha256(sketch.rows.to_bytes(8, "big") + sketch.blocks).hexdigest()[:32]


def add_all(session: Session, added: Sequence[tuple[str, int, Sketch]]) -> None:
    """Store the sketches of submissions (id, version, sketch); existing ones stay."""
    rows = [
        {
            "submission_id": submission,
            "version_id": version_id,
            "rows": sketch.rows,
            "digest": digest_of(sketch),
            "blocks": sketch.blocks,
            "cells": sketch.cells,
            "reviewed_at": None,
        }
        for submission, version_id, sketch in added
    ]
    insert_all_if_new(session, TABLE, ("submission_id",), rows)


def not_reviewed(
    session: Session, limit: int, *, passed_over: Collection[int] = ()
) -> list[GradedFile]:
    """Graded submissions whose signals were not computed yet, oldest first.

    Submissions of the versions `passed_over` are left out.
    """
    given = {"most": limit, "passed_over": list(passed_over)}
    return [GradedFile._make(row) for row in session.execute(NOT_REVIEWED, given)]


def versions_waiting(
    session: Session, limit: int, *, passed_over: Collection[int]
) -> dict[int, int]:
    """How many submissions of each version `not_reviewed` has."""
    given = {"most": limit, "passed_over": list(passed_over)}
    rows = session.execute(VERSIONS_WAITING, given)
    return {row.version_id: row.number for row in rows}


def set_reviewed(session: Session, submissions: Sequence[str], at: datetime) -> None:
    """Note that the signals of these submissions were computed."""
    if submissions:
        connection = session.connection()
        connection.execute(REVIEWED, [{"one": one, "moment": at} for one in submissions])


def last_review(session: Session) -> datetime:
    """The time when signals were last computed; a very early one if they never were."""
    return session.execute(select(func.max(TABLE.c.reviewed_at))).scalar_one() or NEVER


def reviewed_among(session: Session, submissions: Sequence[str]) -> set[str]:
    """The submissions among these whose signals were computed."""
    if not submissions:
        return set()
    query = select(TABLE.c.submission_id).where(
        TABLE.c.submission_id.in_(submissions), TABLE.c.reviewed_at.is_not(None)
    )
    return set(session.execute(query).scalars())


def before_latest(session: Session, version_id: int, count: int) -> int:
    """The sketch of a version before its `count` latest; 0 if it has no more."""
    given = {"version": version_id, "count": count}
    return session.execute(BEFORE_LATEST, given).scalar() or 0


def cells_after(session: Session, version_id: int, after: int, limit: int) -> list[FileCells]:
    """The files of a version with numbers, after the sketch `after`, in the order of grading."""
    given = {"version": version_id, "after": after, "most": limit}
    return [FileCells._make(row) for row in session.execute(CELLS, given)]


def late_cells(session: Session, version_id: int, until: int, since: datetime) -> list[FileCells]:
    """The files of a version up to the sketch `until` that were reviewed after `since`."""
    given = {"version": version_id, "until": until, "since": since}
    return [FileCells._make(row) for row in session.execute(LATE_CELLS, given)]


def of_run(session: Session, run: str, *, until: str, limit: int) -> list[Sketch]:
    """The sketches of a run's last submissions up to one, oldest first."""
    rows = session.execute(OF_RUN, {"run": run, "until": until, "most": limit})
    return [Sketch(*row) for row in rows][::-1]
