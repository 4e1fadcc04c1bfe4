"""Outcome counts of runs by competition, and the seeds of experiments."""

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
from app.domain.states import RunState, SubmissionState
from app.storage.database.models import Run
from app.storage.database.tables.results_elsewhere import ImportedGrade
from app.storage.queries.regrades.brief_runs import brief_query
from app.storage.queries.regrades.in_force import in_force
from app.storage.queries.results import conditions

IMPORTED = ImportedGrade.__table__
RUN = Run.__table__


class CompetitionCounts(NamedTuple):
    """One experiment at one version of a competition: how many runs, and how many won what.

    `version_id` is None for imported results. `counted` runs have a result. `percentiles` is the
    sum over the `placed` results, whose place on the board is known. It is not known what the
    agents of imported runs were shown, so they count for no policy.
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
    policy_none: int
    policy_validity: int
    policy_search: int
    policy_public: int
    policy_full: int


KEYS = ("experiment", "competition", "version_id")


def competition_counts(
    session: Session, experiments: Sequence[str], *, is_regraded: bool = True
) -> list[CompetitionCounts]:
    """Outcome counts of runs and imported results, by experiment and competition.

    Without `is_regraded` the caller knows that no regrade was ever applied.
    """
    regrades = [one.id for one in in_force(session)] if is_regraded else []
    # Imported results have no version, so the two parts have no row in common.
    query = union_all(_summed(_runs(experiments, regrades)), _summed(_imports(experiments)))
    return [CompetitionCounts._make(row) for row in session.execute(query)]


def seed_counts(session: Session, experiments: Sequence[str]) -> dict[str, int]:
    """The number of different seeds of each experiment, at all its competitions together."""
    of_runs, of_imports = (
        select(table.c.experiment, table.c.seed).where(
            *conditions(table, experiments, None, archived=False)
        )
        for table in (RUN, IMPORTED)
    )
    each = of_runs.union(of_imports).subquery()
    query = select(each.c.experiment, func.count()).group_by(each.c.experiment)
    return {name: int(count) for name, count in session.execute(query)}


def _summed(rows: Select[Any]) -> Select[Any]:
    """The sums of such rows by experiment, competition and version."""
    each = rows.subquery()
    keys = [each.c[name] for name in KEYS]
    totals = [
        func.sum(each.c[name]).label(name) for name in CompetitionCounts._fields if name not in KEYS
    ]
    return select(*keys, *totals).group_by(*keys)


def _runs(experiments: Sequence[str], regrades: Sequence[str]) -> Select[Any]:
    """A row of zeros and ones for each run, by the rule of `attempts.attempt_of_run`."""
    shown = conditions(RUN, experiments, None, archived=False)
    # Materialise once; otherwise each sum recomputes every run's outcome.
    run = (
        brief_query(shown, regrades, ("better", "equal", "worse"))
        .cte("each_run")
        .prefix_with("MATERIALIZED")
    )
    graded = and_(run.c.final_state == SubmissionState.GRADED.value, ~run.c.excluded)
    has_none = and_(
        ~run.c.excluded,
        or_(
            run.c.final_state == SubmissionState.REJECTED.value,  # the selected file
            and_(run.c.final.is_(None), run.c.failed == 0),
        ),
        run.c.waiting == 0,
        run.c.state == RunState.CLOSED.value,
        or_(run.c.reported == 0, run.c.sent > 0),
    )
    counted = or_(graded, has_none)
    teams = cast(run.c.better + run.c.equal + run.c.worse, Float)
    placed = and_(graded, run.c.better.is_not(None), teams > 0)
    percentile = 100.0 * (teams - run.c.better) / teams
    flags: dict[str, ColumnElement[Any]] = {
        "runs": literal(1),
        "counted": _one(counted),
        "open": _one(run.c.state == RunState.OPEN.value),
        **{medal.value: _one(and_(graded, run.c.medal == medal.value)) for medal in Medal},
        "above_median": _one(and_(graded, run.c.above_median.is_(True))),
        "valid": _one(graded),
        "placed": _one(placed),
        "percentiles": case((placed, percentile), else_=0.0),
        **{
            f"policy_{one.value}": _one(and_(run.c.feedback == one.value, ~run.c.imported))
            for one in Feedback
        },
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
    return select(
        *(
            known.get(name, literal(0.0 if name == "percentiles" else 0)).label(name)
            for name in CompetitionCounts._fields
        )
    )


def _one(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)
