"""The human leaderboard: places and medal lines, from a full board or from its lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from statistics import median as middle

from app.domain.medals import Medal, MedalRule, medal_places


@dataclass(frozen=True, slots=True)
class MedalLines:
    """The worst score that wins each medal; None where no place wins it."""

    gold: float | None
    silver: float | None
    bronze: float | None
    median: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of a score among the human teams.

    `better + equal + worse == teams`; these and `percentile` are None where only lines are known.
    `percentile` is 100 times the share of teams that are not strictly better: the best is 100,
    worse than all is 0 (the convention of Agent K's equation 1).

    `score` is unrounded. Everything else compares it rounded to `decimals`, those of the board's
    own scores; None: compared unrounded. `borderline` says whether the unrounded score would give
    another medal, `unrounded_medal`.
    """

    score: float
    medal: Medal | None
    better: int | None
    equal: int | None
    worse: int | None
    teams: int | None
    percentile: float | None
    above_median: bool | None
    decimals: int | None = None
    borderline: bool = False
    unrounded_medal: Medal | None = None


class Leaderboard:
    """A snapshot of the final private leaderboard.

    Made by `Leaderboard.full` from all scores, or by `Leaderboard.from_lines` when only the medal
    lines are known. With `decimals`, a score is rounded to the resolution of the board before it
    is compared: the board's own scores were.

    >>> board = Leaderboard.full([0.9, 0.8, 0.8, 0.5], higher_is_better=True)
    >>> board.standing(0.8).medal, board.standing(0.8).better, board.standing(0.8).equal
    (None, 1, 2)
    """

    def __init__(
        self,
        *,
        higher_is_better: bool,
        rule: MedalRule,
        teams: int | None,
        lines: MedalLines,
        scores: tuple[float, ...] | None,
        decimals: int | None = None,
    ) -> None:
        self.higher_is_better = higher_is_better
        self.rule = rule
        self.teams = teams
        self.lines = lines
        self.scores = scores
        self.decimals = decimals
        sign = -1.0 if higher_is_better else 1.0
        self._ascending = None if scores is None else [sign * score for score in scores]

    @classmethod
    def full(
        cls,
        scores: Iterable[float],
        *,
        higher_is_better: bool,
        rule: MedalRule = MedalRule.MLE_BENCH,
        decimals: int | None = None,
    ) -> Leaderboard:
        """A board from every team's score, in any order.

        Raises:
            ValueError: there is no score, or one is not finite.
        """
        best_first = tuple(sorted((float(s) for s in scores), reverse=higher_is_better))
        if not best_first:
            raise ValueError("a leaderboard has at least one score")
        if not all(s - s == 0.0 for s in best_first):
            raise ValueError("a leaderboard's scores are finite numbers")
        places = medal_places(len(best_first), rule)

        def line(place: int) -> float | None:
            return best_first[place - 1] if place else None

        lines = MedalLines(
            line(places.gold), line(places.silver), line(places.bronze), _median(best_first)
        )
        return cls(
            higher_is_better=higher_is_better,
            rule=rule,
            teams=len(best_first),
            lines=lines,
            scores=best_first,
            decimals=decimals,
        )

    @classmethod
    def from_lines(
        cls,
        lines: MedalLines,
        *,
        teams: int | None,
        higher_is_better: bool,
        rule: MedalRule = MedalRule.MLE_BENCH,
        decimals: int | None = None,
    ) -> Leaderboard:
        """A board from its medal lines, where the scores are not known."""
        return cls(
            higher_is_better=higher_is_better,
            rule=rule,
            teams=teams,
            lines=lines,
            scores=None,
            decimals=decimals,
        )

    @property
    def is_complete(self) -> bool:
        """Whether every team's score is known."""
        return self.scores is not None

    def reaches(self, score: float, line: float | None) -> bool:
        """Whether `score` is at least as good as a line; no score reaches a line that is None."""
        if line is None:
            return False
        return score >= line if self.higher_is_better else score <= line

    def compared(self, score: float) -> float:
        """The score at the board's resolution, as it is compared."""
        return score if self.decimals is None else round(score, self.decimals)

    def medal(self, score: float) -> Medal | None:
        """The best medal that `score` wins. Every tie with the score at the cut place wins it."""
        return self._medal_of(self.compared(score))

    def _medal_of(self, compared: float) -> Medal | None:
        for medal in Medal:
            if self.reaches(compared, getattr(self.lines, medal.value)):
                return medal
        return None

    def _exact_median(self) -> float | None:
        """The median without the error of a mean of two doubles: it has one decimal more."""
        median, decimals = self.lines.median, self.decimals
        return median if median is None or decimals is None else round(median, decimals + 1)

    def standing(self, score: float) -> Standing:
        """The place of `score` among the teams."""
        compared = self.compared(score)
        medal, unrounded = self._medal_of(compared), self._medal_of(score)
        above = None
        if self.lines.median is not None:
            above = self.reaches(compared, self.lines.median) and compared != self._exact_median()
        better = equal = worse = percentile = None
        teams = self.teams
        if self._ascending is not None:
            key = -compared if self.higher_is_better else compared
            teams = len(self._ascending)
            better = bisect_left(self._ascending, key)
            equal = bisect_right(self._ascending, key) - better
            worse = teams - better - equal
            percentile = 100.0 * (teams - better) / teams
        return Standing(
            score=score,
            medal=medal,
            better=better,
            equal=equal,
            worse=worse,
            teams=teams,
            percentile=percentile,
            above_median=above,
            decimals=self.decimals,
            borderline=medal is not unrounded,
            unrounded_medal=unrounded,
        )


def _median(scores: tuple[float, ...]) -> float:
    """The median. The sum of two middle scores may overflow; the sum of their halves does not."""
    found = middle(scores)
    return found if isfinite(found) else 2.0 * middle(score / 2.0 for score in scores)
