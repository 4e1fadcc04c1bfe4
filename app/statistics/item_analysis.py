"""Item analysis: how well each competition discriminates between experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.statistics.attempts import RATES, Grid


@dataclass(frozen=True, slots=True)
class Item:
    """One competition as an item of a test.

    `discrimination` is the correlation, over experiments, of the rate here with the rate at all
    other competitions: negative means that better agents do worse here, which often shows an
    error of the grader. None where either rate does not vary. `verdict` is "nobody", "everybody",
    "inverted" or None.
    """

    competition: str
    attempts: int
    rate: float
    flips: float
    discrimination: float | None
    verdict: str | None


def item_table(grids: Sequence[Grid], rate: str = "any_medal") -> list[Item]:
    """The table over experiments' grids of the same competitions.

    `flips` is the share of experiments, in percent, whose seeds differ here.

    Raises:
        ValueError: the grids are not over the same competitions.
    """
    if not grids:
        return []
    slugs = grids[0].competitions
    if any(grid.competitions != slugs for grid in grids):
        raise ValueError("an item table needs the same competitions everywhere")
    at = RATES.index(rate)
    shares = np.array([grid.outcomes[:, :, at].mean(axis=0) for grid in grids])
    attempts = sum(len(grid.seeds) for grid in grids)
    successes = sum(grid.outcomes[:, :, at].sum(axis=0) for grid in grids)
    items = []
    for column, slug in enumerate(slugs):
        here = shares[:, column]
        rest = np.delete(shares, column, axis=1)
        discrimination = _correlation(here, rest.mean(axis=1)) if rest.size else None
        won = int(successes[column])
        items.append(
            Item(
                competition=slug,
                attempts=attempts,
                rate=100.0 * won / attempts,
                flips=100.0 * float(((here > 0) & (here < 1)).mean()),
                discrimination=discrimination,
                verdict=_verdict(won, attempts, discrimination),
            )
        )
    return items


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    if x.size < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _verdict(won: int, attempts: int, discrimination: float | None) -> str | None:
    if won == 0:
        return "nobody"
    if won == attempts:
        return "everybody"
    return "inverted" if discrimination is not None and discrimination < 0 else None
