"""What runs came to, for statistics: one row per run, no submission's bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import and_, case, func, select
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import RunState, SubmissionState
from app.storage.database.models import (
    Disclosure,
    Grade,
    ImportedGrade,
    ImportedRun,
    ReportedScore,
    Run,
    Submission,
)

RUN = Run.__table__
SUBMISSION = Submission.__table__
GRADE = Grade.__table__
DISCLOSURE = Disclosure.__table__
IMPORTED = ImportedGrade.__table__
REPORTED = ReportedScore.__table__
IMPORTED_RUN = ImportedRun.__table__
ROWS_AT_ONCE = 1000


class RunResult(NamedTuple):
    """A run and its final submission: the selected one, else the last valid one.

    `final` is None where there is neither; `sent` counts all submissions, `waiting` those that
    are not settled, `failed` those whose grading broke down. `reported` counts the scores that a
    harness measured, which are no grades; `imported` says that the run took place elsewhere.
    """

    experiment: str
    competition: str
    seed: int
    run: str
    state: RunState
    feedback: Feedback
    failure: str | None
    version_id: int
    sent: int
    waiting: int
    failed: int
    final: str | None
    final_state: SubmissionState | None
    score: float | None
    medal: str | None
    above_median: bool | None
    better: int | None
    equal: int | None
    worse: int | None
    reported: int
    imported: bool


class SentResult(NamedTuple):
    """A graded submission: when it came in its run, and what it was worth."""

    run: str
    id: str
    run_seconds: float
    score: float
    public_score: float | None
    medal: str | None


class ImportedResult(NamedTuple):
    """An imported result, without its document."""

    experiment: str
    competition: str
    seed: int
    made: bool
    valid: bool
    score: float | None
    medal: str | None
    above_median: bool
    source: str


def run_results(
    session: Session,
    *,
    experiments: Sequence[str] | None = None,
    competition: str | None = None,
    run: str | None = None,
) -> Iterator[RunResult]:
    """The runs of these experiments (None: of all), or at one competition, or one run.

    They come while the session is open; nobody needs all of a large database's at once.
    """
    is_asked = _asked(RUN, experiments, competition)
    if run is not None:
        is_asked.append(RUN.c.id == run)
    state = SUBMISSION.c.state
    waits = state.in_([SubmissionState.QUEUED, SubmissionState.GRADING])
    graded = case((state == SubmissionState.GRADED, SUBMISSION.c.id))
    # Ids begin with their time, so that the greatest is the last.
    sent = (
        select(
            SUBMISSION.c.run_id,
            func.count().label("sent"),
            func.sum(case((waits, 1), else_=0)).label("waiting"),
            func.sum(case((state == SubmissionState.FAILED, 1), else_=0)).label("failed"),
            func.max(graded).label("last"),
        )
        .where(SUBMISSION.c.run_id.in_(select(RUN.c.id).where(*is_asked)))
        .group_by(SUBMISSION.c.run_id)
        .subquery()
    )
    # One probe of an index for each run; nearly all have none.
    reported = (
        select(func.count())
        .select_from(REPORTED)
        .where(REPORTED.c.run_id == RUN.c.id)
        .scalar_subquery()
    )
    final = SUBMISSION.alias("final")
    query = (
        select(
            RUN.c.experiment,
            RUN.c.competition,
            RUN.c.seed,
            RUN.c.id,
            RUN.c.state,
            RUN.c.feedback,
            RUN.c.failure,
            RUN.c.version_id,
            func.coalesce(sent.c.sent, 0),
            func.coalesce(sent.c.waiting, 0),
            func.coalesce(sent.c.failed, 0),
            final.c.id,
            final.c.state,
            GRADE.c.score,
            GRADE.c.medal,
            GRADE.c.above_median,
            GRADE.c.better,
            GRADE.c.equal,
            GRADE.c.worse,
            reported,
            IMPORTED_RUN.c.run_id.is_not(None),
        )
        .join(IMPORTED_RUN, IMPORTED_RUN.c.run_id == RUN.c.id, isouter=True)
        .join(sent, sent.c.run_id == RUN.c.id, isouter=True)
        .join(final, final.c.id == func.coalesce(RUN.c.selected_id, sent.c.last), isouter=True)
        .join(
            GRADE,
            and_(GRADE.c.submission_id == final.c.id, GRADE.c.version_id == final.c.version_id),
            isouter=True,
        )
        .where(*is_asked)
    )
    for rows in session.execute(query).partitions(ROWS_AT_ONCE):
        yield from map(RunResult._make, rows)


def imported_results(
    session: Session, *, experiments: Sequence[str] | None = None, competition: str | None = None
) -> list[ImportedResult]:
    """The imported results of these experiments (None: of all), or at one competition."""
    columns = [IMPORTED.c[name] for name in ImportedResult._fields]
    query = select(*columns).where(*_asked(IMPORTED, experiments, competition))
    return [ImportedResult._make(row) for row in session.execute(query).all()]


def sent_results(session: Session, experiment: str, *, run: str | None = None) -> list[SentResult]:
    """All graded submissions of an experiment's runs, or of one run, in the order they came."""
    query = (
        select(
            SUBMISSION.c.run_id,
            SUBMISSION.c.id,
            SUBMISSION.c.run_seconds,
            GRADE.c.score,
            GRADE.c.public_score,
            GRADE.c.medal,
        )
        .join(RUN, RUN.c.id == SUBMISSION.c.run_id)
        .join(
            GRADE,
            and_(
                GRADE.c.submission_id == SUBMISSION.c.id,
                GRADE.c.version_id == SUBMISSION.c.version_id,
            ),
        )
        .where(RUN.c.experiment == experiment)
        .order_by(SUBMISSION.c.run_id, SUBMISSION.c.id)
    )
    if run is not None:
        query = query.where(RUN.c.id == run)
    return [SentResult._make(row) for row in session.execute(query).all()]


def usages(session: Session, experiment: str) -> dict[str, dict[str, Any]]:
    """What each run of an experiment used, as far as it was told."""
    query = select(RUN.c.id, RUN.c.usage).where(RUN.c.experiment == experiment)
    return {run: usage or {} for run, usage in session.execute(query)}


def exposure_totals(session: Session, experiments: Sequence[str]) -> dict[str, dict[str, int]]:
    """By experiment how much of each kind was disclosed to its runs' keys; absent means nothing."""
    query = (
        select(RUN.c.experiment, DISCLOSURE.c.kind, func.count())
        .join(RUN, RUN.c.id == DISCLOSURE.c.run_id)
        .where(RUN.c.experiment.in_(experiments))
        .group_by(RUN.c.experiment, DISCLOSURE.c.kind)
    )
    found: dict[str, dict[str, int]] = {}
    for experiment, kind, count in session.execute(query):
        found.setdefault(experiment, {})[kind] = int(count)
    return found


def _asked(table: Any, experiments: Sequence[str] | None, competition: str | None) -> list[Any]:
    conditions = []
    if experiments is not None:
        conditions.append(table.c.experiment.in_(experiments))
    if competition is not None:
        conditions.append(table.c.competition == competition)
    return conditions
