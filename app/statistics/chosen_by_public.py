"""pass@k, and the success of the choice by public score among k attempts.

pass@k is the chance that at least one of k attempts succeeds. An agent that makes k attempts has to
choose one, and can see only public scores. Here the best public score is chosen.

Intervals are Wilson's with an effective number of attempts (`app.statistics.intervals`), of the
choice and of the gap. For competitions like these the variance is that of the competitions' values.
For these competitions, run again, it is that of a bootstrap within each competition, which draws n
of its n attempts, times n / (n - 1). As for pass@k, `PRIOR_ATTEMPTS` with the rate of all attempts
are drawn with them, and one unseen success changes an estimate by k / n.

Simulated coverage of the nominal 95 %, in 132 cells of 6 to 75 competitions with 2 to 8 attempts
and rates of 8 to 90 %, is 96 to 97 % on average for each of the four intervals, and 92 % or more in
at least 126 cells. Over runs it is lowest, 88 %, where k is all of 8 attempts: they say little of
the best of 8. Over competitions it is 90 % or more, and 84 % for one gap of 0.7 points, where the
interval begins too high if one of few competitions has a gap.
`tests/statistics/test_chosen_by_public.py` has cells of usual sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb

import numpy as np

from app.statistics.estimates import SEED, Array, Interval, cluster_bootstrap, means_in_percent
from app.statistics.intervals import UNSEEN_DISAGREEMENT, of_squared_error, over_competitions
from app.statistics.pass_at_k import PRIOR_ATTEMPTS, by_successes, interval_over_runs, pass_at_k

RESAMPLES = 500  # enough for a standard deviation within 3 %


@dataclass(frozen=True, slots=True)
class ScoredAttempt:
    """An attempt: whether it counts, and its public score; higher is better.

    None is an attempt without a valid submission, which is chosen only if all k have none.
    """

    success: bool
    public: float | None


@dataclass(frozen=True, slots=True)
class ChosenAtK:
    """pass@k and the choice by public score over the same `competitions`, in percent.

    `gap` is the loss by the choice. `chosen_by_public95` and `gap95` are bootstraps over
    competitions, None for one; they have no width if all competitions agree.

    The others never have zero width. `..._runs95` is for these competitions, run again: None if one
    has a single attempt. `..._competitions95` is for competitions like these: None for one. For k =
    1 there is nothing to choose: the choice has the intervals of the rate, and the gap is always 0,
    so it has no intervals.
    """

    k: int
    competitions: int
    pass_at_k: float
    chosen_by_public: float
    chosen_by_public95: Interval | None
    gap: float
    gap95: Interval | None
    chosen_by_public_runs95: Interval | None = None
    chosen_by_public_competitions95: Interval | None = None
    gap_runs95: Interval | None = None
    gap_competitions95: Interval | None = None


def chosen_at_k(attempts: Sequence[ScoredAttempt], k: int) -> float:
    """The chance that the best of k attempts by public score succeeds, for one competition.

    It is the mean over all choices of k of the n attempts. Attempts with equal public scores are
    chosen with the same chance. The attempt at position i (from 0, best first) is the best one in
    C(n - 1 - i, k - 1) of the C(n, k) choices.

    >>> a, b, c = ScoredAttempt(False, 0.9), ScoredAttempt(True, 0.8), ScoredAttempt(True, 0.7)
    >>> chosen_at_k([a, b, c], 2)
    0.3333333333333333
    """
    order = sorted(attempts, key=_key)
    # Whole numbers, because with 1,100 attempts they exceed all floats.
    count, total, start = len(order), Fraction(0), 0
    ways = [comb(count - 1, k - 1)]  # by place
    for place in range(count - 1):
        ways.append(ways[-1] * (count - k - place) // (count - 1 - place))
    while start < count:
        end = start
        while end < count and _key(order[end]) == _key(order[start]):
            end += 1
        won = sum(one.success for one in order[start:end])
        total += Fraction(sum(ways[start:end]) * won, end - start)
        start = end
    return float(total / comb(count, k))


def chosen_by_public(
    competitions: Sequence[Sequence[ScoredAttempt]], ks: Sequence[int]
) -> list[ChosenAtK]:
    """Both chances over competitions, for each k; nothing if there is no competition.

    Raises:
        Invalid: a k is more than the attempts at a competition.
    """
    if not competitions:
        return []
    best = [
        [pass_at_k(len(one), sum(a.success for a in one), k) for k in ks] for one in competitions
    ]
    chosen = [[chosen_at_k(one, k) for k in ks] for one in competitions]
    shares = np.array([best, chosen])
    both, lost = 100.0 * shares, np.maximum(shares[0] - shares[1], 0.0)
    gaps = 100.0 * lost
    of_best, of_choice, of_gap = (means_in_percent(each) for each in (*shares, lost))
    ends, gap_ends = cluster_bootstrap(both[1]), cluster_bootstrap(gaps)
    like, gap_like = _over_competitions(both[1]), _over_competitions(gaps)
    again, gap_again = _over_runs(competitions, ks, both[1], gaps)
    return [
        ChosenAtK(
            k, len(competitions), of_best[at], of_choice[at], ends[at], of_gap[at], gap_ends[at],
            again[at], like[at],
            None if k == 1 else gap_again[at], None if k == 1 else gap_like[at],
        )
        for at, k in enumerate(ks)
    ]  # fmt: skip


def _over_competitions(percents: Array) -> list[Interval | None]:
    """The interval of each column's mean for competitions like these."""
    found = over_competitions(percents / 100.0)
    if found is None:
        return [None] * percents.shape[1]
    return [(low, high) for low, high in (100.0 * found.interval).T.tolist()]


