"""A summary of an experiment: its rates over its own competitions, from counts by SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.domain.feedback import Feedback
from app.services.runtime.context import Context
from app.statistics.estimates import Interval, mean_in_percent
from app.statistics.intervals import over_runs
from app.storage.database.records import ExperimentRecord
from app.storage.queries import competitions
from app.storage.queries.overview.competition_counts import CompetitionCounts
from app.storage.queries.overview.experiments import ListedExperiment

COUNTED = ("gold", "silver", "bronze", "above_median", "valid")
SUMMED = CompetitionCounts._fields[3:]
POLICIES = tuple(policy.value for policy in Feedback)


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """An experiment with its numbers; rates in percent.

    `rates` has any_medal and `COUNTED`, over the `rated` competitions that have a result; it is
    None if nothing has one, or if a competition has no human leaderboard. `interval` is for these
    competitions, run again. `percentile` is the mean over the results whose place is known.
    `seconds` is the mean and `cost_usd` the sum over the runs that reported them; `priced` is the
    number of runs that reported a cost. `near_lines` is the number of final scores that are closer
    to a medal line than their noise, if the noise was estimated. `seeds` is the number of different
    seeds at its competitions, as in medal rates. `imported` says whether it has imported results or
    runs, for which it is not known what the agents were shown. `flags` are those of the current
    versions.
    """

    experiment: ExperimentRecord
    competitions: int
    rated: int
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
    near_lines: int = 0
    seeds: int = 0

    @property
    def pending(self) -> int:
        """The number of runs without a result."""
        return self.runs - self.counted

    @property
    def missing(self) -> int:
        """The number of seeds without a result at its competitions, even without a run."""
        return self.seeds * self.competitions - self.counted


def summarize(
    context: Context, found: Sequence[tuple[ListedExperiment, Sequence[CompetitionCounts], int]]
) -> list[ExperimentSummary]:
    """The numbers of experiments from their counts and the number of their different seeds."""
    slugs = {one.competition for _, counts, _ in found for one in counts}
    with context.database.read() as session:
        current = competitions.current_ids(session, slugs)
    graded = {one.version_id for _, counts, _ in found for one in counts if one.valid}
    ids = {*current.values(), *(each for each in graded if each is not None)}
    versions = {each: context.catalogue.version(each) for each in ids}
    flags_of = {
        slug: [flag["code"] for flag in versions[each].document.get("flags") or ()]
        for slug, each in current.items()
    }
    with_board = {each for each, version in versions.items() if version.leaderboard is not None}
    tables = [_table(counts) for _, counts, _ in found]
    intervals = intervals_of_tables(tables)
    summaries = []
    for (listed, counts, seeds), table, interval in zip(found, tables, intervals, strict=True):
        # As in medal rates: the current versions, and those that graded what counts.
        here = {one.competition for one in counts} & current.keys()
        by = {one.version_id for one in counts if one.valid and one.version_id is not None}
        has_boards = with_board.issuperset({current[slug] for slug in here} | by)
        totals = dict.fromkeys(SUMMED, 0)
        if counts:
            columns = list(zip(*counts, strict=True))[-len(SUMMED) :]
            totals = {name: sum(each) for name, each in zip(SUMMED, columns, strict=True)}
        policies = {name: totals[f"policy_{name}"] for name in POLICIES if totals[f"policy_{name}"]}
        summaries.append(
            ExperimentSummary(
                experiment=listed.experiment,
                competitions=len({one.competition for one in counts}),
                rated=len(table),
                seeds=seeds,
                runs=totals["runs"],
                counted=totals["counted"],
                open=totals["open"],
                rates=rates_of_table(table) if has_boards and table else None,
                interval=interval if has_boards else None,
                percentile=totals["percentiles"] / totals["placed"] if totals["placed"] else None,
                **spent(listed),
                policies=policies,
                disclosed=listed.disclosed,
                imported=sum(policies.values()) < totals["runs"],
                flags=tuple(sorted({code for slug in here for code in flags_of[slug]})),
                has_boards=has_boards,
            )
        )
    return summaries


def _table(counts: Sequence[CompetitionCounts]) -> list[list[int]]:
    """For each competition with results: their number, those with a medal, and `COUNTED`.

    The competitions are sorted, so that intervals have the same last bits everywhere.
    """
    sums: dict[str, list[int]] = {}
    for one in counts:
        medals = one.gold + one.silver + one.bronze
        row = [one.counted, medals, one.gold, one.silver, one.bronze, one.above_median, one.valid]
        known = sums.get(one.competition)
        if known is not None:  # another version of the competition
            row = [a + b for a, b in zip(known, row, strict=True)]
        sums[one.competition] = row
    return [row for _, row in sorted(sums.items()) if row[0]]


def rates_of_table(table: list[list[int]]) -> Mapping[str, float]:
    """The means over competitions of the shares of their results, in percent."""
    names = ("any_medal", *COUNTED)
    return {
        name: mean_in_percent((row[at] / row[0] for row in table), len(table))
        for at, name in enumerate(names, 1)
    }


def intervals_of_tables(tables: Sequence[list[list[int]]]) -> list[Interval | None]:
    """The interval of any medal of each table.

    Nearly all experiments have the same number of results at each competition; these share a
    calculation.
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


def spent(listed: ListedExperiment) -> dict[str, Any]:
    """The times and costs that harnesses reported: mean, sum, and number of runs."""
    sums = listed.spent
    return {
        "seconds": sums["seconds"] / sums["timed"] if sums["timed"] else None,
        "cost_usd": sums["cost_usd"] if sums["priced"] else None,
        "priced": int(sums["priced"]),
    }
