"""The noise of a score, in a separate module, so that servers need not import its computation."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.95  # of the interval
SEED = 20261122  # of all resamples, so that the same file has the same uncertainty everywhere
OWN_METRIC = (
    "the competition has a metric.py, and only its author knows whether its rows may be drawn again"
)


@dataclass(frozen=True, slots=True)
class MedalChances:
    """The shares of the resamples that win each medal, and none. They add up to 1."""

    gold: float
    silver: float
    bronze: float
    none: float


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How much a score would differ with other test rows like these.

    `standard_error` is the standard deviation of the scores of the resamples (ddof = 1), `low` and
    `high` are their 2.5 and 97.5 percentiles. `rows` is the number of test rows, `undefined` that
    of further resamples in which the metric is undefined. `medals` is None without a leaderboard.
    If rows cannot be resampled, `reason` says why and the other numbers are None.
    """

    seed: int
    rows: int | None
    resamples: int = 0
    undefined: int = 0
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    medals: MedalChances | None = None
    reason: str | None = None
