"""Attempts, and the grid of seeds x competitions x rates, the input of every statistic."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.domain.result_choices import RATES, Padding
from app.domain.wording import first_few
from app.errors import AttemptsMissing, Conflict, NoResults
from app.statistics.attempt_columns import KINDS, Attempt, Attempts, attempt_of

MOST_MISSING = 100_000  # a list of them takes 45 MB, and 8 MB of an answer
COUNTS = np.array([attempt_of("", "", 0, each).outcomes for each in range(KINDS)], dtype=np.uint8)


@dataclass(frozen=True)
class Grid:
    """One experiment's outcomes: `outcomes[seed, competition, rate]` is 1 or 0.

    `all_seeds` is the number of seeds, including those that are left out. `counted[seed,
    competition]` is false if an attempt is missing and is not replaced; outcomes are 0 there.
    `missing` lists each (competition, seed) without a result, whatever the padding does with it.
    `low` and `high` are the shares by [competition, rate] if all missing attempts had failed, or if
    all had succeeded.
    """

    competitions: tuple[str, ...]
    seeds: tuple[int, ...]
    outcomes: NDArray[np.uint8]
    counted: NDArray[np.bool_]
    missing: tuple[tuple[str, int], ...]
    all_seeds: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def positions(self, competitions: Collection[str]) -> list[int]:
        """The indexes of these competitions, in the grid's order."""
        return [at for at, slug in enumerate(self.competitions) if slug in competitions]

    @property
    def counted_keys(self) -> list[tuple[str, int]]:
        """Each counted (competition, seed), in order."""
        return [
            (self.competitions[at], self.seeds[seed_at])
            for at, seed_at in np.argwhere(self.counted.T).tolist()
        ]

    def results_among(self, keys: Collection[tuple[str, int]]) -> int:
        """The number of these (competition, seed) that count and have a result."""
        if not keys:
            return 0
        return len(set(keys).intersection(self.counted_keys).difference(self.missing))

    @cached_property
    def attempts(self) -> NDArray[np.int64]:
        """The number of counted attempts at each competition, at least 1."""
        attempts: NDArray[np.int64] = self.counted.sum(axis=0)
        return attempts

    @cached_property
    def successes(self) -> NDArray[np.int64]:
        """The number of successes by [competition, rate]."""
        successes: NDArray[np.int64] = self.outcomes.sum(axis=0, dtype=np.int64)
        return successes

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the counted attempts that succeeded, by [competition, rate]."""
        shares: NDArray[np.float64] = self.successes / self.attempts[:, None]
        return shares


def make_grid(
    attempts: Iterable[Attempt] | Attempts,
    competitions: Collection[str],
    *,
    seeds: Collection[int] = (),
    padding: Padding = Padding.NONE,
    excused: Collection[tuple[str, int]] = (),
    failed_at: Collection[str] = (),
) -> Grid:
    """The grid of one experiment's attempts at `competitions`; attempts at others are ignored.

    Its seeds are those of the attempts, and `seeds`, which may have no result yet. Competitions
    and seeds are sorted, so the order of `attempts` does not matter. An `excused` (competition,
    seed) may be missing without padding: it is left out, and the others of its competition count.
    At competitions of `failed_at` all attempts count as failures, whatever they are.

    Raises:
        ValueError: an attempt is there twice, or attempts of several experiments are mixed.
        AttemptsMissing: results are missing, and the padding does not allow it.
        NoResults: there is no attempt.
        Conflict: more than MOST_MISSING results are missing.
    """
    slugs = tuple(sorted(set(competitions)))
    column = {slug: at for at, slug in enumerate(slugs)}
    table = attempts if isinstance(attempts, Attempts) else Attempts.of(attempts)
    at_columns = np.array([column.get(slug, -1) for slug in table.competitions], dtype=np.intp)
    mine = at_columns >= 0
    at_columns = at_columns[mine]
    of_attempts = np.array(table.seeds, dtype=np.int64)[mine]
    numbers = tuple(sorted({*np.unique(of_attempts).tolist(), *seeds}))
    if not slugs or not numbers:
        raise NoResults(
            "No run at these competitions has a result, and no result was imported for them."
        )
    gaps = len(numbers) * len(slugs) - len(of_attempts)
    if gaps > MOST_MISSING:
        places = "competition" if len(slugs) == 1 else "competitions"
        raise Conflict(
            f"{gaps:,} attempts have no result, of {len(numbers):,} seeds at {len(slugs):,} "
            f"{places}, and each would be listed; at most {MOST_MISSING:,} may be missing. Ask "
            "for a suite of the competitions at which the experiment has results."
        )
    at_rows = np.searchsorted(numbers, of_attempts)
    outcomes = np.zeros((len(numbers), len(slugs), len(RATES)), dtype=np.uint8)
    there = np.zeros((len(numbers), len(slugs)), dtype=bool)
    there[at_rows, at_columns] = True
    if int(there.sum()) != len(at_rows):
        raise ValueError("an attempt is there twice")
    outcomes[at_rows, at_columns] = COUNTS[np.array(table.outcomes, dtype=np.intp)[mine]]
    failing = [column[slug] for slug in failed_at]
    outcomes[:, failing] = 0
    missing = tuple((slugs[at], numbers[seed_at]) for at, seed_at in np.argwhere(~there.T).tolist())
    successes, gone = outcomes.sum(axis=0, dtype=np.int64), (~there).sum(axis=0)
    gone[failing] = 0  # missing ones cannot succeed either
    low, high = successes / len(there), (successes + gone[:, None]) / len(there)
    refused = padding is Padding.NONE and not set(missing) <= set(excused)
    as_they_are = padding in (Padding.AVAILABLE, Padding.NONE) and not refused
    counted = there if as_they_are else np.ones_like(there)
    if padding is Padding.COMPLETE:
        complete = np.flatnonzero(there.all(axis=1)).tolist()
        numbers = tuple(numbers[at] for at in complete)
        outcomes, counted = outcomes[complete], counted[complete]
    if refused or not numbers or not counted.any(axis=0).all():
        raise _missing_error(missing, padding)
    return Grid(slugs, numbers, outcomes, counted, missing, len(there), low, high)


def _missing_error(missing: tuple[tuple[str, int], ...], padding: Padding) -> AttemptsMissing:
    named = first_few([f"{slug} seed {seed}" for slug, seed in missing], 3)
    advice = {
        Padding.NONE: "With padding=fail they count as failures, with padding=complete seeds that "
        "miss any are left out, with padding=available each competition counts with the results "
        "that it has.",
        Padding.COMPLETE: "No seed has a result at every competition, so padding=complete leaves "
        "none. With padding=available each competition counts with the results that it has, with "
        "padding=fail missing results count as failures.",
        Padding.AVAILABLE: "padding=available needs a result at every competition. With "
        "padding=fail missing results count as failures.",
    }.get(padding, "")
    return AttemptsMissing(
        f"There is no result of {named}. {advice}",
        missing=[{"competition": slug, "seed": seed} for slug, seed in missing],
    )
