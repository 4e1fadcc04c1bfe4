"""Percentiles of a score among human teams, by the conventions of several papers.

All are computed from three counts that are stored with every grade: of N teams, how many are
strictly `better`, `equal` and `worse`. Places count from 1; the place is 1 + better, so ties are
in the agent's favour, except where a convention says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Convention:
    """A named percentile: its source and its formula."""

    source: str
    formula: str
    compute: Callable[[int, int, int], float]


PERCENTILES: Mapping[str, Convention] = {
    "not-better": Convention(
        "Agent K v1, equation 1; Podium's `percentile`",
        "100 (N - better) / N: 100 at the top, 0 when worse than all",
        lambda better, equal, worse: 100.0 * (equal + worse) / (better + equal + worse),
    ),
    "mle-dojo-paper": Convention(
        "MLE-Dojo's paper, HumanRank",
        "100 (1 - p / N) with p the place among N: 100 (1 - 1/N) at the top, 0 for the last team",
        lambda better, equal, worse: 100.0 * max(0, equal + worse - 1) / (better + equal + worse),
    ),
    "mle-dojo-code": Convention(
        "MLE-Dojo's interface.py",
        "100 (N - p + 1) / N with p the place of the first team that the score reaches, N + 1 if "
        "none: equal to not-better",
        lambda better, equal, worse: (
            100.0 * (better + equal + worse - (better + 1) + 1) / (better + equal + worse)
        ),
    ),
    "strictly-beaten": Convention(
        "SciPy's percentileofscore, kind='strict'",
        "100 worse / N: ties against the agent",
        lambda better, equal, worse: 100.0 * worse / (better + equal + worse),
    ),
    "mid-rank": Convention(
        "SciPy's percentileofscore, kind='mean'",
        "100 (worse + equal / 2) / N: ties half each",
        lambda better, equal, worse: 100.0 * (worse + equal / 2) / (better + equal + worse),
    ),
}


def percentile(convention: str, better: int, equal: int, worse: int) -> float:
    """The percentile by a named convention.

    Raises:
        KeyError: no convention has that name.
        ValueError: the counts are not those of a board of at least one team.

    >>> percentile("not-better", 1, 2, 7), percentile("mid-rank", 1, 2, 7)
    (90.0, 80.0)
    """
    if min(better, equal, worse) < 0 or better + equal + worse < 1:
        raise ValueError("better, equal and worse count the teams of a board")
    return PERCENTILES[convention].compute(better, equal, worse)


def between_sample_and_gold(score: float, sample: float, gold: float) -> float | None:
    """0 for the sample submission, 1 at the gold line, cut off at -1.2 and 1.2.

    The convention of upgini's fork of MLE-bench, with a sign by which better scores are larger.
    None where sample and gold are equal.
    """
    if sample == gold:
        return None
    return max(-1.2, min(1.2, (score - sample) / (gold - sample)))


def performance_gap_closed(score: float, baseline: float, best_human: float) -> float | None:
    """The share of the way from a baseline to the best human, at least 0 (DSBench's RPG).

    It can exceed 1. None where baseline and best human are equal.
    """
    if baseline == best_human:
        return None
    return max(0.0, (score - baseline) / (best_human - baseline))
