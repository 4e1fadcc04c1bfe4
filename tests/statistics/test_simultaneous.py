"""Many experiments at once: false claims by simulation, letters, ranks and degenerate cases."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from app.domain.medals import Medal
from app.statistics.attempt_columns import Attempts, outcome_of
from app.statistics.attempts import Grid, make_grid
from app.statistics.estimates import SEED
from app.statistics.simultaneous import compare_all, holm, letters_of

BOARDS = 100
OUTCOMES = tuple(
    outcome_of(made=True, valid=True, medal=medal, above_median=medal is not None)
    for medal in (Medal.GOLD, None)
)


def grids_of(won: np.ndarray) -> list[Grid]:
    """Grids of `won[experiment, seed, competition]`: gold medals, or valid files without one."""
    _, seeds, competitions = won.shape
    slugs = [f"c{n:02}" for n in range(competitions)]
    of_seeds = np.repeat(np.arange(seeds), competitions).tolist()
    return [
        make_grid(
            Attempts(
                "an-experiment", slugs * seeds, of_seeds, np.where(one, *OUTCOMES).ravel().tolist()
            ),
            slugs,
        )
        for one in won
    ]


@pytest.mark.simulation
@pytest.mark.parametrize(("competitions", "rate"), [(22, 0.08), (15, 0.44)])
def test_few_competitions_make_no_false_claims_either(competitions: int, rate: float) -> None:
    draw = np.random.default_rng(9)
    names = [f"agent-{n:02}" for n in range(20)]
    false = 0
    for _ in range(BOARDS):
        chances = draw.beta(rate, 1 - rate, competitions)
        found = compare_all(names, grids_of(draw.random((20, 3, competitions)) < chances))
        false += any(pair.ahead for pair in found.pairs)
    assert false <= 0.06 * BOARDS


@pytest.mark.simulation
def test_twenty_equal_agents_are_seldom_called_different() -> None:
    """Paired t tests alone find a pair with p < 0.05 on 93 % of such boards."""
    draw = np.random.default_rng(3)
    names = [f"agent-{n:02}" for n in range(20)]
    false = naive = 0
    for _ in range(BOARDS):
        chances = draw.beta(0.44 * 0.5, 0.56 * 0.5, 75)
        found = compare_all(names, grids_of(draw.random((20, 3, 75)) < chances))
        false += any(pair.ahead for pair in found.pairs)
        naive += any(pair.p is not None and pair.p < 0.05 for pair in found.pairs)
        assert len(found.pairs) == 190
    assert false <= 0.06 * BOARDS
    assert naive >= 0.8 * BOARDS


def test_a_better_agent_is_found_with_the_right_figures() -> None:
    draw = np.random.default_rng(4)
    chances = np.array([0.7, 0.4, 0.4])[:, None, None]
    won = draw.random((3, 4, 75)) < chances
    found = compare_all(["best", "one", "two"], grids_of(won))
    first = found.experiments[0]
    assert (first.experiment, first.ranks, first.letters) == ("best", (1, 1), "a")
    assert {one.letters for one in found.experiments[1:]} == {"b"}
    assert {one.ranks for one in found.experiments[1:]} == {(2, 3)}
    shares = dict(zip(["best", "one", "two"], 100 * won.mean(axis=1), strict=True))
    for pair in found.pairs:
        test = stats.ttest_rel(shares[pair.a], shares[pair.b])
        assert pair.difference == pytest.approx(np.mean(shares[pair.a] - shares[pair.b]))
        assert pair.p == pytest.approx(test.pvalue)
        low, high = pair.simultaneous95
        narrow = test.confidence_interval(0.95)
        assert low < narrow.low
        assert high > narrow.high
    assert 1.96 < found.critical < 3


def test_the_critical_value_is_that_of_the_largest_t_over_random_signs() -> None:
    """Of 276 pairs, more than are computed at once, by SciPy's t of every resample."""
    won = np.random.default_rng(8).random((24, 3, 15)) < 0.5
    shares = 100 * won.mean(axis=1).T
    centred = np.stack([shares[:, a] - shares[:, b] for a, b in combinations(range(24), 2)], axis=1)
    centred -= centred.mean(axis=0)
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (4000, 15))
    largest = np.zeros(4000)
    with np.errstate(all="ignore"):
        for column in centred[:, centred.std(axis=0) > 1e-9].T:
            resampled = signs * column
            error = np.maximum(resampled.std(axis=1, ddof=1) / 15**0.5, 1e-6)
            largest = np.maximum(largest, np.abs(resampled.mean(axis=1)) / error)

    found = compare_all([f"agent-{n:02}" for n in range(24)], grids_of(won))

    # The first of the sorted values that 95 % of all do not exceed.
    assert found.critical == pytest.approx(np.sort(largest)[3800], rel=1e-9)


