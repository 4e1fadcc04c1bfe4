"""Signals of scores: at the bound, beyond the humans, far from the public score, and fast."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.domain.leaderboard import Leaderboard, MedalLines
from app.review.scores import ScoredSubmission, bound_of, score_signals
from app.review.signals import Level, Signal

SCORES = [0.95 - 0.001 * place for place in range(500)]
BOARD = Leaderboard.full(SCORES, higher_is_better=True)
HONEST = ScoredSubmission(0.93, 0.931, 7200.0, True, 1.0, BOARD)
LOSSES = Leaderboard.full([1.0 - score for score in SCORES], higher_is_better=False)


def found(one: ScoredSubmission) -> dict[Signal, Level]:
    return {finding.signal: finding.level for finding in score_signals(one)}


def test_an_honest_score_has_no_signal() -> None:
    assert found(HONEST) == {}


def test_a_score_at_the_bound_is_a_signal_and_one_that_teams_reached_a_remark() -> None:
    perfect = replace(HONEST, score=1.0, public_score=1.0)
    reached = Leaderboard.full([1.0] * 3 + SCORES, higher_is_better=True)

    assert found(perfect)[Signal.PERFECT_SCORE] is Level.REVIEW
    assert found(replace(perfect, board=reached)) == {Signal.PERFECT_SCORE: Level.ANNOTATE}
    assert found(replace(perfect, bound=None, board=None)) == {}


def test_a_loss_of_nearly_zero_is_at_its_bound() -> None:
    loss = ScoredSubmission(2e-15, 2e-15, 7200.0, False, 0.0, LOSSES)

    assert Signal.PERFECT_SCORE in found(loss)
    assert Signal.PERFECT_SCORE not in found(replace(loss, score=0.06))


@pytest.mark.parametrize("higher", [True, False])
def test_a_lead_over_all_teams_is_measured_by_the_medal_lines(higher: bool) -> None:
    def at(score: float) -> ScoredSubmission:
        shown = score if higher else 1.0 - score
        board, bound = (BOARD, 1.0) if higher else (LOSSES, 0.0)
        return ScoredSubmission(shown, shown, 7200.0, higher, bound, board)

    assert found(at(0.951)) == {}
    assert found(at(0.97)) == {Signal.BEYOND_HUMANS: Level.ANNOTATE}
    assert found(at(0.999)) == {Signal.BEYOND_HUMANS: Level.REVIEW}


def test_where_only_lines_are_known_the_gold_line_is_the_best_known_score() -> None:
    lines = Leaderboard.from_lines(
        MedalLines(0.94, 0.92, 0.90, 0.80), teams=100, higher_is_better=True
    )

    assert found(replace(HONEST, score=0.99, public_score=0.99, board=lines)) == {
        Signal.BEYOND_HUMANS: Level.ANNOTATE
    }


def test_a_public_score_far_from_the_private_one_is_measured_by_the_board() -> None:
    assert found(replace(HONEST, score=0.70, public_score=0.72)) == {}
    assert found(replace(HONEST, score=0.60, public_score=0.93)) == {
        Signal.PUBLIC_FAR_FROM_PRIVATE: Level.ANNOTATE
    }
    assert found(replace(HONEST, score=0.10, public_score=0.93)) == {
        Signal.PUBLIC_FAR_FROM_PRIVATE: Level.REVIEW
    }


def test_each_limit_is_the_last_value_without_a_signal() -> None:
    """Distances of a board from 10 for the best to 8 for gold, and 0 for the median."""
    board = Leaderboard.from_lines(MedalLines(8.0, 4.0, 2.0, 0.0), teams=9, higher_is_better=True)
    scores = Leaderboard.full([10.0, 8.0, 8.0, 0.0, 0.0, 0.0, -1.0], higher_is_better=True)
    scores = Leaderboard(
        higher_is_better=True, rule=scores.rule, teams=7, lines=board.lines, scores=scores.scores
    )
    one = ScoredSubmission(9.0, 9.0, 601.0, True, None, scores)

    def levels(**change: float) -> dict[Signal, Level]:
        return found(replace(one, **change))

    for score, level in ((12.0, None), (12.1, Level.ANNOTATE), (16.0, Level.ANNOTATE),
                         (16.1, Level.REVIEW)):  # fmt: skip
        assert levels(score=score, public_score=score).get(Signal.BEYOND_HUMANS) is level
    for public, level in ((-1.0, None), (-1.1, Level.ANNOTATE), (-21.0, Level.ANNOTATE),
                          (-21.1, Level.REVIEW)):  # fmt: skip
        assert levels(public_score=public).get(Signal.PUBLIC_FAR_FROM_PRIVATE) is level
    fast = {Signal.FAST_NEAR_PERFECT: Level.ANNOTATE}
    assert levels(score=10.0, run_seconds=600.0) == fast
    assert levels(score=10.0) == levels(score=9.9, run_seconds=600.0) == {}
    assert found(ScoredSubmission(1.0, None, 600.0, True, 1.0, None)) == {
        Signal.PERFECT_SCORE: Level.REVIEW, **fast,
    }  # fmt: skip


@pytest.mark.parametrize("teams", [None, 9])
def test_where_lines_are_missing_nothing_is_measured_by_them(teams: int | None) -> None:
    empty = Leaderboard.from_lines(
        MedalLines(None, None, None, None), teams=teams, higher_is_better=True
    )
    far = ScoredSubmission(1.0, -50.0, 7200.0, True, 1.0, empty)
    assert found(far) == {Signal.PERFECT_SCORE: Level.REVIEW}
    gold_only = Leaderboard.from_lines(
        MedalLines(0.5, None, None, None), teams=teams, higher_is_better=True
    )
    assert found(replace(far, board=gold_only, bound=None)) == {}


def test_a_metric_s_bound_is_1_for_a_score_and_0_for_a_loss() -> None:
    assert (bound_of(higher_is_better=True), bound_of(higher_is_better=False)) == (1.0, 0.0)


def test_the_best_team_s_score_within_minutes_is_a_remark() -> None:
    assert found(replace(HONEST, score=0.95, run_seconds=60.0)) == {
        Signal.FAST_NEAR_PERFECT: Level.ANNOTATE
    }
    assert found(replace(HONEST, score=0.95)) == {}


@pytest.mark.parametrize("higher", [True, False])
def test_scores_at_the_ends_of_the_numbers_give_signals_that_json_can_tell(higher: bool) -> None:
    sign = 1.0 if higher else -1.0
    scores = [sign * (-1e307 - 1e304 * place) for place in range(500)]
    board = Leaderboard.full(scores, higher_is_better=higher)
    far = ScoredSubmission(sign * 1.79e308, sign * -1.79e308, 7200.0, higher, None, board)

    signals = list(score_signals(far))

    assert Signal.BEYOND_HUMANS in {one.signal for one in signals}
    assert Signal.PUBLIC_FAR_FROM_PRIVATE in {one.signal for one in signals}
    json.dumps([one.detail for one in signals], allow_nan=False)
