"""The loss by the choice of a run's final submission, and the error of public scores.

A run sends several files and has one final submission. Its regret is what the best of its files
would have won in addition: a medal, or places among the human teams. Which file is best, no agent
can know, so regret cannot be avoided altogether; a rule that has less is the better rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.statistics.estimates import Interval, mean_in_percent
from app.statistics.intervals import of_values
from app.statistics.medals_over_time import Choice, RunHistory, TimedSubmission, chosen
from app.units import PERCENT

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A rate or mean percentile of a choice, that of the best files, and their difference.

    `runs95` and `competitions95` are the intervals of `regret`, for these competitions, run again
    (None where one has a single run), and for competitions like these (None for one competition).
    """

    choice: float
    oracle: float
    regret: float
    runs95: Interval | None
    competitions95: Interval | None


@dataclass(frozen=True, slots=True)
class Regret(Difference):
    """The regret of a choice in medals, in percentage points, against each run's best medal."""

    runs_that_lost_a_medal: int


@dataclass(frozen=True, slots=True)
class Share:
    """A mean in percent with its intervals; as in `Difference`."""

    value: float
    runs95: Interval | None
    competitions95: Interval | None


@dataclass(frozen=True, slots=True)
class ShakeUp:
    """How the order of a run's files by public score differs from that by private score.

    `shake_up` is Kaggle's measure within a run: the mean of |public rank - private rank|, as a
    share of the number of files (equal scores have their mean rank). `best_kept` is the share of
    runs whose best file by public score has the best private score. Counted are `runs` with two
    or more files that have both scores, at `competitions`; `left_out` runs have fewer.
    """

    runs: int
    competitions: int
    left_out: int
    shake_up: Share
    best_kept: Share


def selection_regret(histories: Sequence[RunHistory], choice: Choice = Choice.SELECTED) -> Regret:
    """The regret of a choice in medals, against the choice of each run's best submission."""
    slugs = [history.competition for history in histories]
    ours, best = (
        _by_competition(slugs, [_won(chosen(history, rule)) for history in histories])
        for rule in (choice, Choice.ORACLE)
    )
    found = _difference(ours, best)
    lost = sum(int((top - mine).sum()) for mine, top in zip(ours, best, strict=True))
    return Regret(
        found.choice, found.oracle, found.regret, found.runs95, found.competitions95, lost
    )


def percentile_regret(histories: Sequence[RunHistory], choice: Choice) -> Difference:
    """The regret of a choice in percentiles, against the highest percentile of each run.

    A run without a valid submission has percentile 0 and no regret. The percentiles of all
    submissions have to be known.
    """
    slugs = [history.competition for history in histories]
    ours = [_percentile(chosen(history, choice)) for history in histories]
    best = [max(map(_percentile, history.sent), default=0.0) for history in histories]
    return _difference(_by_competition(slugs, ours), _by_competition(slugs, best))


def shake_up(histories: Sequence[RunHistory]) -> ShakeUp | None:
    """How public and private ranks differ within runs; None if no run has two files to compare."""
    compared: list[tuple[str, list[tuple[float, float]]]] = []
    for history in histories:
        sign = -1.0 if history.higher_is_better else 1.0
        both = [
            (sign * one.public_score, sign * one.score)
            for one in history.sent
            if one.public_score is not None
        ]
        if len(both) > 1:
            compared.append((history.competition, both))
    if not compared:
        return None
    moved, kept = np.empty(len(compared)), np.empty(len(compared))
    counts = np.array([len(both) for _, both in compared])
    # Imported here, because it takes half a second and only this needs it.
    from scipy.stats import rankdata

    for count in np.unique(counts):  # all runs with so many files at once
        which = np.flatnonzero(counts == count)
        public, private = np.moveaxis(np.array([compared[n][1] for n in which]), 2, 0)
        ranks = rankdata(public, axis=1) - rankdata(private, axis=1)
        moved[which] = np.abs(ranks).mean(axis=1) / count
        # Of files with equal public scores the earlier one is chosen.
        chosen_ones = private[np.arange(len(which)), np.argmin(public, axis=1)]
        kept[which] = chosen_ones == private.min(axis=1)
    slugs = [slug for slug, _ in compared]
    shares = [_share(_by_competition(slugs, values.tolist())) for values in (moved, kept)]
    return ShakeUp(len(slugs), len(set(slugs)), len(histories) - len(slugs), *shares)


def _share(arrays: Sequence[Array]) -> Share:
    return Share(_mean(arrays), *map(_percent, of_values(arrays)))


def _difference(ours: Sequence[Array], best: Sequence[Array]) -> Difference:
    lost = [top - mine for mine, top in zip(ours, best, strict=True)]
    intervals = map(_percent, of_values(lost))
    return Difference(_mean(ours), _mean(best), _mean(lost), *intervals)


def _mean(values: Sequence[Array]) -> float:
    """The mean over competitions, in percent: that of medals is the rate of other answers."""
    return mean_in_percent([float(one.mean()) for one in values], len(values))


def _percent(interval: Interval | None) -> Interval | None:
    return None if interval is None else (PERCENT * interval[0], PERCENT * interval[1])


def _by_competition(slugs: Sequence[str], values: Sequence[float]) -> list[Array]:
    """The values of runs at these competitions, an array for each competition."""
    found: dict[str, list[float]] = {}
    for slug, value in zip(slugs, values, strict=True):
        found.setdefault(slug, []).append(value)
    return [np.array(each) for each in found.values()]


def _won(sent: TimedSubmission | None) -> float:
    return float(sent is not None and sent.medal is not None)


def _percentile(sent: TimedSubmission | None) -> float:
    return 0.0 if sent is None or sent.percentile is None else sent.percentile / PERCENT
