"""Item analysis: how difficult each competition is, and how well it separates experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, isnan, sqrt, tanh

import numpy as np
from scipy.special import ndtri

from app.domain.result_choices import RATES
from app.statistics.attempts import Grid
from app.statistics.estimates import Interval
from app.statistics.rasch import Slopes, fit_rasch, slopes

LEVEL = 0.05  # the expected share of errors among those called inverted, at most


@dataclass(frozen=True, slots=True)
class Item:
    """One competition as an item of a test.

    `missing` attempts, of all experiments, have no result here. They are among the `attempts`, as
    failures, if the grids are padded so, and otherwise not.

    `difficulty` is the ability, in logits above the mean of the experiments, that wins half of the
    attempts here. `slope` is the change of an attempt's logit with the ability that all other
    competitions give; both are penalised estimates (`app/statistics/rasch.py`). `slope`,
    `slope_error` and `slope95` are None for fewer than four experiments, and where all attempts or
    none succeeded.

    `discrimination` is the correlation, over experiments, of the rate here with the rate at all
    other competitions: None where either rate does not vary. `discrimination95` is Fisher's
    interval; None for fewer than four experiments and for a correlation of 1 or -1.

    `verdict` is "nobody", "everybody", "inverted" or None. "inverted" means that better agents do
    worse here, which often shows an error of the grader; it is said only where `slope95` is below
    0 and its one-sided p is small after Benjamini and Hochberg's correction over all competitions.
    """

    competition: str
    attempts: int
    missing: int
    rate: float
    flips: float
    difficulty: float
    difficulty_error: float
    slope: float | None
    slope_error: float | None
    slope95: Interval | None
    discrimination: float | None
    discrimination95: Interval | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Ability:
    """An experiment's ability in logits, from the mean of all, and its standard error."""

    experiment: str
    ability: float
    error: float


@dataclass(frozen=True, slots=True)
class ItemTable:
    """The competitions, the experiments' abilities, and by how much runs vary beyond the model."""

    items: list[Item]
    abilities: list[Ability]
    dispersion: float


def item_table(
    grids: Sequence[Grid], rate: str = "any_medal", names: Sequence[str] | None = None
) -> ItemTable:
    """The table over experiments' grids of the same competitions; `names` are the experiments'.

    `flips` is the share of experiments, in percent, whose seeds differ here.

    Raises:
        ValueError: the grids are not over the same competitions.
    """
    if not grids:
        return ItemTable([], [], 1.0)
    slugs = grids[0].competitions
    if any(grid.competitions != slugs for grid in grids):
        raise ValueError("an item table needs the same competitions everywhere")
    at = RATES.index(rate)
    tried = np.array([grid.attempts for grid in grids], dtype=float)
    won = np.array([grid.successes[:, at] for grid in grids], dtype=float)
    shares = won / tried
    correlations = _correlations(shares)
    fit = fit_rasch(won, tried)
    lines = slopes(won, tried, fit)
    inverted = _inverted(lines)
    missing = Counter(here for grid in grids for here, _ in grid.missing)
    items = []
    for column, slug in enumerate(slugs):
        here = shares[:, column]
        successes, attempts = int(won[:, column].sum()), int(tried[:, column].sum())
        verdict = "inverted" if column in inverted else None
        verdict = "nobody" if successes == 0 else "everybody" if successes == attempts else verdict
        known = not isnan(lines.values[column])
        items.append(
            Item(
                competition=slug,
                attempts=attempts,
                missing=missing[slug],
                rate=100.0 * successes / attempts,
                flips=100.0 * float(((here > 0) & (here < 1)).mean()),
                difficulty=float(fit.difficulties[column]),
                difficulty_error=float(fit.difficulty_errors[column]),
                slope=float(lines.values[column]) if known else None,
                slope_error=float(lines.errors[column]) if known else None,
                slope95=(float(lines.low[column]), float(lines.high[column])) if known else None,
                discrimination=correlations[column],
                discrimination95=_fisher_interval(correlations[column], len(grids)),
                verdict=verdict,
            )
        )
    labels = [str(n) for n in range(len(grids))] if names is None else names
    found = zip(labels, fit.abilities.tolist(), fit.ability_errors.tolist(), strict=True)
    return ItemTable(items, [Ability(*one) for one in found], fit.dispersion)


def _correlations(shares: np.ndarray) -> list[float | None]:
    """The correlation of each column with the mean of the others."""
    columns = shares.shape[1]
    if columns < 2:
        return [None] * columns
    total = shares.sum(axis=1)
    return [
        _correlation(shares[:, at], (total - shares[:, at]) / (columns - 1))
        for at in range(columns)
    ]


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    if x.size < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))


def _fisher_interval(correlation: float | None, count: int) -> Interval | None:
    if correlation is None or count < 4 or abs(correlation) > 1 - 1e-9:
        return None
    reach = float(ndtri(0.975)) / sqrt(count - 3)
    return tanh(atanh(correlation) - reach), tanh(atanh(correlation) + reach)


def _inverted(lines: Slopes) -> set[int]:
    """The positions of the slopes that are below 0 beyond chance."""
    tested = sorted(
        (p, at, lines.high[at] < 0) for at, p in enumerate(lines.below_zero) if not isnan(p)
    )
    last = max(
        (n for n, (p, _, _) in enumerate(tested, start=1) if p <= LEVEL * n / len(tested)),
        default=0,
    )
    return {at for _, at, below in tested[:last] if below}
