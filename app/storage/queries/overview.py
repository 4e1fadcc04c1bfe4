"""Experiments in brief, for the page that lists them: two queries for any number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Float,
    Integer,
    Select,
    and_,
    case,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.medals import Medal
from app.domain.states import ArchivalKind, RunState, SubmissionState
from app.storage.database.models import Disclosure, Experiment, Run
from app.storage.database.records import DISCLOSURE_KINDS, ExperimentRecord
from app.storage.database.tables.results_elsewhere import ImportedGrade
from app.storage.queries import archive
from app.storage.queries.regrades.counted_runs import run_query
from app.storage.queries.regrades.in_force import in_force
from app.storage.queries.results import conditions

EXPERIMENT = Experiment.__table__
DISCLOSURE = Disclosure.__table__
IMPORTED = ImportedGrade.__table__
RUN = Run.__table__
SORTS = {
    "name": EXPERIMENT.c.name,
    "agent": EXPERIMENT.c.agent,
    "model": EXPERIMENT.c.model,
    "created": EXPERIMENT.c.created_at,
}


class ListedExperiment(NamedTuple):
    """An experiment, and how many scores and verdicts were shown to the keys of its runs.

    `imported` says whether it has imported results.
    """

    experiment: ExperimentRecord
    disclosed: dict[str, int]
    imported: bool


class CompetitionCounts(NamedTuple):
    """One experiment at one version of a competition: how many runs, and how many won what.

    `version_id` is None for imported results. `counted` runs have a result. `percentiles` is the
    sum over the `placed` results whose place on the board is known. `seconds` and `cost_usd` are
    sums over the `timed` and `priced` runs, whose harness reported them.
    """

    experiment: str
    competition: str
    version_id: int | None
    runs: int
    counted: int
    open: int
    gold: int
    silver: int
    bronze: int
    above_median: int
    valid: int
    placed: int
    percentiles: float
    timed: int
    seconds: float
    priced: int
    cost_usd: float
    policy_none: int
    policy_validity: int
    policy_search: int
    policy_public: int
    policy_full: int


KEYS = ("experiment", "competition", "version_id")


def list_experiments(
    session: Session,
    *,
    name: str | None = None,
    q: str = "",
    sort: str = "created",
    descending: bool = True,
    limit: int,
    offset: int = 0,
) -> tuple[list[ListedExperiment], int]:
    """Experiments that are not archived, and how many there are; or the one with this name.

    `q` is a part of the name, the agent or the model. The order is by a key of `SORTS`.
    """
    shown: list[ColumnElement[bool]] = [
        EXPERIMENT.c.name.not_in(archive.names_of(ArchivalKind.EXPERIMENT))
    ]
    if name is not None:
        shown = [EXPERIMENT.c.name == name]
    if q:
        fields = (EXPERIMENT.c.name, EXPERIMENT.c.agent, EXPERIMENT.c.model)
        shown.append(or_(*(func.lower(f).contains(q.lower(), autoescape=True) for f in fields)))
    order = SORTS[sort].desc() if descending else SORTS[sort]
    page = (
        select(EXPERIMENT, func.count().over().label("total"))
        .where(*shown)
        .order_by(order, EXPERIMENT.c.name)
        .limit(limit)
        .offset(offset)
        .cte("page")
    )
    told = _told_to_agents(select(page.c.name)).subquery()
    imported = select(IMPORTED.c.id).where(IMPORTED.c.experiment == page.c.name).exists()
    counts = [func.coalesce(told.c[kind], 0).label(kind) for kind in DISCLOSURE_KINDS]
    by = page.c[SORTS[sort].name]
    query = (
        select(page, *counts, imported.label("imported"))
        .join(told, told.c.experiment == page.c.name, isouter=True)
        .order_by(by.desc() if descending else by, page.c.name)
    )
    rows = session.execute(query).mappings().all()
    names = [column.name for column in EXPERIMENT.c]
    found = [
        ListedExperiment(
            ExperimentRecord(**{name: row[name] for name in names}),
            {kind: int(row[kind]) for kind in DISCLOSURE_KINDS},
            bool(row["imported"]),
        )
        for row in rows
    ]
    return found, int(rows[0]["total"]) if rows else 0


def _told_to_agents(names: Select[tuple[str]]) -> Select[Any]:
    return (
        select(
            RUN.c.experiment,
            *(_count(DISCLOSURE.c.kind == kind).label(kind) for kind in DISCLOSURE_KINDS),
        )
        .join(RUN, RUN.c.id == DISCLOSURE.c.run_id)
        .where(RUN.c.experiment.in_(names))
        .group_by(RUN.c.experiment)
    )


def competition_counts(session: Session, experiments: Sequence[str]) -> list[CompetitionCounts]:
    """What the experiments' runs and imported results came to, by experiment and competition."""
    regrades = [one.id for one in in_force(session)]
    # Imported results have no version, so no row of one part belongs to a row of the other.
    query = union_all(_summed(_runs(experiments, regrades)), _summed(_imports(experiments)))
    return [CompetitionCounts._make(row) for row in session.execute(query)]


