"""Plan an experiment: from stated spreads, or from those of two experiments here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.errors import Invalid
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.services.results.inputs.several import several
from app.services.runtime.context import Context
from app.statistics.planning import PlannedSize, Spread, plan, spread_of

MOST = 20  # numbers of seeds, or of competitions
MOST_PLANNED = 100_000


@dataclass(frozen=True, slots=True)
class SeedPlan:
    """The planned sizes, and the spreads they are based on; `basis` are the experiments."""

    spread: Spread
    basis: list[ResultContext]
    power: float
    rate: str
    sizes: list[PlannedSize]


def from_spread(
    spread: Spread, competitions: Sequence[int], seeds: Sequence[int], *, power: float, rate: str
) -> SeedPlan:
    """The differences that each number of competitions and seeds can detect, for a stated spread.

    Raises:
        Invalid: a number is out of range.
    """
    for name, numbers in (("competitions", competitions), ("seeds", seeds)):
        if (
            not numbers
            or len(numbers) > MOST
            or not 1 <= min(numbers) <= max(numbers) <= MOST_PLANNED
        ):
            raise Invalid(f"{name}: give 1 to {MOST} numbers from 1 to {MOST_PLANNED:,}.")
    sizes = plan(spread, sorted(set(competitions)), sorted(set(seeds)), power=power)
    return SeedPlan(spread, [], power, rate, sizes)


def from_experiments(
    context: Context,
    experiments: Sequence[str],
    filters: ResultFilter,
    competitions: Sequence[int],
    seeds: Sequence[int],
    *,
    power: float,
    rate: str,
) -> SeedPlan:
    """The same for the spreads of two experiments; `competitions` are theirs by default.

    Raises:
        Invalid: there are not two experiments, or a number is out of range.
        NotFound: an experiment or the suite does not exist.
        Conflict: the experiments have no competition in common, or one cannot be counted.
    """
    basis = several(context, filters, experiments, strict=True).contexts if experiments else []
    if len(basis) != 2:
        raise Invalid("Give two different experiments, or the spreads between and within.")
    spread = spread_of(basis[0].grid, basis[1].grid, rate)
    counts = competitions or [len(basis[0].grid.competitions)]
    return replace(from_spread(spread, counts, seeds, power=power, rate=rate), basis=basis)
