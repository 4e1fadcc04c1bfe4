"""Medals against run time, tokens or dollars, and what choosing the final submission cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.medals import Medal

ORDER = {None: 0, Medal.BRONZE: 1, Medal.SILVER: 2, Medal.GOLD: 3}


class Choice(StrEnum):
    """Which of the submissions so far counts."""

    LAST = "last"  # the latest valid one
    SELECTED = "selected"  # the one the run chose; before that was sent, the latest valid one
    BEST_PUBLIC = "best-public"  # the best public score; the earlier one of equals
    ORACLE = "oracle"  # the best medal, then the best score: what no agent can know


@dataclass(frozen=True, slots=True)
class TimedSubmission:
    """A valid submission of a run, `at` hours, tokens or dollars after its start."""

    at: float
    score: float
    public_score: float | None
    medal: Medal | None
    selected: bool = False


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run's valid submissions in the order they came."""

    competition: str
    seed: int
    higher_is_better: bool
    sent: tuple[TimedSubmission, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """The share of runs, in percent, that hold a medal `at` so much."""

    at: float
    any_medal: float
    gold: float


@dataclass(frozen=True, slots=True)
class Regret:
    """What choosing cost: the oracle's medal rate less that of the choice, in points."""

    choice: float
    oracle: float
    regret: float
    runs_that_lost_a_medal: int


def chosen(course: RunHistory, choice: Choice, at: float = float("inf")) -> TimedSubmission | None:
    """The submission that would count at that moment; None before the first valid one."""
    so_far = [each for each in course.sent if each.at <= at]
    if not so_far:
        return None
    return _RULES[choice](so_far, 1.0 if course.higher_is_better else -1.0)


def medals_over(
    courses: Sequence[RunHistory], moments: Sequence[float], choice: Choice
) -> list[Point]:
    """The medal rate at each moment, over all courses; one without a submission has no medal."""
    points = []
    for at in moments:
        held = [_medal(chosen(course, choice, at)) for course in courses]
        count = max(1, len(held))
        points.append(
            Point(
                at,
                100.0 * sum(medal is not None for medal in held) / count,
                100.0 * held.count(Medal.GOLD) / count,
            )
        )
    return points


def selection_regret(courses: Sequence[RunHistory], choice: Choice = Choice.SELECTED) -> Regret:
    """How much better the runs would stand, had each sent in its best submission as final."""
    pairs = [
        (_medal(chosen(course, choice)), _medal(chosen(course, Choice.ORACLE)))
        for course in courses
    ]
    count = max(1, len(pairs))
    ours = 100.0 * sum(mine is not None for mine, _ in pairs) / count
    best = 100.0 * sum(top is not None for _, top in pairs) / count
    lost = sum(mine is None and top is not None for mine, top in pairs)
    return Regret(ours, best, best - ours, lost)


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
