"""Estimate the noise of a score by drawing its test rows again, with replacement.

Source: B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13: the
standard error is the standard deviation of the resamples' scores, the interval their percentiles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from app.domain.leaderboard import Leaderboard
from app.domain.medals import Medal
from app.metrics.arrays import FloatArray
from app.resampling.draws import draws
from app.resampling.metrics import REFUSED, plan_of
from app.resampling.plan import Plan
from app.resampling.uncertainty import LEVEL, SEED, MedalChances, Uncertainty

RESAMPLES = 1000
LEAST_ROWS, LEAST_RESAMPLES = 10, 100
MOST_UNDEFINED = 0.05  # of the resamples; beyond it the rest would say little about the score


def estimate(
    name: str,
    parameters: dict[str, Any],
    y_true: Any,
    y_pred: Any,
    board: Leaderboard | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    is_over: Callable[[], bool] = lambda: False,
) -> Uncertainty:
    """The noise of a built-in metric's score.

    It stops when `is_over` returns true; the result has the number of resamples until then.

    Raises:
        ValueError: the metric is not defined for these answers.
    """
    rows = len(y_true)
    reason = REFUSED.get(name)
    if reason is None and rows < LEAST_ROWS:
        reason = f"there are {rows} test rows, and fewer than {LEAST_ROWS} do not show their spread"
    if reason is not None:
        return Uncertainty(seed, rows, reason=reason)
    scores = resampled(plan_of(name, parameters, y_true, y_pred), resamples, seed, is_over)
    return summary(scores, board, rows=rows, seed=seed)


def resampled(
    plan: Plan, resamples: int, seed: int, is_over: Callable[[], bool] = lambda: False
) -> FloatArray:
    """The scores of the resamples; NaN where the metric is undefined."""
    done = []
    for weights in draws(plan, np.random.default_rng(seed), resamples):
        done.append(plan.score(weights))
        if is_over():
            break
    return np.concatenate(done)


def summary(scores: FloatArray, board: Leaderboard | None, *, rows: int, seed: int) -> Uncertainty:
    """Standard error, interval and chances of medals, from the scores of resamples."""
    is_defined = np.isfinite(scores)
    undefined = int(np.count_nonzero(~is_defined))
    found = scores[is_defined]
    counted = Uncertainty(seed, rows, len(found), undefined)
    if len(scores) < LEAST_RESAMPLES:
        reason = (
            f"only {len(scores)} resamples were done in the time allowed, and at least "
            f"{LEAST_RESAMPLES} are needed"
        )
        return replace(counted, reason=reason)
    if undefined > MOST_UNDEFINED * len(scores):
        reason = (
            f"the metric is undefined in {undefined} of {len(scores)} resamples: too few test rows "
            "decide whether it is defined"
        )
        return replace(counted, reason=reason)
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.std(found, ddof=1))
        low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    if not np.isfinite([error, low, high]).all():
        return replace(counted, reason="the scores of the resamples are too large to compare")
    return replace(
        counted,
        standard_error=error,
        low=low,
        high=high,
        medals=None if board is None else _chances(found, board),
    )


def _chances(scores: FloatArray, board: Leaderboard) -> MedalChances:
    won = Counter(board.medal(score) for score in scores.tolist())
    return MedalChances(*(won[medal] / len(scores) for medal in (*Medal, None)))