def _over_runs(
    competitions: Sequence[Sequence[ScoredAttempt]], ks: Sequence[int], chosen: Array, gaps: Array
) -> tuple[list[Interval | None], list[Interval | None]]:
    """The intervals of the choice and of the gap if these competitions were run again."""
    attempts = np.array([len(one) for one in competitions])
    if attempts.min() < 2:
        return [None] * len(ks), [None] * len(ks)
    successes = [sum(a.success for a in one) for one in competitions]
    rate = sum(successes) / int(attempts.sum())
    draw = np.random.default_rng(SEED)
    variances = np.sum([_variances(one, ks, rate, draw) for one in competitions], axis=0)
    of_one = np.array(ks) / attempts[:, None]
    count = len(competitions)
    errors = (variances + UNSEEN_DISAGREEMENT * np.mean(of_one**2, axis=0)) / count**2
    most = count**2 / of_one.sum(axis=0)
    found: list[list[Interval | None]] = []
    for values, error in zip((chosen, gaps), errors, strict=True):
        low, high = 100.0 * of_squared_error(values.mean(axis=0) / 100.0, error, most)
        found.append(list(zip(low.tolist(), high.tolist(), strict=True)))
    for at, k in enumerate(ks):
        if k == 1:
            found[0][at] = interval_over_runs(attempts, successes, 1)
    return found[0], found[1]


def _variances(
    attempts: Sequence[ScoredAttempt], ks: Sequence[int], rate: float, draw: np.random.Generator
) -> Array:
    """The variances of the choice and of the gap at one competition, by row, for each k."""
    order = sorted(attempts, key=_key)
    count = len(order)
    keys = [_key(one) for one in order]
    groups = np.cumsum([0] + [before != after for before, after in pairwise(keys)])
    places = np.sort(draw.integers(0, count, (RESAMPLES, count)), axis=1)
    won = np.array([one.success for one in order])[places]
    other = draw.random(won.shape) < PRIOR_ATTEMPTS / (count + PRIOR_ATTEMPTS)
    won = np.where(other, draw.random(won.shape) < rate, won)
    # Attempts with equal public scores are chosen with the same chance.
    tied = (groups[places] + count * np.arange(RESAMPLES)[:, None]).ravel()
    shares = np.bincount(tied, weights=won.ravel()) / np.maximum(np.bincount(tied), 1)
    equal = shares[tied].reshape(won.shape)
    tables = [_chances(count, k) for k in ks]
    chosen = np.stack([equal @ first for first, _ in tables])
    best = np.stack([passed[won.sum(axis=1)] for _, passed in tables])
    found: Array = np.stack([chosen, np.maximum(best - chosen, 0.0)]).var(axis=2)
    return found * count / (count - 1)


@lru_cache(maxsize=1024)
def _chances(count: int, k: int) -> tuple[Array, Array]:
    """The chance that each position is the best of k of `count`, and pass@k by successes."""
    # Each is computed from the one before, since binomials of thousands take seconds for each k.
    left = np.arange(count, 1.0, -1.0)
    ratios = np.maximum(left - k, 0.0) / (left - 1.0)
    return k / count * np.cumprod(np.concatenate([[1.0], ratios])), by_successes(count, k)


def _key(one: ScoredAttempt) -> tuple[bool, float]:
    return (True, 0.0) if one.public is None else (False, -one.public)
