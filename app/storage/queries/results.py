"""The results of runs, for statistics: one row per run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, and_, case, func, select
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
from app.storage.queries import archive

RUN = Run.__table__
SUBMISSION = Submission.__table__
GRADE = Grade.__table__
DISCLOSURE = Disclosure.__table__
IMPORTED = ImportedGrade.__table__
REPORTED = ReportedScore.__table__
IMPORTED_RUN = ImportedRun.__table__
ROWS_AT_ONCE = 1000


ImportedOutcome = tuple[str, str, int, bool, bool, str | None, bool]


class RunResult(NamedTuple):
    """A run and its final submission: the selected one, else the last valid one.

    `final` is None if there is neither. `sent` is the number of all submissions, `waiting` of those
    that are not settled, `failed` of those whose grading failed. `reported` is the number of scores
    that a harness measured, which are not grades. `imported` says whether the run was imported.
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
    created_at: datetime
    started_at: datetime | None
    closed_at: datetime | None


class GradedSubmission(NamedTuple):
    """A graded submission: its time in seconds since the start of its run, and its grade."""

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
    archived: bool = False,
) -> Iterator[RunResult]:
    """The runs of these experiments (None: of all), or at one competition, or one run.

    Archived runs are left out, and runs of archived experiments and competitions that are not
    named, unless `archived` is true or one run is named.

    The rows are read in parts while the session is open, so that memory use stays small.
    """
    run_conditions = conditions(RUN, experiments, competition, archived=archived or bool(run))
    if run is not None:
        run_conditions.append(RUN.c.id == run)
    for rows in session.execute(run_query(run_conditions)).partitions(ROWS_AT_ONCE):
        yield from map(RunResult._make, rows)


def run_query(run_conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """A query for the runs under these conditions, with the columns of `RunResult`."""
    state = SUBMISSION.c.state
    waits = state.in_([SubmissionState.QUEUED, SubmissionState.GRADING])
    graded = case((state == SubmissionState.GRADED, SUBMISSION.c.id))
    # Ids begin with their time, so the greatest id is the latest.
    sent = (
        select(
            SUBMISSION.c.run_id,
            func.count().label("sent"),
            func.sum(case((waits, 1), else_=0)).label("waiting"),
            func.sum(case((state == SubmissionState.FAILED, 1), else_=0)).label("failed"),
            func.max(graded).label("last"),
        )
        .where(SUBMISSION.c.run_id.in_(select(RUN.c.id).where(*run_conditions)))
        .group_by(SUBMISSION.c.run_id)
        .subquery()
    )
    # One index lookup for each run. Nearly all runs have no reported scores.
    reported = (
        select(func.count())
        .select_from(REPORTED)
        .where(REPORTED.c.run_id == RUN.c.id)
        .scalar_subquery()
    )
    final = SUBMISSION.alias("final")
    columns = (
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
        RUN.c.created_at,
        RUN.c.started_at,
        RUN.c.closed_at,
    )
    names = RunResult._fields
    return (
        select(*(column.label(name) for column, name in zip(columns, names, strict=True)))
        .select_from(RUN)
        .join(IMPORTED_RUN, IMPORTED_RUN.c.run_id == RUN.c.id, isouter=True)
        .join(sent, sent.c.run_id == RUN.c.id, isouter=True)
        .join(final, final.c.id == func.coalesce(RUN.c.selected_id, sent.c.last), isouter=True)
        .join(
            GRADE,
            and_(GRADE.c.submission_id == final.c.id, GRADE.c.version_id == final.c.version_id),
            isouter=True,
        )
        .where(*run_conditions)
    )


def imported_results(
    session: Session,
    *,
    experiments: Sequence[str] | None = None,
    competition: str | None = None,
    archived: bool = False,
) -> list[ImportedResult]:
    """The imported results of these experiments (None: of all), or at one competition.

    `archived` as in `run_results`.
    """
    columns = [IMPORTED.c[name] for name in ImportedResult._fields]
    shown = conditions(IMPORTED, experiments, competition, archived=archived)
    query = select(*columns).where(*shown)
    return [ImportedResult._make(row) for row in session.execute(query).all()]


def imported_outcomes(
    session: Session,
    *,
    experiments: Sequence[str] | None = None,
    archived: bool = False,
    with_archived_experiments: bool = False,
) -> Iterator[ImportedOutcome]:
    """Imported results in brief: experiment, competition, seed, made, valid, medal, above_median.

    Statistics read 100,000 of them at once; a class for each row took half of their time.
    `archived` as in `run_results`; experiments alone are not left out `with_archived_experiments`.
    """
    shown = conditions(IMPORTED, experiments, None, archived=archived)
    if with_archived_experiments and experiments is None:
        shown = [] if archived else archive.is_shown(
            IMPORTED, experiment_named=True, competition_named=False
        )  # fmt: skip
    query = select(
        IMPORTED.c.experiment,
        IMPORTED.c.competition,
        IMPORTED.c.seed,
        IMPORTED.c.made,
        IMPORTED.c.valid,
        IMPORTED.c.medal,
        IMPORTED.c.above_median,
    ).where(*shown)
    for rows in session.execute(query).partitions(ROWS_AT_ONCE):
        yield from rows


def graded_submissions(
    session: Session, experiment: str, *, run: str | None = None
) -> list[GradedSubmission]:
    """All graded submissions of an experiment's runs, or of one run, oldest first in each run."""
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
    return [GradedSubmission._make(row) for row in session.execute(query).all()]


def usages(session: Session, experiment: str) -> dict[str, dict[str, Any]]:
    """The usage that each run of an experiment reported; empty for a run that reported none."""
    query = select(RUN.c.id, RUN.c.usage).where(RUN.c.experiment == experiment)
    return {run: usage or {} for run, usage in session.execute(query)}


def exposure_totals(
    session: Session, experiments: Sequence[str], *, archived: bool = False
) -> dict[str, dict[str, int]]:
    """The number of disclosures by experiment and kind. Zeros are absent.

    `archived` as in `run_results`.
    """
    query = (
        select(RUN.c.experiment, DISCLOSURE.c.kind, func.count())
        .join(RUN, RUN.c.id == DISCLOSURE.c.run_id)
        .where(*conditions(RUN, experiments, None, archived=archived))
        .group_by(RUN.c.experiment, DISCLOSURE.c.kind)
    )
    found: dict[str, dict[str, int]] = {}
    for experiment, kind, count in session.execute(query):
        found.setdefault(experiment, {})[kind] = int(count)
    return found


def conditions(
    table: Table, experiments: Sequence[str] | None, competition: str | None, *, archived: bool
) -> list[ColumnElement[bool]]:
    """The conditions on rows of `run` or `imported_grade` for `run_results` and its siblings."""
    named = {
        "experiment_named": experiments is not None,
        "competition_named": competition is not None,
    }
    found: list[ColumnElement[bool]] = [] if archived else archive.is_shown(table, **named)
    if experiments is not None:
        found.append(table.c.experiment.in_(experiments))
    if competition is not None:
        found.append(table.c.competition == competition)
    return found
