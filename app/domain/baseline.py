"""Success against a baseline: how much a score improves on starter code, and if that is enough.

The measure is MLAgentBench's (arXiv 2310.03302): the difference from the baseline, relative to the
baseline's size. docs/decisions/0007 answers the questions that the paper leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from sys import float_info
from typing import Annotated

from pydantic import Field, FiniteFloat

from app.domain.base_model import Section, Text

DEFAULT_THRESHOLD = 0.1
LARGEST = float_info.max

Threshold = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Baseline(Section):
    """`[baseline]`: the starter code's score, and the improvement that a success needs.

    `success_threshold` is a share of the baseline: 0.1 asks for more than 10 %.
    """

    score: FiniteFloat
    source: Text
    success_threshold: Threshold = DEFAULT_THRESHOLD


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score compared with a baseline; `improvement` is None where the baseline is 0."""

    improvement: float | None
    success: bool


def improvement(score: float, baseline_score: float, *, higher_is_better: bool) -> float | None:
    """The improvement of `score` on the baseline, as a share of the baseline's size.

    (score - baseline) / |baseline| where higher is better, its negative where lower is: positive
    always means better, also where score and baseline have opposite signs. The computation uses
    the scores' decimal digits, so that 0.55 against 0.5 is exactly 0.1. The largest double stands
    for a result beyond the range of a double.

    None for a baseline of 0: the share is undefined.

    Raises:
        ValueError: a score is NaN or infinite.

    >>> improvement(0.55, 0.5, higher_is_better=True)
    0.1
    >>> improvement(3.0, 2.0, higher_is_better=False)
    -0.5
    >>> improvement(1.0, -2.0, higher_is_better=True)
    1.5
    """
    exact, baseline = _exact(score, "score"), _exact(baseline_score, "baseline")
    if not baseline:
        return None
    difference = exact - baseline if higher_is_better else baseline - exact
    try:
        return float(difference / abs(baseline))
    except OverflowError:
        return LARGEST if difference > 0 else -LARGEST


def succeeds(improvement: float, threshold: float) -> bool:
    """Whether an improvement is a success: strictly more than the threshold.

    >>> succeeds(0.1, 0.1), succeeds(0.11, 0.1)
    (False, True)
    """
    return improvement > threshold


def judge(
    score: float, baseline_score: float, threshold: float, *, higher_is_better: bool
) -> Judgement:
    """Improvement and success of a score.

    Against a baseline of 0 any score that is strictly better is a success. This is the limit for
    baselines that approach 0, with any threshold.

    Raises:
        ValueError: a score is NaN or infinite.

    >>> judge(0.2, 0.0, 0.1, higher_is_better=True)
    Judgement(improvement=None, success=True)
    """
    found = improvement(score, baseline_score, higher_is_better=higher_is_better)
    if found is None:
        return Judgement(None, score > 0.0 if higher_is_better else score < 0.0)
    return Judgement(found, succeeds(found, threshold))


def _exact(number: float, name: str) -> Fraction:
    if not isfinite(number):
        raise ValueError(f"the {name} is {number!r}; an improvement needs finite scores")
    return Fraction(repr(float(number)))
