"""Medals over run time, tokens or dollars, under several rules for the final submission.

Intervals hold for each single moment, not for the entire curve.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from app.domain.medals import Medal
from app.statistics.estimates import Interval, mean_in_percent
from app.statistics.intervals import in_percent, over_competitions, over_runs

ORDER = {None: 0, Medal.BRONZE: 1, Medal.SILVER: 2, Medal.GOLD: 3}


class Choice(StrEnum):
    """The rule that selects one of the submissions so far."""

    LAST = "last"  # the latest valid one
    SELECTED = "selected"  # the one the run chose; before that was sent, the latest valid one
    BEST_PUBLIC = "best-public"  # the best public score; the earlier one of equals
    ORACLE = "oracle"  # the best medal, then the best score, which no agent can know


@dataclass(frozen=True, slots=True)
class TimedSubmission:
    """A valid submission of a run, `at` hours, tokens or dollars after its start.

    `percentile` is None if its place among the human teams is not known.
    """

    at: float
    score: float
    public_score: float | None
    medal: Medal | None
    selected: bool = False
    percentile: float | None = None


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run's valid submissions, in their order.

    `invalid_from` is the time when the run sent the file that it selected, if that is not valid:
    from then on its choice counts as no valid submission.
    """

    competition: str
    seed: int
    higher_is_better: bool
    sent: tuple[TimedSubmission, ...]
    invalid_from: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """The share of runs, in percent, with a medal at the time or usage `at`.

    `*_runs95` is for these competitions, run again (None where one has a single run),
    `*_competitions95` for competitions like these (None for one competition).
    """

    at: float
    any_medal: float
    gold: float
    any_medal_runs95: Interval | None
    any_medal_competitions95: Interval | None
    gold_runs95: Interval | None
    gold_competitions95: Interval | None


def chosen(history: RunHistory, choice: Choice, at: float = float("inf")) -> TimedSubmission | None:
    """The submission that would count at that moment; None before the first valid one."""
    so_far = [each for each in history.sent if each.at <= at]
    if not so_far:
        return None
    invalid_from = history.invalid_from
    if choice is Choice.SELECTED and invalid_from is not None and at >= invalid_from:
        return None
    return _RULES[choice](so_far, 1.0 if history.higher_is_better else -1.0)


def medals_over(
    histories: Sequence[RunHistory], moments: Sequence[float], choice: Choice
) -> list[Point]:
    """The medal rate at each moment: the mean over competitions of the shares of their runs.

    A run without a submission has no medal. `moments` ascend.
    """
    rows = {slug: n for n, slug in enumerate(dict.fromkeys(each.competition for each in histories))}
    attempts = np.bincount([rows[each.competition] for each in histories])
    # By competition, by moment: how many more runs have a medal, and gold, than one moment before.
    gained = [[[0, 0] for _ in moments] for _ in rows]
    for history in histories:
        found, before = gained[rows[history.competition]], None
        for n in _first_after(moments, history):
            medal = _medal(chosen(history, choice, moments[n]))
            if medal is not before:
                found[n][0] += (medal is not None) - (before is not None)
                found[n][1] += (medal is Medal.GOLD) - (before is Medal.GOLD)
                before = medal
    successes = np.array(gained, dtype=float).cumsum(axis=1).reshape(len(rows), -1)
    shares = successes / attempts[:, None]
    means = [mean_in_percent(column, len(rows)) for column in shares.T.tolist()]
    runs, competitions = over_runs(shares, attempts), over_competitions(shares)
    return [
        Point(
            at, means[2 * n], means[2 * n + 1],
            in_percent(runs, 2 * n), in_percent(competitions, 2 * n),
            in_percent(runs, 2 * n + 1), in_percent(competitions, 2 * n + 1),
        )
        for n, at in enumerate(moments)
    ]  # fmt: skip


def _first_after(moments: Sequence[float], history: RunHistory) -> list[int]:
    """The first moment after each change of the counted submission; only there a choice is made."""
    changes = [each.at for each in history.sent]
    if history.invalid_from is not None:
        changes.append(history.invalid_from)
    return sorted({bisect_left(moments, at) for at in changes} - {len(moments)})


def _medal(sent: TimedSubmission | None) -> Medal | None:
    return None if sent is None else sent.medal


def _last(sent: list[TimedSubmission], sign: float) -> TimedSubmission:
    return sent[-1]


def _selected(sent: list[TimedSubmission], sign: float) -> TimedSubmission:
    return next((each for each in sent if each.selected), sent[-1])


def _best_public(sent: list[TimedSubmission], sign: float) -> TimedSubmission:
    known = [each for each in sent if each.public_score is not None]
    if not known:
        return sent[-1]
    return max(known, key=lambda each: sign * (each.public_score or 0.0))


def _oracle(sent: list[TimedSubmission], sign: float) -> TimedSubmission:
    return max(sent, key=lambda each: (ORDER[each.medal], sign * each.score))


_RULES: Mapping[Choice, Callable[[list[TimedSubmission], float], TimedSubmission]] = {
    Choice.LAST: _last,
    Choice.SELECTED: _selected,
    Choice.BEST_PUBLIC: _best_public,
    Choice.ORACLE: _oracle,
}
