"""pass@k against its definition: the share of all choices of k attempts that hold a success."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from app.domain.result_choices import Padding
from app.errors import Invalid
from app.statistics.attempts import make_grid
from app.statistics.chosen_by_public import ScoredAttempt, chosen_by_public
from app.statistics.pass_at_k import interval_over_runs, pass_at_k, passes
from app.statistics.rates import medal_rates
from tests.statistics.make import attempt, random_attempts


@settings(deadline=None)
@given(st.integers(1, 9).flatmap(lambda n: st.tuples(
    st.just(n), st.integers(0, n), st.integers(1, n))))  # fmt: skip
def test_it_is_the_share_of_choices_with_a_success(case: tuple[int, int, int]) -> None:
    n, c, k = case
    choices = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices), abs=1e-12)


@settings(deadline=None)
@given(st.integers(1, 200).flatmap(lambda n: st.tuples(
    st.just(n), st.integers(0, n), st.integers(1, n))))  # fmt: skip
def test_it_is_the_published_product(case: tuple[int, int, int]) -> None:
    n, c, k = case  # Chen et al. 2021, figure 3
    published = 1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
    assert pass_at_k(n, c, k) == pytest.approx(published, abs=1e-9)


@pytest.mark.parametrize(("k", "reason"), [(0, "at least 1"), (4, "from 1 to 3"), (-1, "least 1")])
def test_it_is_refused_beyond_the_attempts(k: int, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        pass_at_k(3, 2, k)


def test_unequal_attempts_count_as_they_are() -> None:
    attempts = [attempt("a", 0, "gold"), attempt("a", 1), attempt("a", 2), attempt("b", 0),
                attempt("b", 1, "gold")]  # fmt: skip
    found = passes(make_grid(attempts, "ab", padding=Padding.AVAILABLE), (1, 2))
    assert [each.mean for each in found] == pytest.approx(
        [100 * (1 / 3 + 1 / 2) / 2, 100 * (2 / 3 + 1) / 2]
    )
    with pytest.raises(Invalid, match="2 attempts"):
        passes(make_grid(attempts, "ab", padding=Padding.AVAILABLE), (3,))


def test_over_competitions() -> None:
    attempts = [
        attempt("a", 0, "gold"), attempt("a", 1), attempt("a", 2),
        attempt("b", 0), attempt("b", 1), attempt("b", 2),
    ]  # fmt: skip
    found = passes(make_grid(attempts, "ab"), (1, 2, 3))
    assert [each.mean for each in found] == pytest.approx([100 / 6, 100 / 3, 50.0])
    assert [each.bootstrap95[0] for each in found] == [0.0] * 3
    assert [each.bootstrap95[1] for each in found] == pytest.approx([100 / 3, 200 / 3, 100.0])


@pytest.mark.parametrize("successes", [[1, 0, 6], [3, 4, 0], [0, 0, 0]])
@pytest.mark.parametrize("k", [2, 3])
def test_the_interval_over_runs_is_that_of_the_binomial_distribution(
    successes: list[int], k: int
) -> None:
    attempts = np.array([3, 5, 8])
    rate, values, variances = sum(successes) / 16, [], []
    for n, c in zip(attempts.tolist(), successes, strict=True):
        estimates = np.array([pass_at_k(n, won, k) for won in range(n + 1)])
        chance = (c + 0.15 * rate) / (n + 0.15)
        values.append(estimates[c])
        variances.append(
            binom.expect(lambda won, of=estimates: of[won.astype(int)] ** 2, (n, chance))
            - binom.expect(lambda won, of=estimates: of[won.astype(int)], (n, chance)) ** 2
        )
    each = np.array(variances) * attempts / (attempts - 1)
    p, error = np.mean(values), (each.sum() + 0.5 * np.mean((k / attempts) ** 2)) / 9
    number = max(1.0, p * (1 - p) / error) if p else 9 / np.sum(k / attempts)
    low, high = proportion_confint(p * number, number, method="wilson")

    found = interval_over_runs(attempts, successes, k)

    assert found == pytest.approx((100 * low, 100 * high))


def test_pass_at_1_is_the_rate_and_pass_at_n_counts_any_success() -> None:
    attempts = random_attempts(20, 5, random.Random(1))
    grid = make_grid(attempts, {each.competition for each in attempts})
    first, last = passes(grid, (1, 5))
    won = grid.outcomes[:, :, 0]
    assert first.mean == pytest.approx(100 * won.mean())
    assert last.mean == pytest.approx(100 * won.max(axis=0).mean())


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("competitions", "runs", "rate"),
    [(15, 3, 0.08), (22, 2, 0.44), (22, 5, 0.2), (38, 3, 0.97), (75, 3, 0.03)],
)
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_the_intervals_cover_93_percent_and_more(
    competitions: int, runs: int, rate: float, spread: float
) -> None:
    """For k of one, two and all attempts; at 15 competitions of 8 % a bootstrap covered 71 %."""
    draw = np.random.default_rng(4)
    many, attempts = 400, np.full(competitions, runs)
    chances = draw.beta(rate * spread, (1 - rate) * spread, (many, competitions))
    won = draw.binomial(runs, chances)
    for k in {1, 2, runs}:
        truth = 100 * (1 - (1 - chances) ** k).mean(axis=1)
        covered = 0
        for number in range(many):
            low, high = interval_over_runs(attempts, won[number].tolist(), k)
            covered += low <= truth[number] <= high
            assert 0 <= low < high <= 100
        # The simulation's own standard error is 1.1 points.
        assert covered >= 0.92 * many, (k, covered / many)


def test_pass_at_1_has_the_intervals_of_the_rate() -> None:
    attempts = random_attempts(12, 4, random.Random(2))
    grid = make_grid(attempts, {each.competition for each in attempts})
    (found,) = passes(grid, (1,))
    rate = medal_rates(grid)["all"].rates["any_medal"]
    assert found.runs95 == pytest.approx(rate.runs95)
    assert found.competitions95 == pytest.approx(rate.competitions95)


def test_one_attempt_or_one_competition_leave_a_question_open() -> None:
    (one,) = passes(make_grid([attempt("a", 0, "gold"), attempt("b", 0)], "ab"), (1,))
    assert one.runs95 is None
    assert one.competitions95 is not None
    (alone,) = passes(make_grid([attempt("a", 0, "gold"), attempt("a", 1)], "a"), (2,))
    assert alone.competitions95 is None
    assert alone.runs95 is not None


def test_thousands_of_attempts_have_an_interval() -> None:
    attempts = [attempt("c", seed, "gold" if seed % 2 else None) for seed in range(1100)]
    for found in passes(make_grid(attempts, {"c"}), (1, 2, 550, 1100)):
        assert found.mean == pytest.approx(100.0 * (1.0 - 0.5**found.k), abs=0.1)
        assert found.runs95 is not None
        assert found.runs95[0] < found.mean <= found.runs95[1] <= 100.0
    scored = [ScoredAttempt(one.medal is not None, -float(one.seed)) for one in attempts]
    (chosen,) = chosen_by_public([scored, scored], (550,))
    assert chosen.chosen_by_public == pytest.approx(100.0 / 3.0, abs=0.1)
