"""The results of many experiments, read once and kept while they do not change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.services.results.inputs.attempts import ExperimentResults, add_graded, add_import, add_run
from app.services.runtime.context import Context
from app.storage.queries import brief_results, exposure, results
from app.storage.queries.brief_results import GradedRuns
from app.storage.queries.regrades.brief_runs import BriefResult
from app.storage.queries.result_state import ResultState, result_state, shared_state

ATTEMPT_BYTES = 40
PENDING_BYTES = 150
FEW = 50  # experiments named in a query; for more, all are read
# A row gets its id when it is inserted, and becomes visible when it is committed. Transactions are
# much shorter than this, so after this time no row with a smaller id can appear.
SETTLED_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Gathered:
    """An experiment's results. Equal versions mean equal results."""

    results: ExperimentResults
    version: Hashable


def gather_many(
    context: Context, names: Sequence[str] | None, *, archived: bool
) -> dict[str, Gathered]:
    """The results of these experiments (None: of all that have results), by experiment.

    Only new results are read: experiments with newly closed runs, and runs that are open or being
    graded. `archived` as in `gather`.
    """
    losses = context.database.losses
    with context.database.read() as session:
        state = result_state(session)
        if names is None:
            names = sorted(set(state.experiments) - (set() if archived else state.archived))
        settled = _settled(context, session, state, names, archived, losses)
        live = _live(session, state, names, archived)
    found = {}
    for name in names:
        own, version = settled[name]
        rows = live.get(name, ())
        if rows:
            own = own.copy()
            for row in rows:
                add_run(own, row)
        if rows or name in state.experiments:
            found[name] = Gathered(own, (version, rows))
        else:
            found[name] = Gathered(ExperimentResults(), version)
    return found


def result_versions(context: Context) -> dict[str, Hashable]:
    """Values that change with an experiment's settled results; without archived experiments."""
    losses = context.database.losses
    with context.database.read() as session:
        state = result_state(session)
    return {
        name: (own, state.shared, losses)
        for name, own in state.experiments.items()
        if name not in state.archived
    }


def read_ahead(context: Context, names: Sequence[str]) -> None:
    """Read the results of these experiments, and the disclosures of all, into the cache."""
    with context.kept.turn():
        gather_many(context, names, archived=False)
        disclosures_of_all(context, archived=False)


def disclosures_of_all(context: Context, *, archived: bool) -> dict[str, dict[str, int]]:
    """The number of disclosures by experiment and kind; old ones are counted only once."""
    losses = context.database.losses
    with context.database.read() as session:
        shared = (shared_state(session), losses)
        key = ("disclosures", archived)
        kept = context.kept.get(key, shared)
        moment = datetime.now(UTC) - timedelta(seconds=SETTLED_SECONDS)
        until = exposure.disclosures_until(session, moment)
        if kept is None:
            newer = exposure.count_disclosures(session, after=until, archived=archived)
            totals = exposure.count_disclosures(session, archived=archived) - newer
        else:
            last, totals = kept
            until = max(last, until)
            totals = totals + exposure.count_disclosures(
                session, after=last, until=until, archived=archived
            )
            newer = exposure.count_disclosures(session, after=until, archived=archived)
    context.kept.put(key, shared, (until, totals), 200 * len(totals) + 200)
    found: dict[str, dict[str, int]] = {}
    for (name, kind), count in (totals + newer).items():
        found.setdefault(name, {})[kind] = count
    return found


def _settled(
    context: Context,
    session: Session,
    state: ResultState,
    names: Iterable[str],
    archived: bool,
    losses: int,
) -> dict[str, tuple[ExperimentResults, Hashable]]:
    """The results that cannot change, of each experiment, and their version.

    `losses` are those of the database before the state was read. A standby that lacks results may
    have the same number of others.
    """
    found: dict[str, tuple[ExperimentResults, Hashable]] = {}
    stale: dict[str, Hashable] = {}
    for name in names:
        version = (state.experiments.get(name), state.shared, losses)
        kept = context.kept.get(("results", name, archived), version)
        if kept is None:
            stale[name] = version
        else:
            found[name] = (kept, version)
    if not stale:
        return found
    read = {name: ExperimentResults() for name in stale}
    named = sorted(stale) if len(stale) <= FEW else None
    for row in brief_results.settled_results(session, named, state, archived=archived):
        own = read.get(row.experiment)
        if own is None:
            continue
        if isinstance(row, GradedRuns):
            add_graded(own, row)
        else:
            add_run(own, row)
    for outcome in results.imported_outcomes(
        session, experiments=named, archived=archived, with_archived_experiments=True
    ):
        if outcome[0] in read:
            add_import(read[outcome[0]], outcome)
    for name, own in read.items():
        size = ATTEMPT_BYTES * len(own.attempts) + PENDING_BYTES * (1 + len(own.pending))
        context.kept.put(("results", name, archived), stale[name], own, size)
        found[name] = (own, stale[name])
    return found


def _live(
    session: Session, state: ResultState, names: Sequence[str], archived: bool
) -> dict[str, tuple[BriefResult, ...]]:
    """The runs that are open or being graded, by experiment."""
    active = [name for name in names if name in state.open]
    found: dict[str, list[BriefResult]] = {name: [] for name in active}
    for start in range(0, len(active), FEW):
        some = active[start : start + FEW]
        for row in brief_results.live_results(session, some, state, archived=archived):
            found[row.experiment].append(row)
    return {name: tuple(rows) for name, rows in found.items()}
