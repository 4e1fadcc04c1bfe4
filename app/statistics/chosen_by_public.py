"""pass@k beside what a choice by public score really gets from k attempts.

pass@k is the chance that one of k attempts succeeds, whoever finds it. An agent that makes k
attempts has to choose one, and can see public scores only. Here the best public score is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from app.statistics.estimates import Interval, cluster_bootstrap
from app.statistics.pass_at_k import pass_at_k


@dataclass(frozen=True, slots=True)
class Scored:
    """An attempt: whether it counts, and its public score; higher is better.

    None is an attempt without a valid submission, which is chosen only if all k are so.
    """

    success: bool
    public: float | None


@dataclass(frozen=True, slots=True)
class ChosenAtK:
    """pass@k and the choice by public score over the same `competitions`, in percent.

    `gap` is what is lost by choosing. The intervals are bootstraps over competitions, None for one.
    """

    k: int
    competitions: int
    pass_at_k: float
    chosen_by_public: float
    chosen_by_public95: Interval | None
    gap: float
    gap95: Interval | None


def chosen_at_k(attempts: Sequence[Scored], k: int) -> float:
    """The chance that the best of k attempts by public score succeeds, for one competition.

    The mean over all choices of k of the n attempts; of equal public scores each is chosen with
    the same chance. The attempt at place i (from 0, best first) is the best one in
    C(n - 1 - i, k - 1) of the C(n, k) choices.

    >>> chosen_at_k([Scored(False, 0.9), Scored(True, 0.8), Scored(True, 0.7)], 2)
    0.3333333333333333
    """
    order = sorted(attempts, key=_key)
    count, total, start = len(order), 0.0, 0
    while start < count:
        end = start
        while end < count and _key(order[end]) == _key(order[start]):
            end += 1
        ways = sum(comb(count - 1 - place, k - 1) for place in range(start, end))
        total += ways * sum(one.success for one in order[start:end]) / (end - start)
        start = end
    return total / comb(count, k)


def chosen_by_public(
    competitions: Sequence[Sequence[Scored]], ks: Sequence[int]
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
    both = 100.0 * np.array([best, chosen])
    means = both.mean(axis=1)
    gaps = np.maximum(both[0] - both[1], 0.0)
    ends, gap_ends = cluster_bootstrap(both[1]), cluster_bootstrap(gaps)
    return [
        ChosenAtK(
            k, len(competitions), float(means[0, at]), float(means[1, at]), ends[at],
            float(gaps[:, at].mean()), gap_ends[at],
        )
        for at, k in enumerate(ks)
    ]  # fmt: skip


def _key(one: Scored) -> tuple[bool, float]:
    return (True, 0.0) if one.public is None else (False, -one.public)
