"""The best scores in a sequence of scores of a run."""

from __future__ import annotations

from collections.abc import Sequence


def best_so_far(scores: Sequence[float], *, higher_is_better: bool) -> list[float]:
    """For each score, the best one up to it.

    >>> best_so_far([0.5, 0.7, 0.6], higher_is_better=True)
    [0.5, 0.7, 0.7]
    >>> best_so_far([0.5, 0.7, 0.3], higher_is_better=False)
    [0.5, 0.5, 0.3]
    """
    better = max if higher_is_better else min
    found: list[float] = []
    for score in scores:
        found.append(better(found[-1], score) if found else score)
    return found


def best_position(scores: Sequence[float], *, higher_is_better: bool) -> int | None:
    """The index of the best score, the first of equal ones; None where there is none.

    >>> best_position([0.5, 0.7, 0.7], higher_is_better=True)
    1
    """
    if not scores:
        return None
    sign = 1.0 if higher_is_better else -1.0
    return max(range(len(scores)), key=lambda at: (sign * scores[at], -at))
