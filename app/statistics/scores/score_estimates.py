"""The parts of a summary of scores, and their conversion to a scale other than 0 to 100."""

from __future__ import annotations

from dataclasses import dataclass

from app.statistics.estimates import Interval


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """A summary and its intervals, on the scale of the scores.

    `runs95` is for these competitions, run again: None where a competition has a single attempt,
    for nothing is known of the spread of its runs. `competitions95` is for competitions like these:
    None for one competition, and for the median of fewer than six.
    """

    value: float
    runs95: Interval | None
    competitions95: Interval | None = None


@dataclass(frozen=True, slots=True)
class ProfilePoint:
    """The share of attempts, in percent, with a score above `above`, which is on their scale."""

    above: float
    share: float
    runs95: Interval | None
    competitions95: Interval | None = None


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The summaries of one experiment's scores over `competitions`.

    `mean_bootstrap95` is the mean's bootstrap over competitions; None for one competition.
    """

    competitions: int
    attempts: int
    mean: ScoreEstimate
    mean_bootstrap95: Interval | None
    median: ScoreEstimate
    iqm: ScoreEstimate
    optimality_gap: ScoreEstimate
    profile: list[ProfilePoint]


def on_scale(found: ScoreEstimate, low: float, size: float) -> ScoreEstimate:
    """A summary of percents of a scale, on that scale."""
    return ScoreEstimate(
        low + size * found.value,
        on_scale_ends(found.runs95, low, size),
        on_scale_ends(found.competitions95, low, size),
    )


def on_scale_ends(interval: Interval | None, low: float, size: float) -> Interval | None:
    """The ends of an interval of percents of a scale, on that scale."""
    if interval is None:
        return None
    return low + size * interval[0], low + size * interval[1]
