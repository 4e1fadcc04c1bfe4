"""pass@k against its definition: the share of all choices of k attempts that hold a success."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import Invalid
from app.statistics.attempts import Padding, make_grid
from app.statistics.pass_at_k import pass_at_k, passes
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


def test_pass_at_1_is_the_rate_and_pass_at_n_counts_any_success() -> None:
    attempts = random_attempts(20, 5, random.Random(1))
    grid = make_grid(attempts, {each.competition for each in attempts})
    first, last = passes(grid, (1, 5))
    won = grid.outcomes[:, :, 0]
    assert first.mean == pytest.approx(100 * won.mean())
    assert last.mean == pytest.approx(100 * won.max(axis=0).mean())
