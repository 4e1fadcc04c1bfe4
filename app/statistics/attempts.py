"""Attempts, and the grid of seeds x competitions x rates, the input of every statistic."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.domain.medals import Medal
from app.domain.wording import first_few
from app.errors import AttemptsMissing, Conflict

RATES = (
    "any_medal",
    "gold",
    "silver",
    "bronze",
    "above_median",
    "valid_submission",
    "made_submission",
)


class Padding(StrEnum):
    """How a (competition, seed) without a result counts."""

    NONE = "none"  # the statistic is refused, and the missing results are listed
    FAIL = "fail"  # it counts as a failure: no submission was made
    COMPLETE = "complete"  # a seed that misses any competition is left out


class Attempt(NamedTuple):
    """The outcome of one run; (experiment, competition, seed) is its key."""

    experiment: str
    competition: str
    seed: int
    made: bool = False
    valid: bool = False
    medal: Medal | None = None
    above_median: bool = False

    def failed(self) -> Attempt:
        """The same attempt as if nothing had been submitted."""
        return self._replace(made=False, valid=False, medal=None, above_median=False)

    @property
    def outcomes(self) -> tuple[bool, ...]:
        """Whether the attempt counts for each of `RATES`; only the best medal counts."""
        medal = self.medal
        return (
            medal is not None,
            medal is Medal.GOLD,
            medal is Medal.SILVER,
            medal is Medal.BRONZE,
            self.above_median,
            self.valid,
            self.made,
        )


@dataclass(frozen=True)
class Grid:
    """One experiment's outcomes: `outcomes[seed, competition, rate]` is 1.0 or 0.0.

    `missing` lists each (competition, seed) without a result, padded or left out.
    """

    competitions: tuple[str, ...]
    seeds: tuple[int, ...]
    outcomes: NDArray[np.float64]
    missing: tuple[tuple[str, int], ...]

    def positions(self, competitions: Collection[str]) -> list[int]:
        """The indexes of these competitions, in the grid's order."""
        return [at for at, slug in enumerate(self.competitions) if slug in competitions]


def make_grid(
    attempts: Iterable[Attempt],
    competitions: Collection[str],
    *,
    seeds: Collection[int] = (),
    padding: Padding = Padding.NONE,
) -> Grid:
    """The grid of one experiment's attempts at `competitions`; attempts at others are ignored.

    Its seeds are those of the attempts, and `seeds`, which may have no result yet. Competitions
    and seeds are sorted, so the order of `attempts` does not matter.

    Raises:
        ValueError: an attempt is there twice, or attempts of several experiments are mixed.
        AttemptsMissing: results are missing, and the padding does not replace them.
        Conflict: there is no attempt.
    """
    slugs = tuple(sorted(set(competitions)))
    column = {slug: at for at, slug in enumerate(slugs)}
    mine = [attempt for attempt in attempts if attempt.competition in column]
    if len({attempt.experiment for attempt in mine}) > 1:
        raise ValueError("a grid has the attempts of one experiment")
    numbers = tuple(sorted({attempt.seed for attempt in mine} | set(seeds)))
    if not slugs or not numbers:
        raise Conflict("There is no attempt at any of these competitions.")
    row = {seed: at for at, seed in enumerate(numbers)}
    outcomes = np.zeros((len(numbers), len(slugs), len(RATES)))
    there = np.zeros((len(numbers), len(slugs)), dtype=bool)
    at_rows = [row[attempt.seed] for attempt in mine]
    at_columns = [column[attempt.competition] for attempt in mine]
    there[at_rows, at_columns] = True
    if int(there.sum()) != len(mine):
        raise ValueError("an attempt is there twice")
    if mine:
        outcomes[at_rows, at_columns] = [attempt.outcomes for attempt in mine]
    missing = tuple(
        (slug, seed)
        for at, slug in enumerate(slugs)
        for seed in numbers
        if not there[row[seed], at]
    )
    if missing and padding is Padding.NONE:
        raise _missing_error(missing)
    if padding is Padding.COMPLETE:
        complete = np.flatnonzero(there.all(axis=1)).tolist()
        if not complete:
            raise _missing_error(missing)
        numbers = tuple(numbers[at] for at in complete)
        outcomes = outcomes[complete]
    return Grid(slugs, numbers, outcomes, missing)


def _missing_error(missing: tuple[tuple[str, int], ...]) -> AttemptsMissing:
    named = first_few([f"{slug} seed {seed}" for slug, seed in missing], 3)
    return AttemptsMissing(
        f"There is no result of {named}. With padding=fail they count as failures, with "
        "padding=complete seeds that miss any are left out.",
        missing=[{"competition": slug, "seed": seed} for slug, seed in missing],
    )
