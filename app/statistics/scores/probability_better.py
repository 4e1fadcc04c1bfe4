"""The probability that an attempt of one experiment scores higher than one of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.statistics.estimates import Array, means_in_percent
from app.statistics.intervals import in_percent, over_competitions, over_runs_of
from app.statistics.scores.score_estimates import ScoreEstimate


def probability_better(a: Sequence[Array], b: Sequence[Array]) -> ScoreEstimate:
    """The probability, in percent, that an attempt of `a` scores higher than one of `b`.

    The mean over competitions of U / (n m), with Mann and Whitney's U: the share of pairs in which
    a's attempt is higher, and half of those in which both are equal.

    Raises:
        ValueError: the two are not over the same number of competitions.
    """
    if len(a) != len(b):
        raise ValueError("a comparison of scores needs the same competitions on both sides")
    won = [_beaten(ours, theirs) for ours, theirs in zip(a, b, strict=True)]
    shares = np.array([[x.sum() / (x.size * y.size)] for x, y in zip(won, b, strict=True)])
    runs = None
    if min(len(one) for one in [*a, *b]) > 1:
        # The placements of a's attempts among b's, and of b's among a's.
        placements = [
            (of_a / y.size, (x.size - _beaten(y, x)) / x.size)
            for of_a, x, y in zip(won, a, b, strict=True)
        ]
        variances = [
            of_a.var(ddof=1) / of_a.size + of_b.var(ddof=1) / of_b.size for of_a, of_b in placements
        ]
        # As if each competition had this number of attempts, of which one on each side may differ.
        attempts = [[(x.size**-2.0 + y.size**-2.0) ** -0.5] for x, y in zip(a, b, strict=True)]
        runs = over_runs_of(shares, np.array(variances)[:, None], np.array(attempts))
    like = over_competitions(shares)
    return ScoreEstimate(
        means_in_percent(shares)[0],
        in_percent(runs),
        in_percent(like),
    )


def _beaten(ours: Array, theirs: Array) -> Array:
    """How many of `theirs` are below each of `ours`, plus half of those that are equal.

    It sorts, because a table of 10,000 attempts by 10,000 would take a gigabyte.
    """
    ascending = np.sort(theirs)
    below, up_to = (np.searchsorted(ascending, ours, side) for side in ("left", "right"))
    found: Array = (below + up_to) / 2
    return found
