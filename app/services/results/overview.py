"""Experiments in brief: each one's rates over its own competitions, for lists of experiments.

The rates are those of `experiment_results.medal_rates` with padding=available, over the results
that are there. Two queries read them for a page of experiments, whatever the number of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.errors import NotFound
from app.services.runtime.context import Context
from app.statistics.estimates import Interval
from app.statistics.intervals import over_runs
from app.storage.database.records import ExperimentRecord
from app.storage.queries import overview
from app.storage.queries.overview import CompetitionCounts, ListedExperiment

COUNTED = ("gold", "silver", "bronze", "above_median", "valid")
MEDALS = ("gold", "silver", "bronze")
POLICIES = ("none", "validity", "public", "full")
STORED_SORTS = tuple(overview.SORTS)
COMPUTED_SORTS = ("any_medal", *COUNTED, "percentile", "seconds", "cost_usd", "runs")
MOST_SORTED = 1000  # experiments that are sorted by a number that has to be computed


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """An experiment with its numbers; rates in percent.

    `rates` has any_medal and `COUNTED`; it is None if nothing has a result, or if a competition
    has no human leaderboard. `interval` is for these competitions, run again. `percentile` is the
    mean over the results whose place is known. `seconds` is the mean and `cost_usd` the sum over
    the runs that reported them; `priced` is their number.
    """

    experiment: ExperimentRecord
    competitions: int
    runs: int
    counted: int
    open: int
    rates: Mapping[str, float] | None
    interval: Interval | None
    percentile: float | None
    seconds: float | None
    cost_usd: float | None
    priced: int
    policies: Mapping[str, int]
    disclosed: Mapping[str, int]
    imported: bool
    flags: tuple[str, ...]
    has_boards: bool

    @property
    def pending(self) -> int:
        """The number of runs without a result."""
        return self.runs - self.counted


def page(
    context: Context, *, q: str, sort: str, descending: bool, limit: int, offset: int
) -> tuple[list[ExperimentSummary], int]:
    """A page of experiments that are not archived, and the number of all of them.

    `sort` is one of `STORED_SORTS` and `COMPUTED_SORTS`. Of the latter, the newest `MOST_SORTED`
    experiments are sorted; those without the number come last.
    """
    computed = sort in COMPUTED_SORTS
    with context.database.read() as session:
        found, total = overview.list_experiments(
            session,
            q=q,
            sort="created" if computed else sort,
            descending=descending or computed,
            limit=MOST_SORTED if computed else limit,
            offset=0 if computed else offset,
        )
        counts = overview.competition_counts(session, [one.experiment.name for one in found])
    summaries = _summaries(context, found, counts)
    if not computed:
        return summaries, total
    sign = -1.0 if descending else 1.0
    keys = {one.experiment.name: _sort_key(one, sort) for one in summaries}

    def order(one: ExperimentSummary) -> tuple[bool, float, str]:
        number = keys[one.experiment.name]
        return number is None, sign * (number or 0.0), one.experiment.name

    return sorted(summaries, key=order)[offset : offset + limit], min(total, MOST_SORTED)


def listed(context: Context, name: str) -> ListedExperiment:
    """One experiment, also if it is archived.

    Raises:
        NotFound: it does not exist.
    """
    with context.database.read() as session:
        found, _ = overview.list_experiments(session, name=name, limit=1)
    if not found:
        raise NotFound(f"There is no experiment {name!r}.")
    return found[0]


def _sort_key(one: ExperimentSummary, sort: str) -> float | None:
    if sort in ("percentile", "seconds", "cost_usd", "runs"):
        value: float | None = getattr(one, sort)
        return value
    return None if one.rates is None else one.rates[sort]


def _summaries(
    context: Context, found: Sequence[ListedExperiment], counts: Sequence[CompetitionCounts]
) -> list[ExperimentSummary]:
    by_name: dict[str, list[CompetitionCounts]] = {one.experiment.name: [] for one in found}
    for each in counts:
        by_name[each.experiment].append(each)
    return [summarize(context, one, by_name[one.experiment.name]) for one in found]


def summarize(
    context: Context, listed: ListedExperiment, counts: Sequence[CompetitionCounts]
) -> ExperimentSummary:
    """The numbers of an experiment from its counts."""
    ids = {one.version_id for one in counts if one.version_id is not None}
    versions = [context.catalogue.version(each) for each in ids]
    flags = {flag["code"] for one in versions for flag in one.document.get("flags") or ()}
    has_boards = all(one.leaderboard is not None for one in versions)
    rates, interval = _rates(counts) if has_boards else (None, None)
    placed, timed = sum(one.placed for one in counts), sum(one.timed for one in counts)
    priced = sum(one.priced for one in counts)
    return ExperimentSummary(
        experiment=listed.experiment,
        competitions=len({one.competition for one in counts}),
        runs=sum(one.runs for one in counts),
        counted=sum(one.counted for one in counts),
        open=sum(one.open for one in counts),
        rates=rates,
        interval=interval,
        percentile=sum(one.percentiles for one in counts) / placed if placed else None,
        seconds=sum(one.seconds for one in counts) / timed if timed else None,
        cost_usd=sum(one.cost_usd for one in counts) if priced else None,
        priced=priced,
        policies={
            name: total
            for name in POLICIES
            if (total := sum(getattr(one, f"policy_{name}") for one in counts))
        },
        disclosed=listed.disclosed,
        imported=listed.imported,
        flags=tuple(sorted(flags)),
        has_boards=has_boards,
    )


def _rates(
    counts: Sequence[CompetitionCounts],
) -> tuple[Mapping[str, float] | None, Interval | None]:
    """The means over competitions of the shares of their results, and any_medal's interval."""
    sums: dict[str, list[int]] = {}
    for one in counts:
        row = [one.counted, *(getattr(one, name) for name in COUNTED)]
        known = sums.setdefault(one.competition, [0] * len(row))
        sums[one.competition] = [a + b for a, b in zip(known, row, strict=True)]
    table = np.array([row for row in sums.values() if row[0]], dtype=float)
    if not len(table):
        return None, None
    attempts = table[:, 0].astype(np.int64)
    wins = table[:, 1:]
    medals = wins[:, : len(MEDALS)].sum(axis=1)
    shares = np.column_stack([medals, wins]) / attempts[:, None]
    means = 100.0 * shares.mean(axis=0)
    found = over_runs(shares[:, :1], attempts)
    interval = None
    if found is not None:
        low, high = 100.0 * found.interval[:, 0]
        interval = (float(low), float(high))
    return dict(zip(("any_medal", *COUNTED), means.tolist(), strict=True)), interval
