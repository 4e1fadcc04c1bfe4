"""Correlations against SciPy, with ties, offsets and extreme sizes."""

import numpy as np
import pytest
from scipy import stats

from app.metrics.correlation import pearson_corrcoef, spearman_corrcoef

BOTH = pytest.mark.parametrize(
    ("metric", "reference"),
    [(pearson_corrcoef, stats.pearsonr), (spearman_corrcoef, stats.spearmanr)],
)


def columns(rows, seed, decimals=None):
    rng = np.random.default_rng(seed)
    y_true = rng.normal(size=rows)
    y_pred = rng.uniform(-2, 2) * y_true + rng.normal(size=rows)
    if decimals is not None:
        y_true, y_pred = y_true.round(decimals), y_pred.round(decimals)
    y_true[:2] = y_pred[:2] = -1.0, 1.0
    return y_true, y_pred


@BOTH
@pytest.mark.parametrize("rows", [3, 20, 2000])
@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_that_of_scipy(metric, reference, rows, decimals, seed):
    y_true, y_pred = columns(rows, seed, decimals)

    assert metric(y_true, y_pred) == pytest.approx(
        float(reference(y_true, y_pred).statistic), abs=1e-12
    )


@pytest.mark.parametrize("offset", [1e6, -1e9, 1e12])
def test_numbers_that_are_large_beside_their_differences_keep_them(offset):
    """They are whole multiples of 2^-10, so to take the offset away rounds nothing."""
    rng = np.random.default_rng(4)
    small = [np.round(rng.normal(size=30) * 1024) / 1024 for _ in range(2)]
    y_true, y_pred = small[0] + offset, small[0] + small[1] + offset

    expected = stats.pearsonr(y_true - offset, y_pred - offset).statistic
    assert pearson_corrcoef(y_true, y_pred) == pytest.approx(expected, abs=1e-12)


@BOTH
def test_several_columns_have_the_mean_of_their_values(metric, reference):
    pairs = [columns(100, seed, 1) for seed in range(3)]
    y_true, y_pred = (np.column_stack(side) for side in zip(*pairs, strict=True))

    assert metric(y_true, y_pred) == pytest.approx(
        np.mean([reference(t, p).statistic for t, p in pairs]), abs=1e-12
    )


@BOTH
@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200, 1.5e308])
def test_the_size_of_the_numbers_does_not_matter(metric, reference, size):
    y_true, y_pred = columns(50, 9, 2)
    y_pred /= np.abs(y_pred).max()

    # At 1e-310 a double has few digits left, which the ranks do not notice.
    assert metric(y_true, y_pred * size) == pytest.approx(metric(y_true, y_pred), abs=1e-9)


def test_an_offset_far_larger_than_the_differences_is_taken_away_first():
    y_true, y_pred = columns(500, 10, 2)

    assert pearson_corrcoef(y_true, y_pred + 1e6) == pytest.approx(
        pearson_corrcoef(y_true, y_pred), abs=1e-9
    )


def test_neighbouring_doubles_are_not_a_constant():
    y_pred = np.array([1.0, np.nextafter(1.0, 2.0), 1.0])

    assert pearson_corrcoef(np.array([0.0, 1.0, 0.0]), y_pred) == pytest.approx(1.0)


@BOTH
@pytest.mark.parametrize("value", [0.0, 0.1, -1.7e308])
def test_a_constant_prediction_has_correlation_zero(metric, reference, value):
    assert metric(np.array([1.0, 2.0, 4.0]), np.full(3, value)) == 0.0


@BOTH
def test_constant_answers_are_refused(metric, reference):
    with pytest.raises(ValueError, match="the answers are constant"):
        metric(np.full(3, 0.1), np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_rounding_does_not_lead_out_of_the_range(slope):
    """The quotient is 1.0000000000000002 here before it is held in range."""
    y_true = np.random.default_rng(1).normal(size=5)

    assert pearson_corrcoef(y_true, slope * y_true + 3 * np.sign(slope)) == np.sign(slope)
