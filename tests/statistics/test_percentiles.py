"""Percentile conventions against SciPy, and against their definitions on whole boards."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import percentileofscore

from app.domain.leaderboard import Leaderboard
from app.statistics.percentiles import (
    GAP_CLOSED,
    PERCENTILE,
    PERCENTILES,
    SAMPLE_TO_GOLD,
    SCALES,
    Scale,
    between_sample_and_gold,
    percentile,
    percentile_if_known,
    performance_gap_closed,
)

BOARDS = st.tuples(
    st.lists(st.integers(0, 9).map(float), min_size=1, max_size=30), st.integers(-1, 10).map(float)
)


def counts(board: list[float], score: float) -> tuple[int, int, int]:
    found = Leaderboard.full(board, higher_is_better=True).standing(score)
    return found.better, found.equal, found.worse


@settings(deadline=None)
@given(BOARDS)
def test_conventions_on_a_board(case) -> None:
    board, score = case
    n = len(board)
    of = counts(board, score)
    ranked = sorted(board, reverse=True)
    position = next((p for p, s in enumerate(ranked, 1) if score >= s), n + 1)

    assert percentile("not-better", *of) == pytest.approx(
        100 - 100 * sum(s > score for s in board) / n
    )
    assert percentile("mle-dojo-code", *of) == pytest.approx(100 * (n - position + 1) / n)
    assert percentile("mle-dojo-paper", *of) == pytest.approx(100 * max(0, 1 - position / n))
    assert percentile("strictly-beaten", *of) == pytest.approx(
        percentileofscore(board, score, kind="strict")
    )
    assert percentile("mid-rank", *of) == pytest.approx(
        percentileofscore(board, score, kind="mean")
    )


@pytest.mark.parametrize("name", PERCENTILES)
def test_every_convention_runs_up_from_0_and_says_its_source(name: str) -> None:
    values = [percentile(name, better, 0, 10 - better) for better in range(10, -1, -1)]
    assert values == sorted(values)
    assert values[0] == 0.0
    assert values[-1] >= 90.0
    assert PERCENTILES[name].source
    assert PERCENTILES[name].formula


def test_no_team_is_no_board() -> None:
    with pytest.raises(ValueError, match="teams of a board"):
        percentile("mid-rank", 0, 0, 0)


@pytest.mark.parametrize("unknown", range(4))
def test_a_percentile_needs_a_convention_and_all_counts(unknown: int) -> None:
    known = ["mid-rank", 1, 2, 7]
    assert percentile_if_known(*known) == 80.0

    known[unknown] = None

    assert percentile_if_known(*known) is None


def test_scales_end_where_their_scores_are_cut_off_and_aim_for_the_top() -> None:
    top, far = percentile("not-better", 0, 1, 9), 1e9
    worst = percentile("not-better", 10, 0, 0)
    assert ends(SCALES[PERCENTILE]) == (worst, top, top)
    ratios = {SAMPLE_TO_GOLD: between_sample_and_gold, GAP_CLOSED: performance_gap_closed}
    for name, ratio in ratios.items():
        assert ends(SCALES[name]) == (ratio(-far, 0, 1), ratio(far, 0, 1), ratio(1, 0, 1))


def ends(scale: Scale) -> tuple[float, float, float]:
    return scale.low, scale.high, scale.target


def test_normalised_scores() -> None:
    assert between_sample_and_gold(0.3, sample=0.5, gold=0.1) == pytest.approx(0.5)
    assert between_sample_and_gold(0.9, sample=0.5, gold=0.1) == pytest.approx(-1.0)
    assert between_sample_and_gold(-5.0, sample=0.5, gold=0.1) == 1.2
    assert between_sample_and_gold(0.3, sample=0.1, gold=0.1) is None
    assert performance_gap_closed(0.9, baseline=0.5, best_human=0.7) == pytest.approx(2.0)
    assert performance_gap_closed(0.4, baseline=0.5, best_human=0.7) == 0.0
    assert performance_gap_closed(0.4, baseline=0.5, best_human=0.5) is None
