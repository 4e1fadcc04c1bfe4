"""Percentiles of a score among human teams, and normalised scores, as several papers define them.

All percentiles are computed from three counts that are stored with every grade: of N teams, how
many are strictly `better`, `equal` and `worse`. Places count from 1; the place is 1 + better, so
ties are in the agent's favour, except where a convention says otherwise.
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

DEFAULT_CONVENTION = "mid-rank"


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


def percentile_if_known(
    convention: str | None, better: int | None, equal: int | None, worse: int | None
) -> float | None:
    """The same; None without a convention, or where the counts of teams are not known."""
    if convention is None or better is None or equal is None or worse is None:
        return None
    return percentile(convention, better, equal, worse)


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale that all competitions share: its source, its ends, and the score to aim for."""

    source: str
    formula: str
    low: float
    high: float
    target: float


FURTHEST, WHOLE_GAP_TWICE = 1.2, 2.0
PERCENTILE, SAMPLE_TO_GOLD, GAP_CLOSED = (
    "percentile", "between-sample-and-gold", "performance-gap-closed",
)  # fmt: skip
SCALES: Mapping[str, Scale] = {
    PERCENTILE: Scale(
        "the percentile among the human teams",
        "by the convention that is named; 0 without a valid submission",
        0.0, 100.0, 100.0,
    ),
    SAMPLE_TO_GOLD: Scale(
        "upgini's fork of MLE-bench",
        "0 for the sample submission and without a valid one, 1 at the gold line, cut off at -1.2 "
        "and 1.2",
        -FURTHEST, FURTHEST, 1.0,
    ),
    GAP_CLOSED: Scale(
        "DSBench's relative performance gap",
        "0 for the competition's baseline, what is worse, and without a valid submission; 1 for "
        "the best human team; cut off at 2, where DSBench has no end",
        0.0, WHOLE_GAP_TWICE, 1.0,
    ),
}  # fmt: skip


def between_sample_and_gold(score: float, sample: float, gold: float) -> float | None:
    """0 for the sample submission, 1 at the gold line, cut off at -1.2 and 1.2.

    The convention of upgini's fork of MLE-bench, with a sign by which better scores are larger.
    None where sample and gold are equal.
    """
    if sample == gold:
        return None
    return max(-FURTHEST, min(FURTHEST, (score - sample) / (gold - sample)))


def performance_gap_closed(score: float, baseline: float, best_human: float) -> float | None:
    """The share of the way from a baseline to the best human team, from 0 to 2.

    DSBench's RPG, cut off at 2 so that one competition with a narrow gap does not decide a mean.
    None where baseline and best human are equal.
    """
    if baseline == best_human:
        return None
    return max(0.0, min(WHOLE_GAP_TWICE, (score - baseline) / (best_human - baseline)))