def _summed(rows: Select[Any]) -> Select[Any]:
    """The sums of such rows by experiment, competition and version."""
    each = rows.subquery()
    keys = [each.c[name] for name in KEYS]
    totals = [
        func.sum(each.c[name]).label(name) for name in CompetitionCounts._fields if name not in KEYS
    ]
    return select(*keys, *totals).group_by(*keys)


def _runs(experiments: Sequence[str], regrades: Sequence[str]) -> Select[Any]:
    """A row of zeros and ones for each run. `attempts.attempt_of_run` has the rule in words."""
    shown = conditions(RUN, experiments, None, archived=False)
    run = run_query(shown, regrades).add_columns(RUN.c.usage.label("usage")).subquery()
    graded = and_(run.c.final_state == SubmissionState.GRADED, ~run.c.excluded)
    has_none = and_(
        ~run.c.excluded,
        run.c.final.is_(None),
        run.c.failed == 0,
        run.c.waiting == 0,
        run.c.state == RunState.CLOSED,
        or_(run.c.reported == 0, run.c.sent > 0),
    )
    counted = or_(graded, has_none)
    teams = cast(run.c.better + run.c.equal + run.c.worse, Float)
    placed = and_(graded, run.c.better.is_not(None), teams > 0)
    percentile = 100.0 * (teams - run.c.better) / teams
    seconds = run.c.usage["seconds"].as_float()
    cost = run.c.usage["cost_usd"].as_float()
    flags: dict[str, ColumnElement[Any]] = {
        "runs": literal(1),
        "counted": _one(counted),
        "open": _one(run.c.state == RunState.OPEN),
        **{medal.value: _one(and_(graded, run.c.medal == medal.value)) for medal in Medal},
        "above_median": _one(and_(graded, run.c.above_median.is_(True))),
        "valid": _one(graded),
        "placed": _one(placed),
        "percentiles": case((placed, percentile), else_=0.0),
        "timed": _one(seconds.is_not(None)),
        "seconds": func.coalesce(seconds, 0.0),
        "priced": _one(cost.is_not(None)),
        "cost_usd": func.coalesce(cost, 0.0),
        **{f"policy_{one.value}": _one(run.c.feedback == one) for one in Feedback},
    }
    return _labelled(run.c.experiment, run.c.competition, run.c.version_id, flags)


def _imports(experiments: Sequence[str]) -> Select[Any]:
    none = cast(null(), Integer)
    flags: dict[str, ColumnElement[Any]] = {
        "runs": literal(1),
        "counted": literal(1),
        **{medal.value: _one(IMPORTED.c.medal == medal.value) for medal in Medal},
        "above_median": _one(IMPORTED.c.above_median.is_(True)),
        "valid": _one(IMPORTED.c.valid.is_(True)),
    }
    query = _labelled(IMPORTED.c.experiment, IMPORTED.c.competition, none, flags)
    return query.where(*conditions(IMPORTED, experiments, None, archived=False))


def _labelled(
    experiment: ColumnElement[str],
    competition: ColumnElement[str],
    version: ColumnElement[Any],
    flags: dict[str, ColumnElement[Any]],
) -> Select[Any]:
    known = {"experiment": experiment, "competition": competition, "version_id": version, **flags}
    floats = ("percentiles", "seconds", "cost_usd")
    return select(
        *(
            known.get(name, literal(0.0 if name in floats else 0)).label(name)
            for name in CompetitionCounts._fields
        )
    )


def _one(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(_one(condition))
