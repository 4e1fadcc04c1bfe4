"""The results of runs, for statistics: one row per run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, func, select
from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind, SubmissionState
from app.storage.database.jsonl import IN_PARTS
from app.storage.database.models import Run, Submission
from app.storage.database.tables.results_elsewhere import ImportedGrade
from app.storage.queries import amendments, archive
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from app.storage.queries.regrades.counted_runs import RunResult, run_query
from app.storage.queries.regrades.in_force import NOW, Basis, CountedGrades, in_force

RUN = Run.__table__
SUBMISSION = Submission.__table__
IMPORTED = ImportedGrade.__table__


ImportedOutcome = tuple[str, str, int, bool, bool, str | None, bool]


class GradedSubmission(NamedTuple):
    """A graded submission: its time in seconds since the start of its run, and its grade.

    `better`, `equal` and `worse` count human teams; None if its place is not known.
    """

    run: str
    id: str
    run_seconds: float
    score: float
    public_score: float | None
    medal: str | None
    better: int | None
    equal: int | None
    worse: int | None


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
    basis: Basis = NOW,
    is_regraded: bool = True,
) -> Iterator[RunResult]:
    """The runs of these experiments (None: of all), or at one competition, or one run.

    Archived runs are left out, and so are runs of archived experiments and competitions that are
    not named, unless `archived` is true or one run is named. `basis` says which grades count, and
    with `as_of` which runs and submissions existed. Without `is_regraded` the caller knows that no
    regrade was ever applied.

    Rows are read in parts, while the session is open.
    """
    run_conditions = conditions(
        RUN, experiments, competition, archived=archived or bool(run), as_of=basis.as_of
    )
    if run is not None:
        run_conditions.append(RUN.c.id == run)
    regrades = [one.id for one in in_force(session, basis)] if is_regraded else []
    query = run_query(run_conditions, regrades, basis.as_of)
    options = IN_PARTS if run is None else {}  # a server-side cursor takes longer for one row
    for rows in session.execute(query, execution_options=options).partitions():
        yield from map(RunResult._make, rows)


def imported_results(
    session: Session,
    *,
    experiments: Sequence[str] | None = None,
    competition: str | None = None,
    archived: bool = False,
    as_of: datetime | None = None,
) -> list[ImportedResult]:
    """The imported results of these experiments (None: of all), or at one competition.

    `archived` as in `run_results`.
    """
    columns = [IMPORTED.c[name] for name in ImportedResult._fields]
    shown = conditions(IMPORTED, experiments, competition, archived=archived, as_of=as_of)
    if as_of is not None:
        shown.append(IMPORTED.c.imported_at <= as_of)
    query = select(*columns).where(*shown)
    found = [ImportedResult._make(row) for row in session.execute(query).all()]
    if as_of is not None:
        found += [
            ImportedResult(**{name: getattr(each, name) for name in ImportedResult._fields})
            for each in _withdrawn_since(session, as_of, experiments, archived=archived)
            if competition in (None, each.competition)
        ]
    return found


def imported_outcomes(
    session: Session,
    *,
    experiments: Sequence[str] | None,
    archived: bool,
    with_archived_experiments: bool = False,
    as_of: datetime | None = None,
) -> Iterator[ImportedOutcome]:
    """Brief imported results: experiment, competition, seed, made, valid, medal, above_median.

    Statistics read 100,000 of them at once; a class for each row took half of their time.
    `archived` as in `run_results`, but with `with_archived_experiments` experiments are not left
    out.
    """
    shown = conditions(IMPORTED, experiments, None, archived=archived, as_of=as_of)
    if with_archived_experiments and experiments is None:
        shown = [] if archived else archive.is_shown(
            IMPORTED, experiment_named=True, competition_named=False
        )  # fmt: skip
    if as_of is not None:
        shown.append(IMPORTED.c.imported_at <= as_of)
    query = select(
        IMPORTED.c.experiment,
        IMPORTED.c.competition,
        IMPORTED.c.seed,
        IMPORTED.c.made,
        IMPORTED.c.valid,
        IMPORTED.c.medal,
        IMPORTED.c.above_median,
    ).where(*shown)
    for rows in session.execute(query, execution_options=IN_PARTS).partitions():
        yield from rows
    if as_of is not None:
        for each in _withdrawn_since(session, as_of, experiments, archived=archived):
            yield (
                each.experiment, each.competition, each.seed, each.made, each.valid, each.medal,
                each.above_median,
            )  # fmt: skip


def _withdrawn_since(
    session: Session, as_of: datetime, experiments: Sequence[str] | None, *, archived: bool
) -> list[ImportedGradeRecord]:
    """The imported results that counted at a time and were withdrawn since."""
    found = amendments.withdrawn_since(session, as_of)
    if experiments is not None:
        found = [each for each in found if each.experiment in experiments]
    if archived or not found:
        return found
    hidden = archive.names_of(ArchivalKind.COMPETITION, as_of)
    competitions = set(session.execute(hidden).scalars())
    hidden = archive.names_of(ArchivalKind.EXPERIMENT, as_of)
    left_out = set(session.execute(hidden).scalars()) if experiments is None else set()
    return [
        each
        for each in found
        if each.competition not in competitions and each.experiment not in left_out
    ]


def graded_submissions(
    session: Session, experiment: str, *, run: str | None = None, basis: Basis = NOW
) -> Iterator[GradedSubmission]:
    """All graded submissions of an experiment's runs, or of one run, oldest first in each run.

    Rows are read in parts, while the session is open.
    """
    regrades = [one.id for one in in_force(session, basis)]
    counted = CountedGrades(SUBMISSION, regrades, as_of=basis.as_of)
    # Without `coalesce` SQLite would find the graded submissions of all experiments by their state.
    is_graded = func.coalesce(counted.state, "") == SubmissionState.GRADED
    query = (
        select(
            SUBMISSION.c.run_id,
            SUBMISSION.c.id,
            SUBMISSION.c.run_seconds,
            counted.column("score"),
            counted.column("public_score"),
            *(counted.column(name) for name in ("medal", "better", "equal", "worse")),
        )
        .select_from(counted.join(SUBMISSION.join(RUN, RUN.c.id == SUBMISSION.c.run_id)))
        .where(RUN.c.experiment == experiment, is_graded)
        .order_by(SUBMISSION.c.run_id, SUBMISSION.c.id)
    )
    if run is not None:
        query = query.where(RUN.c.id == run)
    if basis.as_of is not None:
        query = query.where(SUBMISSION.c.received_at <= basis.as_of)
    options = IN_PARTS if run is None else {}
    for rows in session.execute(query, execution_options=options).partitions():
        yield from map(GradedSubmission._make, rows)


def usages(session: Session, experiment: str) -> dict[str, dict[str, Any]]:
    """The usage that each run of an experiment reported; empty for a run that reported none."""
    query = select(RUN.c.id, RUN.c.usage).where(RUN.c.experiment == experiment)
    return {run: usage or {} for run, usage in session.execute(query)}


def conditions(
    table: Table,
    experiments: Sequence[str] | None,
    competition: str | None,
    *,
    archived: bool,
    as_of: datetime | None = None,
) -> list[ColumnElement[bool]]:
    """The conditions on rows of `run` or `imported_grade` for `run_results` and its siblings."""
    found: list[ColumnElement[bool]] = []
    if not archived:
        found = archive.is_shown(
            table, experiment_named=experiments is not None,
            competition_named=competition is not None, as_of=as_of,
        )  # fmt: skip
    if experiments is not None:
        found.append(table.c.experiment.in_(experiments))
    if competition is not None:
        found.append(table.c.competition == competition)
    return found
