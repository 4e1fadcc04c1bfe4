"""The results of very many runs in brief, and what tells that they have changed.

A closed run without a queued submission keeps its result: it accepts no further submission and no
other choice. So the number of such runs tells whether an experiment has a new one. A regrade that
is applied changes what all share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Integer, Text, and_, case, func, or_, select, type_coerce
from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind, RunState, SubmissionState
from app.storage.database.models import Grade, Run, Submission
from app.storage.database.tables.acts import Amendment, Archival
from app.storage.database.tables.results_elsewhere import ImportedGrade, ImportedRun, ReportedScore
from app.storage.queries import archive
from app.storage.queries.regrades.brief_runs import BriefResult, brief_results, last_graded
from app.storage.queries.regrades.in_force import InForce, in_force
from app.storage.queries.reviews import decisions

RUN = Run.__table__
SUBMISSION = Submission.__table__
GRADE = Grade.__table__
IMPORTED = ImportedGrade.__table__
IMPORTED_RUN = ImportedRun.__table__
REPORTED = ReportedScore.__table__
ARCHIVAL = Archival.__table__
AMENDMENT = Amendment.__table__
WAITING = (SubmissionState.QUEUED, SubmissionState.GRADING)
ROWS_AT_ONCE = 5000
RUNS_AT_ONCE = 500


class Graded(NamedTuple):
    """A run whose final submission is graded; `above_median` is 1 or 0, or None."""

    experiment: str
    competition: str
    seed: int
    medal: str | None
    above_median: int | None
    feedback: str
    failure: str | None


@dataclass(frozen=True, slots=True)
class ExperimentState:
    """What an experiment's results were read from; equal states have equal results.

    `live` runs are open, or closed with a submission that is not settled: they are no part of it.
    """

    closed: tuple[tuple[str | None, int], ...] = ()  # runs, by the failure that was noted
    waiting: tuple[str, ...] = ()  # ids of closed runs with submissions that are not settled
    imported: tuple[int, int] = (0, 0)  # number, and the last id


@dataclass(frozen=True, slots=True)
class ResultState:
    """The state of every experiment with results, and that of what all of them share.

    `open` are the experiments with live runs, `archived` the archived ones, `waiting` the closed
    runs with submissions that are not settled, `regrades` those in force, `excluded` the runs that
    reviews exclude.
    """

    experiments: dict[str, ExperimentState] = field(default_factory=dict)
    open: frozenset[str] = frozenset()
    archived: frozenset[str] = frozenset()
    waiting: tuple[str, ...] = ()
    regrades: tuple[InForce, ...] = ()
    excluded: tuple[str, ...] = ()
    shared: tuple[Any, ...] = ()


def result_state(session: Session) -> ResultState:
    """The state of all results: a few counts, however many results there are."""
    closed: dict[str, list[tuple[str | None, int]]] = {}
    live: set[str] = set()
    state = type_coerce(RUN.c.state, Text)
    groups = select(RUN.c.experiment, state, RUN.c.failure, func.count()).group_by(
        RUN.c.state, RUN.c.experiment, RUN.c.failure
    )
    for experiment, one, failure, count in session.execute(groups):
        if one == RunState.OPEN:
            live.add(experiment)
        else:
            closed.setdefault(experiment, []).append((failure, count))
    waiting: dict[str, list[str]] = {}
    queued = (
        select(RUN.c.experiment, RUN.c.id)
        .join(SUBMISSION, SUBMISSION.c.run_id == RUN.c.id)
        .where(SUBMISSION.c.state.in_(WAITING), RUN.c.state == RunState.CLOSED)
        .distinct()
        .order_by(RUN.c.id)
    )
    for experiment, run in session.execute(queued):
        waiting.setdefault(experiment, []).append(run)
    imports = select(IMPORTED.c.experiment, func.count(), func.max(IMPORTED.c.id)).group_by(
        IMPORTED.c.experiment
    )
    imported = {name: (count, last) for name, count, last in session.execute(imports)}
    archivals = session.execute(
        select(func.count(), func.max(ARCHIVAL.c.archived_at), func.max(ARCHIVAL.c.restored_at))
    ).one()
    names = archive.names_of(ArchivalKind.EXPERIMENT)
    regrades = tuple(in_force(session))
    excluded = decisions.excluded_ids(session)
    return ResultState(
        experiments={
            name: ExperimentState(
                tuple(sorted(closed.get(name, ()), key=lambda each: (each[0] or "", each[1]))),
                tuple(waiting.get(name, ())),
                imported.get(name, (0, 0)),
            )
            for name in {*closed, *live, *imported}
        },
        open=frozenset(live | set(waiting)),
        waiting=tuple(run for runs in waiting.values() for run in runs),
        archived=frozenset(session.execute(names).scalars()),
        regrades=regrades,
        excluded=excluded,
        shared=(
            regrades,
            excluded,
            *archivals,
            session.execute(select(func.max(REPORTED.c.id))).scalar(),
            # A withdrawn result and one imported in its place may have the same id.
            session.execute(select(func.max(AMENDMENT.c.id))).scalar(),
        ),
    )


def settled_results(
    session: Session, experiments: Sequence[str] | None, state: ResultState, *, archived: bool
) -> Iterator[Graded | BriefResult]:
    """The runs of these experiments (None: of all) whose results cannot change.

    Archived runs, and those at archived competitions, are left out unless `archived`; an archived
    experiment's are not.
    """
    # Where a regrade decides, the last valid submission may be another one: `brief_runs` finds it.
    regraded = [one.competition for one in state.regrades]
    graded = and_(
        GRADE.c.id.is_not(None), RUN.c.competition.not_in(regraded), ~decisions.is_excluded()
    )
    query = (
        select(
            RUN.c.experiment,
            RUN.c.competition,
            RUN.c.seed,
            GRADE.c.medal,
            type_coerce(GRADE.c.above_median, Integer),
            type_coerce(RUN.c.feedback, Text),
            RUN.c.failure,
            case((graded, None), else_=RUN.c.id),
        )
        .select_from(RUN)
        .join(
            GRADE,
            and_(
                GRADE.c.submission_id == func.coalesce(RUN.c.selected_id, last_graded()),
                GRADE.c.version_id == RUN.c.version_id,
            ),
            isouter=True,
        )
        .where(
            *_shown(experiments, archived=archived),
            RUN.c.state == RunState.CLOSED,
            RUN.c.id.not_in(state.waiting),
        )
    )
    others: list[str] = []
    for row in session.execute(query).yield_per(ROWS_AT_ONCE):
        if row[-1] is None:
            yield Graded._make(row[:-1])
        else:
            others.append(row[-1])
    for start in range(0, len(others), RUNS_AT_ONCE):
        some = [RUN.c.id.in_(others[start : start + RUNS_AT_ONCE])]
        yield from brief_results(session, some, state.regrades)


def live_results(
    session: Session, experiments: Sequence[str], state: ResultState, *, archived: bool
) -> Iterator[BriefResult]:
    """The other runs of these experiments: open ones, and closed ones that are being graded."""
    live = or_(RUN.c.state == RunState.OPEN, RUN.c.id.in_(state.waiting))
    return brief_results(session, [*_shown(experiments, archived=archived), live], state.regrades)


def _shown(experiments: Sequence[str] | None, *, archived: bool) -> list[Any]:
    conditions: list[Any] = []
    if not archived:
        conditions += archive.is_shown(RUN, experiment_named=True, competition_named=False)
    if experiments is not None:
        conditions.append(RUN.c.experiment.in_(experiments))
    return conditions
