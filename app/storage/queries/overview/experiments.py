"""Experiments of a list, and counts that change with their results."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, case, func, or_, select
from sqlalchemy.orm import Session

from app.domain.states import OPEN, ArchivalKind, RunState
from app.storage.database.models import CompetitionVersion, Disclosure, Experiment, Run, Submission
from app.storage.database.records import DISCLOSURE_KINDS, ExperimentRecord
from app.storage.database.tables.acts import Amendment, Archival
from app.storage.database.tables.noise import GradeUncertainty
from app.storage.database.tables.regrades import Regrade
from app.storage.database.tables.results_elsewhere import ImportedGrade, ReportedScore
from app.storage.database.tables.reviews import RunReview
from app.storage.queries import archive

EXPERIMENT = Experiment.__table__
DISCLOSURE = Disclosure.__table__
IMPORTED = ImportedGrade.__table__
SUBMISSION = Submission.__table__
RUN = Run.__table__
SORTS = {
    "name": EXPERIMENT.c.name,
    "agent": EXPERIMENT.c.agent,
    "model": EXPERIMENT.c.model,
    "created": EXPERIMENT.c.created_at,
}
SPENT = ("timed", "seconds", "priced", "cost_usd")


class ListedExperiment(NamedTuple):
    """An experiment, how many scores and verdicts were shown to its runs' keys, and its costs.

    Neither counts archived runs or runs at archived competitions, as in medal rates. `imported`
    says whether it has imported results. `spent` has the sums `seconds` and `cost_usd` over the
    `timed` and `priced` runs, whose harness reported them. Three are about the whole database, not
    about this experiment: `is_regraded` says whether a regrade was ever applied, `has_noise`
    whether the noise of any score is known, `has_archived` whether anything is archived now. As
    long as `state` does not change, the results of its runs do not change; it is None while a run
    is open or a submission is being graded.
    """

    experiment: ExperimentRecord
    disclosed: dict[str, int]
    imported: bool
    spent: dict[str, float]
    is_regraded: bool
    has_noise: bool
    has_archived: bool
    state: tuple[Any, ...] | None


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

    `q` is a part of the name, the agent or the model, in any case. The order is by a key of
    `SORTS`.
    """
    shown: list[ColumnElement[bool]] = [
        EXPERIMENT.c.name.not_in(archive.names_of(ArchivalKind.EXPERIMENT))
    ]
    if name is not None:
        shown = [EXPERIMENT.c.name == name]
    if q:
        fields = (EXPERIMENT.c.name, EXPERIMENT.c.agent, EXPERIMENT.c.model)
        # All databases lower ASCII letters, but not all lower others, so each case is searched for.
        forms = {one.encode().lower().decode() for one in (q, q.lower(), q.upper(), q.title())}
        shown.append(
            or_(*(func.lower(f).contains(w, autoescape=True) for f in fields for w in forms))
        )
    order = SORTS[sort].desc() if descending else SORTS[sort]
    page = (
        select(EXPERIMENT, func.count().over().label("total"))
        .where(*shown)
        .order_by(order, EXPERIMENT.c.name)
        .limit(limit)
        .offset(offset)
        .cte("page")
    )
    disclosed = _disclosed_to_agents(select(page.c.name)).subquery()
    imports = IMPORTED.c.experiment == page.c.name
    imported = select(IMPORTED.c.id).where(imports).exists()
    spent = _spent(select(page.c.name)).subquery()
    regraded = select(func.max(Regrade.__table__.c.applied_at)).scalar_subquery()
    noises = select(func.count()).select_from(GradeUncertainty.__table__).scalar_subquery()
    state = [
        noises,
        select(func.count())
        .where(RUN.c.experiment == page.c.name, RUN.c.state == RunState.CLOSED)
        .scalar_subquery(),
        select(func.count()).where(imports).scalar_subquery(),
        select(func.max(IMPORTED.c.id)).where(imports).scalar_subquery(),
        *_shared(),
    ]
    counts = [func.coalesce(disclosed.c[kind], 0).label(kind) for kind in DISCLOSURE_KINDS]
    by = page.c[SORTS[sort].name]
    query = (
        select(
            page,
            *counts,
            imported.label("imported"),
            *(func.coalesce(spent.c[name], 0).label(name) for name in SPENT),
            page.c.name.in_(_busy()).label("busy"),
            regraded.label("regraded"),
            noises.label("noises"),
            archive.is_anything_archived().label("archived"),
            *(column.label(f"state_{at}") for at, column in enumerate(state)),
        )
        .join(disclosed, disclosed.c.experiment == page.c.name, isouter=True)
        .join(spent, spent.c.experiment == page.c.name, isouter=True)
        .order_by(by.desc() if descending else by, page.c.name)
    )
    rows = session.execute(query).mappings().all()
    names = [column.name for column in EXPERIMENT.c]
    found = [
        ListedExperiment(
            ExperimentRecord(**{name: row[name] for name in names}),
            {kind: int(row[kind]) for kind in DISCLOSURE_KINDS},
            bool(row["imported"]),
            {name: row[name] for name in SPENT},
            row["regraded"] is not None,
            bool(row["noises"]),
            bool(row["archived"]),
            None if row["busy"] else tuple(row[f"state_{at}"] for at in range(len(state))),
        )
        for row in rows
    ]
    if rows or not offset:
        return found, int(rows[0]["total"]) if rows else 0
    # After the last page: an empty page has no row with their number.
    counting = select(func.count()).select_from(EXPERIMENT).where(*shown)
    return found, session.execute(counting).scalar_one()


