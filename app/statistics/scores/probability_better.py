"""The probability that an attempt of one experiment scores higher than one of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.statistics.intervals import over_competitions, over_runs_of
from app.statistics.scores.score_estimates import Array, ScoreEstimate, percent
from app.units import PERCENT


def probability_better(a: Sequence[Array], b: Sequence[Array]) -> ScoreEstimate:
    """The probability, in percent, that an attempt of `a` scores higher than one of `b`.

    The mean over competitions of U / (n m), with Mann and Whitney's U: the share of pairs in which
    a's attempt is higher, and half of those in which both are equal.

    Raises:
        ValueError: the two are not over the same number of competitions.
    """
    if len(a) != len(b):
        raise ValueError("a comparison of scores needs the same competitions on both sides")
    won = [
        (ours[:, None] > theirs) + 0.5 * (ours[:, None] == theirs)
        for ours, theirs in zip(a, b, strict=True)
    ]
    shares = np.array([[one.mean()] for one in won])
    runs = None
    if min(len(one) for one in [*a, *b]) > 1:
        # The placements of a's attempts among b's, and of b's among a's.
        variances = [
            one.mean(axis=1).var(ddof=1) / one.shape[0]
            + one.mean(axis=0).var(ddof=1) / one.shape[1]
            for one in won
        ]
        # As if each competition had so many attempts: one of either side may differ.
        attempts = [[(one.shape[0] ** -2.0 + one.shape[1] ** -2.0) ** -0.5] for one in won]
        runs = over_runs_of(shares, np.array(variances)[:, None], np.array(attempts))
    like = over_competitions(shares)
    return ScoreEstimate(
        PERCENT * float(shares.mean()),
        None if runs is None else percent(runs.interval),
        None if like is None else percent(like.interval),
    )
