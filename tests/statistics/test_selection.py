"""Regret, shake-up and the choice by public score: worked by hand, by enumeration, simulated."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from app.domain.medals import Medal
from app.errors import Invalid
from app.statistics.chosen_by_public import ScoredAttempt, chosen_at_k, chosen_by_public
from app.statistics.intervals import of_values
from app.statistics.medals_over_time import Choice, RunHistory, TimedSubmission
from app.statistics.selection import percentile_regret, selection_regret, shake_up


def sent(public: float | None, private: float, percentile: float, medal: str | None = None):
    return TimedSubmission(1.0, private, public, Medal(medal) if medal else None, False, percentile)


RUN = RunHistory(
    "a", 0, True, (sent(0.9, 0.5, 50.0), sent(0.8, 0.7, 90.0, "gold"), sent(0.1, 0.6, 70.0))
)
LUCKY = RunHistory("a", 1, True, (sent(0.5, 0.9, 95.0, "gold"), sent(0.4, 0.2, 10.0)))
EMPTY = RunHistory("b", 0, True, ())


def test_regret_in_medals_and_percentiles() -> None:
    medals = selection_regret([RUN, LUCKY, EMPTY], Choice.BEST_PUBLIC)
    # a: one of two lost its medal; b: nothing to lose; all competitions weigh the same
    assert (medals.choice, medals.oracle, medals.regret) == (25.0, 50.0, 25.0)
    assert medals.runs_that_lost_a_medal == 1
    places = percentile_regret([RUN, LUCKY, EMPTY], Choice.BEST_PUBLIC)
    assert places.choice == pytest.approx((50 + 95) / 4)
    assert places.oracle == pytest.approx((90 + 95) / 4)
    assert places.regret == pytest.approx(10.0)
    assert places.runs95 is None  # b has a single run
    low, high = places.competitions95
    assert 0 <= low < 10 < high <= 100
    assert percentile_regret([RUN], Choice.LAST).competitions95 is None


def test_no_regret_still_has_an_interval() -> None:
    runs = [RunHistory(slug, seed, True, LUCKY.sent) for slug in "abc" for seed in range(3)]
    found = selection_regret(runs, Choice.BEST_PUBLIC)
    assert found.regret == 0.0
    assert found.runs95[0] == 0.0
    assert found.runs95[1] > 5


def test_shake_up_is_kaggles_within_a_run() -> None:
    found = shake_up([RUN, LUCKY, EMPTY])
    assert (found.runs, found.competitions, found.left_out) == (2, 1, 1)
    public, private = [1, 2, 3], [3, 1, 2]
    moved = np.abs(np.array(public) - private).mean() / 3
    assert found.shake_up.value == pytest.approx(100 * (moved + 0) / 2)
    assert found.best_kept.value == 50.0
    lower = RunHistory("a", 0, False, tuple(sent(-o.public_score, -o.score, 0) for o in RUN.sent))
    assert shake_up([lower]).shake_up.value == pytest.approx(100 * moved)
    assert shake_up([EMPTY]) is None
    without = RunHistory("a", 0, True, (sent(None, 0.1, 1.0), sent(0.3, 0.1, 1.0)))
    assert shake_up([without]) is None


@pytest.mark.parametrize("higher", [True, False])
def test_shake_up_of_several_runs_is_that_of_each(higher: bool) -> None:
    """Of 8 runs at one competition and 4 at another, which weigh the same."""
    draw, sign = np.random.default_rng(3), 1 if higher else -1
    scores = draw.permuted(np.tile([[0.1, 0.2, 0.2, 0.7]], (12, 2, 1)), axis=2)
    runs, moved, kept = [], [], []
    for number, (public, private) in enumerate(scores):
        files = tuple(map(sent, sign * public, sign * private, [0.0] * 4))
        runs.append(RunHistory("a" if number < 8 else "b", number, higher, files))
        moved.append(np.abs(rankdata(public) - rankdata(private)).mean() / 4)
        kept.append(private[public.argmax()] == private.max())

    found = shake_up(runs)

    assert [shake_up([run]).best_kept.value for run in runs] == [100.0 * one for one in kept]
    for share, each in ((found.shake_up, moved), (found.best_kept, kept)):
        expected = (np.mean(each[:8]) + np.mean(each[8:])) / 2
        assert share.value == pytest.approx(100 * expected)
        assert expected != pytest.approx(np.mean(each))


def test_equal_public_scores_share_their_rank() -> None:
    run = RunHistory("a", 0, True, tuple(sent(0.5, score, 0.0) for score in (0.1, 0.2, 0.3)))
    expected = np.abs(rankdata([1, 1, 1]) - rankdata([3, 2, 1])).mean() / 3
    assert shake_up([run]).shake_up.value == pytest.approx(100 * expected)


attempts = st.lists(
    st.builds(ScoredAttempt, st.booleans(), st.none() | st.integers(0, 3).map(float)),
    min_size=1, max_size=6,
)  # fmt: skip


@settings(deadline=None)
@given(attempts, st.data())
def test_the_choice_by_public_score_by_enumeration(found: list[ScoredAttempt], data) -> None:
    k = data.draw(st.integers(1, len(found)))
    chances = []
    for some in combinations(found, k):
        best = max((-1.0 if one.public is None else one.public) for one in some)
        tied = [one for one in some if (-1.0 if one.public is None else one.public) == best]
        chances.append(sum(one.success for one in tied) / len(tied))
    assert chosen_at_k(found, k) == pytest.approx(np.mean(chances))


def test_the_gap_is_what_choosing_loses() -> None:
    good = [ScoredAttempt(True, 0.9), ScoredAttempt(False, 0.1)]
    misled = [ScoredAttempt(True, 0.1), ScoredAttempt(False, 0.9)]
    one, two = chosen_by_public([good, misled, misled], (1, 2))
    assert (one.gap, one.pass_at_k, one.chosen_by_public) == (0.0, 50.0, 50.0)
    assert two.pass_at_k == 100.0
    assert two.chosen_by_public == pytest.approx(100 / 3)
    assert two.gap == pytest.approx(200 / 3)
    assert two.gap95[0] <= two.gap <= two.gap95[1]
    assert chosen_by_public([], (1,)) == []
    assert chosen_by_public([good], (1,))[0].gap95 is None
    with pytest.raises(Invalid, match="from 1 to 2"):
        chosen_by_public([good], (3,))


@pytest.mark.simulation
@pytest.mark.parametrize(("competitions", "runs"), [(75, 3), (22, 3), (15, 5)])
@pytest.mark.parametrize("zeros", [0.3, 0.7])
def test_intervals_of_regrets_cover_the_truth(competitions: int, runs: int, zeros: float) -> None:
    """Percentile regrets: mostly nothing, else a skewed share of all places."""
    draw = np.random.default_rng(6)
    hits = []
    for _ in range(400):
        chance = draw.beta(2, 2, competitions) * 2 * (1 - zeros)
        chance = np.minimum(chance, 1.0)
        scale = draw.beta(2, 6, competitions)
        chosen = draw.random((runs, competitions)) < chance
        regrets = np.minimum(1.0, scale * draw.uniform(0, 2, (runs, competitions)))
        truth = float(np.mean(chance * np.where(scale <= 0.5, scale, 1 - 1 / (4 * scale))))
        again, _ = of_values(list(np.where(chosen, regrets, 0.0).T))
        hits.append(again[0] <= truth <= again[1])
    assert np.mean(hits) >= 0.93