def _disclosed_to_agents(names: Select[tuple[str]]) -> Select[Any]:
    return (
        select(
            RUN.c.experiment,
            *(_count(DISCLOSURE.c.kind == kind).label(kind) for kind in DISCLOSURE_KINDS),
        )
        .join(RUN, RUN.c.id == DISCLOSURE.c.run_id)
        .where(
            RUN.c.experiment.in_(names),
            *archive.is_shown(RUN, experiment_named=True, competition_named=False),
        )
        .group_by(RUN.c.experiment)
    )


def _spent(names: Select[tuple[str]]) -> Select[Any]:
    seconds, cost = (RUN.c.usage[name].as_float() for name in ("seconds", "cost_usd"))
    return (
        select(
            RUN.c.experiment,
            func.count(seconds).label("timed"),
            func.sum(seconds).label("seconds"),
            func.count(cost).label("priced"),
            func.sum(cost).label("cost_usd"),
        )
        .where(
            RUN.c.experiment.in_(names),
            *archive.is_shown(RUN, experiment_named=True, competition_named=False),
        )
        .group_by(RUN.c.experiment)
    )


def _busy() -> Any:
    """The experiments with runs whose results may change without a change of `state`."""
    graded = (
        select(RUN.c.experiment)
        .join(SUBMISSION, SUBMISSION.c.run_id == RUN.c.id)
        .where(SUBMISSION.c.state.in_(OPEN))
    )
    return select(RUN.c.experiment).where(RUN.c.state == RunState.OPEN).union(graded)


def _shared() -> list[Any]:
    """A fingerprint of the state that the results of many experiments depend on."""
    archival, regrade = Archival.__table__.c, Regrade.__table__.c
    columns = (
        func.max(archival.archived_at),
        func.max(archival.restored_at),
        func.max(regrade.applied_at),
        func.max(regrade.superseded_at),
        func.max(RunReview.__table__.c.id),
        func.max(ReportedScore.__table__.c.id),
        # A withdrawn result and one imported in its place may have the same id.
        func.max(Amendment.__table__.c.id),
        func.max(CompetitionVersion.__table__.c.id),
    )
    return [select(column).scalar_subquery() for column in columns]


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))
