"""Medals over run time, tokens or dollars, and the regret of the final submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from app.domain.medals import Medal

ORDER = {None: 0, Medal.BRONZE: 1, Medal.SILVER: 2, Medal.GOLD: 3}


class Choice(StrEnum):
    """The rule that selects one of the submissions so far."""

    LAST = "last"  # the latest valid one
    SELECTED = "selected"  # the one the run chose; before that was sent, the latest valid one
    BEST_PUBLIC = "best-public"  # the best public score; the earlier one of equals
    ORACLE = "oracle"  # the best medal, then the best score, which no agent can know


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
    """A run's valid submissions, in their order."""

    competition: str
    seed: int
    higher_is_better: bool
    sent: tuple[TimedSubmission, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """The share of runs, in percent, with a medal at the time or usage `at`."""

    at: float
    any_medal: float
    gold: float


@dataclass(frozen=True, slots=True)
class Regret:
    """The medal rate of the oracle minus that of the choice, in percentage points."""

    choice: float
    oracle: float
    regret: float
    runs_that_lost_a_medal: int


def chosen(history: RunHistory, choice: Choice, at: float = float("inf")) -> TimedSubmission | None:
    """The submission that would count at that moment; None before the first valid one."""
    so_far = [each for each in history.sent if each.at <= at]
    if not so_far:
        return None
    return _RULES[choice](so_far, 1.0 if history.higher_is_better else -1.0)


def medals_over(
    histories: Sequence[RunHistory], moments: Sequence[float], choice: Choice
) -> list[Point]:
    """The medal rate at each moment: the mean over competitions of the shares of their runs.

    A run without a submission has no medal.
    """
    weights = _weights(histories)
    points = []
    for at in moments:
        medals = [_medal(chosen(history, choice, at)) for history in histories]
        points.append(
            Point(
                at,
                _percent(weights, [medal is not None for medal in medals]),
                _percent(weights, [medal is Medal.GOLD for medal in medals]),
            )
        )
    return points


def selection_regret(histories: Sequence[RunHistory], choice: Choice = Choice.SELECTED) -> Regret:
    """The regret of a choice, against the choice of each run's best submission."""
    weights = _weights(histories)
    pairs = [
        (_medal(chosen(history, choice)), _medal(chosen(history, Choice.ORACLE)))
        for history in histories
    ]
    ours = _percent(weights, [mine is not None for mine, _ in pairs])
    best = _percent(weights, [top is not None for _, top in pairs])
    lost = sum(mine is None and top is not None for mine, top in pairs)
    return Regret(ours, best, best - ours, lost)


def _weights(histories: Sequence[RunHistory]) -> list[Fraction]:
    """Each run's weight: all competitions weigh the same, whatever the number of their runs."""
    runs = Counter(history.competition for history in histories)
    return [Fraction(1, runs[history.competition] * len(runs)) for history in histories]


def _percent(weights: Sequence[Fraction], won: Sequence[bool]) -> float:
    counted = (weight for weight, each in zip(weights, won, strict=True) if each)
    return float(100 * sum(counted, Fraction(0)))


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