def test_one_experiment_at_other_competitions_is_refused() -> None:
    two, other = grids_of(np.ones((2, 1, 3), dtype=bool)), grids_of(np.ones((1, 1, 4), dtype=bool))
    with pytest.raises(ValueError, match="same competitions everywhere"):
        compare_all("abc", [*two, *other])


def test_holm_agrees_with_statsmodels() -> None:
    p = np.random.default_rng(1).random(30) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_letters_are_shared_by_those_who_are_not_apart() -> None:
    draw = np.random.default_rng(2)
    names = [f"n{k}" for k in range(7)]
    for _ in range(50):
        apart = {(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if draw.random() < 0.5}
        letters = letters_of(names, apart)
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                assert bool(set(letters[a]) & set(letters[b])) is ((a, b) not in apart)


def test_letters_of_many_pairs_that_are_apart_only_within_themselves() -> None:
    """An agent with and without a tool, 25 times: 2^25 sets of which none is apart, few letters."""
    names = [*(f"with{k}" for k in range(25)), *(f"without{k}" for k in range(25))]
    apart = {(f"with{k}", f"without{k}") for k in range(25)}
    letters = {
        name: set(re.findall(r"\.[a-z]+|[a-z]", text))
        for name, text in letters_of(names, apart).items()
    }
    for a, b in combinations(names, 2):
        assert bool(letters[a] & letters[b]) is ((a, b) not in apart)


@pytest.mark.parametrize("competitions", [1, 2, 5, 6, 7, 75])
def test_a_constant_difference_is_decided_by_the_sign_test(competitions: int) -> None:
    won = np.zeros((3, 2, competitions), dtype=bool)
    won[0] = True
    found = compare_all(["a", "b", "c"], grids_of(won))
    assert found.critical is None
    assert [pair.simultaneous95 for pair in found.pairs] == [None] * 3
    assert [pair.sem is None for pair in found.pairs] == [competitions == 1] * 3
    p = stats.binomtest(competitions, competitions).pvalue
    a_b, a_c, b_c = found.pairs
    for pair in (a_b, a_c):
        assert pair.p == pytest.approx(p)
        # b and c do not differ: theirs is the largest of three p values.
        assert pair.p_holm == pytest.approx(min(1, 3 * p))
        assert pair.ahead == ("a" if 3 * p < 0.05 else None)
    assert (b_c.p, b_c.p_holm, b_c.ahead) == (None, None, None)
    letters = [one.letters for one in found.experiments]
    assert letters == (["a", "b", "b"] if competitions > 6 else ["a", "a", "a"])


@pytest.mark.parametrize("competitions", [3, 5, 7, 22, 75])
def test_the_best_and_the_worst_differ_where_both_differ_from_the_middle(competitions: int) -> None:
    """All medals, no medals, and one between them, which alone varies."""
    draw = np.random.default_rng(competitions)
    won = np.zeros((3, 8, competitions), dtype=bool)
    won[0] = True
    won[2] = draw.random((8, competitions)) < 0.5
    found = compare_all(["all", "nothing", "middle"], grids_of(won))
    ahead = {(pair.a, pair.b) for pair in found.pairs if pair.ahead}
    expected = {("all", "middle"), ("middle", "nothing"), ("all", "nothing")}
    assert ahead == (expected if competitions > 3 else set())
    if competitions > 3:
        assert [one.letters for one in found.experiments] == ["a", "b", "c"]
        assert [one.ranks for one in found.experiments] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.simulation
@pytest.mark.parametrize("rate", [0.03, 0.5, 0.97])
@pytest.mark.parametrize("competitions", [2, 4, 7, 15])
def test_equal_agents_with_one_run_are_seldom_called_different(
    competitions: int, rate: float
) -> None:
    """So few results have constant differences often, and these make no false claims either."""
    draw = np.random.default_rng(11)
    names = [f"agent-{n:02}" for n in range(20)]
    false = 0
    for _ in range(BOARDS):
        found = compare_all(names, grids_of(draw.random((20, 1, competitions)) < rate))
        false += any(pair.ahead for pair in found.pairs)
    assert false <= 0.06 * BOARDS
