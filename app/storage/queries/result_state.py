"""Counts that detect changed results of experiments; a few, however many results there are.

A closed run without a queued submission keeps its result: it accepts no further submission and no
other choice. So the number of such runs shows whether an experiment has a new one. A regrade that
is applied changes the state that all experiments share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Text, func, select, type_coerce
from sqlalchemy.orm import Session

from app.domain.states import OPEN, ArchivalKind, RunState
from app.storage.database.models import Run, Submission
from app.storage.database.tables.acts import Amendment, Archival
from app.storage.database.tables.results_elsewhere import ImportedGrade, ReportedScore
from app.storage.queries import archive
from app.storage.queries.regrades.in_force import InForce, in_force
from app.storage.queries.reviews import decisions

RUN = Run.__table__
SUBMISSION = Submission.__table__
IMPORTED = ImportedGrade.__table__
REPORTED = ReportedScore.__table__
ARCHIVAL = Archival.__table__
AMENDMENT = Amendment.__table__


@dataclass(frozen=True, slots=True)
class ExperimentState:
    """The state from which an experiment's results were read; equal states have equal results.

    `live` runs are open, or closed with a submission that is not settled. Their results are not
    part of the state.
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
        .where(SUBMISSION.c.state.in_(OPEN), RUN.c.state == RunState.CLOSED)
        .distinct()
        .order_by(RUN.c.id)
    )
    for experiment, run in session.execute(queued):
        waiting.setdefault(experiment, []).append(run)
    imports = select(IMPORTED.c.experiment, func.count(), func.max(IMPORTED.c.id)).group_by(
        IMPORTED.c.experiment
    )
    imported = {name: (count, last) for name, count, last in session.execute(imports)}
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
        shared=_shared(session, regrades, excluded),
    )


def shared_state(session: Session) -> tuple[Any, ...]:
    """The state of what the results of all experiments depend on."""
    return _shared(session, tuple(in_force(session)), decisions.excluded_ids(session))


def _shared(
    session: Session, regrades: tuple[InForce, ...], excluded: tuple[str, ...]
) -> tuple[Any, ...]:
    archivals = select(
        func.count(), func.max(ARCHIVAL.c.archived_at), func.max(ARCHIVAL.c.restored_at)
    )
    return (
        regrades,
        excluded,
        *session.execute(archivals).one(),
        session.execute(select(func.max(REPORTED.c.id))).scalar(),
        # A withdrawn result and one imported in its place may have the same id.
        session.execute(select(func.max(AMENDMENT.c.id))).scalar(),
    )
