"""Medal rates against hand-worked cases, SciPy and statsmodels; and what must not change them."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from app.domain.result_choices import RATES, Padding
from app.errors import AttemptsMissing, Conflict
from app.statistics.attempts import make_grid
from app.statistics.rates import medal_rates
from tests.statistics.make import attempt, random_attempts

SMALL = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))


def names(attempts):
    return {each.competition for each in attempts}


def test_a_case_worked_by_hand() -> None:
    # seed 0: gold, none, bronze, silver = 75 %; seed 1: none, none, bronze, none = 25 %
    attempts = [
        attempt("a", 0, "gold"), attempt("b", 0), attempt("c", 0, "bronze"),
        attempt("d", 0, "silver"),
        attempt("a", 1, made=True, valid=False), attempt("b", 1, made=False, valid=False),
        attempt("c", 1, "bronze"), attempt("d", 1, above_median=True),
    ]  # fmt: skip
    found = medal_rates(make_grid(attempts, "abcd"), {"first": ["a", "b"], "last": ["c", "d"]})

    whole = found["all"].rates
    assert whole["any_medal"].per_seed == (75.0, 25.0)
    assert whole["any_medal"].mean == 50.0
    assert whole["any_medal"].sem == pytest.approx(25.0)  # sd = 35.355, / sqrt(2)
    low, high = whole["any_medal"].ci95
    assert (low, high) == pytest.approx((50 - 12.7062 * 25, 50 + 12.7062 * 25), abs=1e-2)
    assert [whole[r].mean for r in ("gold", "silver", "bronze")] == [12.5, 12.5, 25.0]
    assert whole["above_median"].per_seed == (75.0, 50.0)
    assert whole["valid_submission"].per_seed == (100.0, 50.0)
    assert whole["made_submission"].per_seed == (100.0, 75.0)
    assert found["first"].rates["any_medal"].per_seed == (50.0, 0.0)
    assert found["last"].rates["any_medal"].per_seed == (100.0, 50.0)
    assert found["first"].competitions == 2


def test_one_seed_has_no_spread_over_seeds_but_one_over_competitions() -> None:
    attempts = [attempt("a", 3, "gold"), attempt("b", 3)]
    found = medal_rates(make_grid(attempts, "ab"))["all"].rates["any_medal"]

    assert (found.mean, found.sem, found.ci95) == (50.0, None, None)
    assert found.bootstrap95 == (0.0, 100.0)


def test_one_competition_has_no_spread_over_competitions() -> None:
    found = medal_rates(make_grid([attempt("a", 0), attempt("a", 1, "gold")], "a"))["all"]
    assert found.rates["any_medal"].bootstrap95 is None
    assert found.rates["any_medal"].sem == pytest.approx(50.0)


@settings(deadline=None)
@given(SMALL)
def test_mean_sem_and_interval_agree_with_others(case: tuple[int, int, int]) -> None:
    competitions, seeds, number = case
    attempts = random_attempts(competitions, seeds, random.Random(number))
    found = medal_rates(make_grid(attempts, names(attempts)), resamples=50)["all"].rates

    for at, rate in enumerate(RATES):
        shares = [
            100 * statistics.fmean(a.outcomes[at] for a in attempts if a.seed == seed)
            for seed in range(seeds)
        ]
        one = found[rate]
        assert one.mean == pytest.approx(statistics.fmean(shares), abs=1e-9)
        if seeds == 1:
            assert one.sem is None
            continue
        assert one.sem == pytest.approx(stats.sem(shares, ddof=1), abs=1e-9)
        if one.sem > 1e-9:
            assert one.ci95 == pytest.approx(DescrStatsW(shares).tconfint_mean(0.05), abs=1e-7)


@settings(deadline=None)
@given(SMALL, st.randoms(use_true_random=False))
def test_the_order_of_attempts_changes_nothing(case, chance) -> None:
    competitions, seeds, number = case
    attempts = random_attempts(competitions, seeds, random.Random(number))
    shuffled = chance.sample(attempts, len(attempts))

    first = medal_rates(make_grid(attempts, names(attempts)), resamples=50)
    assert medal_rates(make_grid(shuffled, names(shuffled)), resamples=50) == first


@settings(deadline=None)
@given(SMALL, st.randoms(use_true_random=False))
def test_seeds_by_other_numbers_change_nothing_but_their_order(case, chance) -> None:
    competitions, seeds, number = case
    attempts = random_attempts(competitions, seeds, random.Random(number))
    new = dict(enumerate(chance.sample(range(1000), seeds)))
    renamed = [a._replace(seed=new[a.seed]) for a in attempts]

    before = medal_rates(make_grid(attempts, names(attempts)), resamples=50)["all"].rates
    after = medal_rates(make_grid(renamed, names(renamed)), resamples=50)["all"].rates
    for rate in RATES:
        assert sorted(after[rate].per_seed) == sorted(before[rate].per_seed)
        assert after[rate].mean == pytest.approx(before[rate].mean)


@settings(deadline=None)
@given(SMALL, st.randoms(use_true_random=False))
def test_padding_never_raises_a_rate(case, chance) -> None:
    competitions, seeds, number = case
    attempts = random_attempts(competitions, seeds, random.Random(number))
    kept = chance.sample(attempts, chance.randint(1, len(attempts)))
    slugs = names(attempts)
    everything = range(seeds)

    whole = make_grid(attempts, slugs, seeds=everything).outcomes.mean(axis=(0, 1))
    padded = make_grid(kept, slugs, seeds=everything, padding=Padding.FAIL).outcomes
    assert (padded.mean(axis=(0, 1)) <= whole + 1e-12).all()


def test_what_is_missing_is_refused_and_listed() -> None:
    attempts = [attempt("a", 0, "gold"), attempt("a", 1), attempt("b", 1)]
    with pytest.raises(AttemptsMissing) as refusal:
        make_grid(attempts, ["a", "b"])
    assert refusal.value.extensions["missing"] == [{"competition": "b", "seed": 0}]


@pytest.mark.parametrize("padding", Padding)
def test_a_few_results_of_very_many_seeds_are_refused(padding: Padding) -> None:
    """Each missing result was listed: of 40,000 seeds at one of 75 competitions, 3,000,000."""
    some = [attempt("a", seed) for seed in range(2)]

    def grid(seeds: int):
        return make_grid(some, ["a"], seeds=range(seeds), padding=padding)

    if padding is Padding.FAIL:
        assert len(grid(100_002).missing) == 100_000
    with pytest.raises(Conflict, match="100,001 attempts have no result, of 100,003 seeds at 1 "):
        grid(100_003)


def test_padding_by_failures_or_by_leaving_seeds_out() -> None:
    attempts = [attempt("a", 0, "gold"), attempt("a", 1), attempt("b", 1, "gold")]

    padded = make_grid(attempts, ["a", "b"], padding=Padding.FAIL)
    assert padded.missing == (("b", 0),)
    assert medal_rates(padded)["all"].rates["any_medal"].per_seed == (50.0, 50.0)

    complete = make_grid(attempts, ["a", "b"], padding=Padding.COMPLETE)
    assert complete.seeds == (1,)
    assert complete.missing == (("b", 0),)


def test_a_rate_of_complete_seeds_may_be_outside_the_bounds_over_all_seeds() -> None:
    attempts = [attempt("a", 0, "gold"), attempt("b", 0, "gold"), attempt("a", 1)]
    found = {
        padding: medal_rates(make_grid(attempts, ["a", "b"], padding=padding))["all"]
        for padding in (Padding.FAIL, Padding.AVAILABLE, Padding.COMPLETE)
    }
    rates = [found[padding].rates["any_medal"] for padding in found]
    assert [rate.mean for rate in rates] == [50.0, 75.0, 100.0]
    assert {rate.bounds for rate in rates} == {(50.0, 75.0)}


def test_results_among_some_keys_are_those_that_are_counted_and_there() -> None:
    grid = make_grid(
        [attempt("a", 0), attempt("a", 1), attempt("b", 1)], "ab", padding=Padding.AVAILABLE
    )
    keys = {("a", 0), ("b", 0), ("b", 1), ("c", 1)}
    assert (grid.results_among(keys), grid.results_among([])) == (2, 0)


def test_a_seed_known_to_exist_counts_as_missing() -> None:
    with pytest.raises(AttemptsMissing):
        make_grid([attempt("a", 0)], ["a"], seeds=[0, 1])


def test_nothing_to_compute_from_is_said() -> None:
    with pytest.raises(Conflict, match="has a result"):
        make_grid([attempt("a", 0)], ["b"], padding=Padding.FAIL)
    with pytest.raises(Conflict, match="has a result"):
        make_grid([], [], seeds=[0], padding=Padding.FAIL)
    with pytest.raises(AttemptsMissing):
        make_grid([attempt("a", 0)], ["a", "b"], padding=Padding.COMPLETE)


def test_attempts_are_keyed() -> None:
    with pytest.raises(ValueError, match="twice"):
        make_grid([attempt("a", 0), attempt("a", 0, "gold")], ["a"])
    other = type(attempt("a", 0))("other", "a", 1)
    with pytest.raises(ValueError, match="of one experiment"):
        make_grid([attempt("a", 0), other], ["a"])


def test_the_bootstrap_is_reproducible_and_near_the_classical_interval() -> None:
    attempts = random_attempts(75, 16, random.Random(5))
    grid = make_grid(attempts, names(attempts))
    found = medal_rates(grid)["all"].rates["any_medal"]
    assert medal_rates(grid)["all"].rates["any_medal"] == found

    per_competition = 100 * grid.outcomes[:, :, 0].mean(axis=0)
    independent = stats.bootstrap(
        (per_competition,), np.mean, n_resamples=20_000, method="percentile", rng=3
    ).confidence_interval
    assert found.bootstrap95 == pytest.approx(tuple(independent), abs=0.25)
