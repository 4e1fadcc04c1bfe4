"""Item analysis: how well each competition discriminates between experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np
from scipy.special import ndtr, ndtri

from app.statistics.attempts import RATES, Grid
from app.statistics.estimates import Interval

LEVEL = 0.05  # of all competitions together that are not inverted, the share called so


@dataclass(frozen=True, slots=True)
class Item:
    """One competition as an item of a test.

    `discrimination` is the correlation, over experiments, of the rate here with the rate at all
    other competitions: negative means that better agents do worse here, which often shows an
    error of the grader. None where either rate does not vary. `discrimination95` is Fisher's
    interval; None for fewer than four experiments and for a correlation of 1 or -1. `verdict` is
    "nobody", "everybody", "inverted" or None; "inverted" only where the upper end is below 0 and
    the one-sided p is small after Benjamini and Hochberg's correction over all competitions.
    """

    competition: str
    attempts: int
    rate: float
    flips: float
    discrimination: float | None
    discrimination95: Interval | None
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
    shares = np.array([grid.shares[:, at] for grid in grids])
    attempts = np.sum([grid.attempts for grid in grids], axis=0)
    successes = np.sum([grid.successes[:, at] for grid in grids], axis=0)
    correlations = []
    for column in range(len(slugs)):
        rest = np.delete(shares, column, axis=1)
        correlations.append(
            _correlation(shares[:, column], rest.mean(axis=1)) if rest.size else None
        )
    inverted = _inverted(correlations, len(grids))
    items = []
    for column, slug in enumerate(slugs):
        here, won, tried = shares[:, column], int(successes[column]), int(attempts[column])
        verdict = "inverted" if column in inverted else None
        verdict = "nobody" if won == 0 else "everybody" if won == tried else verdict
        items.append(
            Item(
                competition=slug,
                attempts=tried,
                rate=100.0 * won / tried,
                flips=100.0 * float(((here > 0) & (here < 1)).mean()),
                discrimination=correlations[column],
                discrimination95=_fisher_interval(correlations[column], len(grids)),
                verdict=verdict,
            )
        )
    return items


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    if x.size < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))


def _fisher_interval(correlation: float | None, count: int) -> Interval | None:
    if correlation is None or count < 4 or abs(correlation) > 1 - 1e-9:
        return None
    reach = float(ndtri(0.975)) / sqrt(count - 3)
    return tanh(atanh(correlation) - reach), tanh(atanh(correlation) + reach)


def _inverted(correlations: Sequence[float | None], count: int) -> set[int]:
    """The positions of the correlations that are below 0 beyond chance."""
    tested = []
    for at, correlation in enumerate(correlations):
        interval = _fisher_interval(correlation, count)
        if correlation is not None and interval is not None:
            p = float(ndtr(atanh(correlation) * sqrt(count - 3)))
            tested.append((p, at, interval[1] < 0))
    tested.sort()
    last = max(
        (n for n, (p, _, _) in enumerate(tested, start=1) if p <= LEVEL * n / len(tested)),
        default=0,
    )
    return {at for _, at, below in tested[:last] if below}
