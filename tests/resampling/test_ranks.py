"""Spearman's correlation of weighted rows is SciPy's of the rows written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from app.resampling import ranks
from app.resampling.plan import group_sums
from app.resampling.ranks import mean_ranks, places, spearman_plan


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 32, 47, 100, 333])
def test_mean_ranks_are_those_of_the_values_written_out(count: int) -> None:
    rng = np.random.default_rng(count)
    drawn = rng.multinomial(3 * count, np.full(count, 1 / count), 5).astype(float)
    laid_out = np.empty_like(drawn)
    laid_out[:, places(count)] = drawn

    found = mean_ranks(laid_out, 3 * count)[:, places(count)]

    for weights, of_values in zip(drawn.astype(int), found, strict=True):
        written_out = np.repeat(np.arange(count), weights)
        expected = rankdata(written_out) - (3 * count + 1) / 2
        assert np.array_equal(np.repeat(of_values, weights), expected)


@pytest.mark.parametrize("most_float32", [1 << 22, 0])
@pytest.mark.parametrize("rows", [16, 500, 3000])
@pytest.mark.parametrize(
    ("decimals_true", "decimals_pred"), [(9, 9), (1, 9), (9, 1), (0, 0), (1, 1), (2, 3)]
)
def test_drawn_rows_with_and_without_ties(
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    decimals_true: int,
    decimals_pred: int,
    most_float32: int,
) -> None:
    monkeypatch.setattr(ranks, "MOST_FLOAT32", most_float32)
    rng = np.random.default_rng(rows)
    y_true = rng.normal(size=rows)
    y_pred = (y_true + rng.normal(size=rows)).round(decimals_pred)
    y_true = y_true.round(decimals_true)
    plan = spearman_plan(y_true, y_pred)
    drawn = rng.integers(0, rows, (8, rows))
    weights = np.stack([np.bincount(each, minlength=rows) for each in drawn]).astype(float)

    found = plan.of_rows(weights)

    expected = [spearmanr(y_true[each], y_pred[each]).statistic for each in drawn]
    assert found == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("cells", "groups"), [(60, 5), (9000, 30), (9000, 500), (9000, 8999)], ids=str
)
@pytest.mark.parametrize("is_sorted", [True, False])
def test_sums_by_group_whatever_the_number_of_groups(
    cells: int, groups: int, is_sorted: bool
) -> None:
    rng = np.random.default_rng(cells + groups)
    group = rng.integers(0, groups, cells)
    group[group == groups // 2] = 0  # one has no cells
    if is_sorted:
        group.sort()
    weights = rng.poisson(1.0, (3, cells)).astype(float)

    found = group_sums(group, groups)(weights)

    expected = np.zeros((3, groups))
    np.add.at(expected, (slice(None), group), weights)
    assert np.array_equal(found, expected)
