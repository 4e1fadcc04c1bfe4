"""Experiments in brief: each one's rates over its own competitions, for lists of experiments.

The rates are those of `experiment_results.medal_rates` with padding=available, over the results
that are there. Two queries read them for a page of experiments, whatever the number of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.domain.feedback import Feedback
from app.errors import NotFound
from app.services.runtime.context import Context
from app.statistics.estimates import Interval
from app.statistics.intervals import over_runs
from app.storage.database.records import ExperimentRecord
from app.storage.queries import overview
from app.storage.queries.overview import CompetitionCounts, ListedExperiment

COUNTED = ("gold", "silver", "bronze", "above_median", "valid")
SUMMED = CompetitionCounts._fields[3:]
POLICIES = tuple(policy.value for policy in Feedback)
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
    return summarize(context, [(one, by_name[one.experiment.name]) for one in found])


def summarize(
    context: Context, found: Sequence[tuple[ListedExperiment, Sequence[CompetitionCounts]]]
) -> list[ExperimentSummary]:
    """The numbers of experiments from their counts."""
    ids = {one.version_id for _, counts in found for one in counts if one.version_id is not None}
    versions = {each: context.catalogue.version(each) for each in ids}
    flags_of = {
        each: [flag["code"] for flag in version.document.get("flags") or ()]
        for each, version in versions.items()
    }
    with_board = {each for each, version in versions.items() if version.leaderboard is not None}
    tables = [_table(counts) for _, counts in found]
    intervals = _intervals(tables)
    summaries = []
    for (listed, counts), table, interval in zip(found, tables, intervals, strict=True):
        names = [one.version_id for one in counts if one.version_id is not None]
        has_boards = with_board.issuperset(names)
        totals = dict.fromkeys(SUMMED, 0)
        if counts:
            columns = list(zip(*counts, strict=True))[-len(SUMMED) :]
            totals = {name: sum(each) for name, each in zip(SUMMED, columns, strict=True)}
        summaries.append(
            ExperimentSummary(
                experiment=listed.experiment,
                competitions=len({one.competition for one in counts}),
                runs=totals["runs"],
                counted=totals["counted"],
                open=totals["open"],
                rates=_rates(table) if has_boards and table else None,
                interval=interval if has_boards else None,
                percentile=totals["percentiles"] / totals["placed"] if totals["placed"] else None,
                seconds=totals["seconds"] / totals["timed"] if totals["timed"] else None,
                cost_usd=totals["cost_usd"] if totals["priced"] else None,
                priced=totals["priced"],
                policies={
                    name: totals[f"policy_{name}"] for name in POLICIES if totals[f"policy_{name}"]
                },
                disclosed=listed.disclosed,
                imported=listed.imported,
                flags=tuple(sorted({code for each in names for code in flags_of[each]})),
                has_boards=has_boards,
            )
        )
    return summaries


def _table(counts: Sequence[CompetitionCounts]) -> list[list[int]]:
    """For each competition with results: their number, those with a medal, and `COUNTED`.

    The order is by number, for a mean over competitions has no order.
    """
    sums: dict[str, list[int]] = {}
    for one in counts:
        medals = one.gold + one.silver + one.bronze
        row = [one.counted, medals, one.gold, one.silver, one.bronze, one.above_median, one.valid]
        known = sums.get(one.competition)
        if known is not None:  # another version of the competition
            row = [a + b for a, b in zip(known, row, strict=True)]
        sums[one.competition] = row
    return sorted(row for row in sums.values() if row[0])


def _rates(table: list[list[int]]) -> Mapping[str, float]:
    """The means over competitions of the shares of their results, in percent."""
    names = ("any_medal", *COUNTED)
    return {
        name: 100.0 * sum(row[at] / row[0] for row in table) / len(table)
        for at, name in enumerate(names, 1)
    }


def _intervals(tables: Sequence[list[list[int]]]) -> list[Interval | None]:
    """The interval of any medal of each table.

    Experiments with as many results at each competition, which are nearly all, share a calculation.
    """
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, table in enumerate(tables):
        alike.setdefault(tuple(row[0] for row in table), []).append(number)
    found: list[Interval | None] = [None] * len(tables)
    for attempts, members in alike.items():
        if not attempts:
            continue
        count = np.array(attempts, dtype=np.int64)
        medals = np.array([[row[1] for row in tables[each]] for each in members], dtype=float).T
        uncertainty = over_runs(medals / count[:, None], count)
        if uncertainty is None:
            continue
        low, high = (100.0 * uncertainty.interval).tolist()
        for at, each in enumerate(members):
            found[each] = (low[at], high[at])
    return found
