"""Signals of a score, compared with the metric's bound, the board, the public score and the clock.

The scale is the board's own: the distances between its best team and its medal lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.leaderboard import Leaderboard
from app.review.signals import Finding, Level, Signal

TOLERANCE = 1e-9  # a score this near to its bound counts as perfect; logs are cut off at 1e-15
FAST_SECONDS = 600.0
FAR, VERY_FAR = 1.0, 3.0  # distances on the board


@dataclass(frozen=True, slots=True)
class ScoredSubmission:
    """The facts about a graded submission. `bound` is the best possible score, if it is known.

    `run_seconds` is the time from the start of the run to the submission.
    """

    score: float
    public_score: float | None
    run_seconds: float
    higher_is_better: bool
    bound: float | None
    board: Leaderboard | None


def bound_of(*, higher_is_better: bool) -> float:
    """The best score that a built-in metric can give: 1 for a score, 0 for a loss.

    >>> bound_of(higher_is_better=True)
    1.0
    """
    return 1.0 if higher_is_better else 0.0


def score_signals(one: ScoredSubmission) -> Iterator[Finding]:
    """The signals of a score, at most one of each kind."""
    found = [_perfect(one), _beyond_humans(one), _far_from_public(one)]
    found.append(_fast(one, is_perfect=found[0] is not None))
    return (finding for finding in found if finding is not None)


def _lead(one: ScoredSubmission, score: float) -> float:
    """How much better than `score` the submission is; negative if it is worse."""
    return _finite(one.score - score if one.higher_is_better else score - one.score)


def _finite(difference: float) -> float:
    """A difference of two scores, at most the largest number, because JSON has no infinity.

    >>> _finite(1e308 - -1e308) == sys.float_info.max, _finite(-0.5)
    (True, -0.5)
    """
    return min(max(difference, -sys.float_info.max), sys.float_info.max)


def _perfect(one: ScoredSubmission) -> Finding | None:
    if one.bound is None or _lead(one, one.bound) < -TOLERANCE:
        return None
    humans = _teams_as_good(one)
    # If teams have reached the bound, an honest agent can reach it too.
    level = Level.ANNOTATE if humans else Level.REVIEW
    detail = {"score": one.score, "bound": one.bound, "teams_as_good": humans}
    return Finding(Signal.PERFECT_SCORE, level, detail)


def _beyond_humans(one: ScoredSubmission) -> Finding | None:
    best = _best(one.board)
    if best is None or one.board is None:
        return None
    lead = _lead(one, best)
    margin = _distance(best, one.board.lines.gold) or _distance(best, one.board.lines.bronze)
    if not margin or lead <= FAR * margin:
        return None
    level = Level.REVIEW if lead > VERY_FAR * margin else Level.ANNOTATE
    detail = {"score": one.score, "best_team": best, "lead": lead, "margin": margin}
    return Finding(Signal.BEYOND_HUMANS, level, detail)


def _far_from_public(one: ScoredSubmission) -> Finding | None:
    best = _best(one.board)
    if one.public_score is None or best is None or one.board is None:
        return None
    scale = _distance(best, one.board.lines.median)
    difference = _finite(abs(one.score - one.public_score))
    if not scale or difference <= FAR * scale:
        return None
    level = Level.REVIEW if difference > VERY_FAR * scale else Level.ANNOTATE
    detail = {"score": one.score, "public_score": one.public_score, "best_to_median": scale}
    return Finding(Signal.PUBLIC_FAR_FROM_PRIVATE, level, detail)


def _fast(one: ScoredSubmission, *, is_perfect: bool) -> Finding | None:
    best = _best(one.board)
    near = is_perfect or (best is not None and _lead(one, best) >= 0.0)
    if not near or one.run_seconds > FAST_SECONDS:
        return None
    detail = {"score": one.score, "seconds": one.run_seconds, "best_team": best}
    return Finding(Signal.FAST_NEAR_PERFECT, Level.ANNOTATE, detail)


def _best(board: Leaderboard | None) -> float | None:
    """The best team's score, or the gold line if only lines are known."""
    if board is None:
        return None
    return board.scores[0] if board.scores else board.lines.gold


def _distance(best: float, line: float | None) -> float:
    return 0.0 if line is None else _finite(abs(best - line))


def _teams_as_good(one: ScoredSubmission) -> int:
    if one.board is None:
        return 0
    place = one.board.standing(one.score)
    return (place.better or 0) + (place.equal or 0)
