"""Numbers against scikit-learn, and numbers too large to square."""

import numpy as np
import pytest
from sklearn import metrics as sk

from app.metrics import regression

NAMES = [
    "mean_squared_error",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "mean_absolute_error",
    "median_absolute_error",
    "r2_score",
    "mean_absolute_percentage_error",
    "explained_variance_score",
]
LARGEST = np.finfo(float).max


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(2,), (3,), (1000,), (50, 2), (1001, 5)])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_that_of_scikit_learn(name, shape, scale, order):
    rng = np.random.default_rng(1)
    y_true = (rng.lognormal(size=shape) * scale).astype(float, order=order)
    y_pred = (y_true * rng.lognormal(sigma=0.5, size=shape)).astype(float, order=order)

    ours = getattr(regression, name)(y_true, y_pred)

    assert ours == pytest.approx(getattr(sk, name)(y_true, y_pred), rel=1e-12, abs=1e-12 * scale)


@pytest.mark.parametrize("name", ["r2_score", "explained_variance_score"])
@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_numbers_that_are_large_beside_their_differences_are_as_in_scikit_learn(name, offset):
    """Such as times in seconds: a division by the largest rounded their differences away."""
    rng = np.random.default_rng(4)
    y_true = offset + rng.normal(size=30)
    y_pred = y_true + rng.normal(size=30)

    ours = getattr(regression, name)(y_true, y_pred)

    assert ours == pytest.approx(getattr(sk, name)(y_true, y_pred), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_one_row_has_an_error_but_no_variance(name):
    y_true, y_pred = np.array([3.0]), np.array([5.0])

    if name in ("r2_score", "explained_variance_score"):
        with pytest.raises(ValueError, match="the answers are constant"):
            getattr(regression, name)(y_true, y_pred)
    else:
        assert getattr(regression, name)(y_true, y_pred) == pytest.approx(
            getattr(sk, name)(y_true, y_pred), rel=1e-12
        )


def test_an_error_too_large_to_square_is_still_exact():
    y_true, y_pred = np.zeros(4), np.array([1e200, 0.0, 0.0, 0.0])

    assert regression.root_mean_squared_error(y_true, y_pred) == pytest.approx(5e199, rel=1e-12)


@pytest.mark.parametrize("name", ["mean_squared_error", "mean_absolute_error"])
def test_an_error_beyond_the_largest_double_counts_as_that(name):
    y_true, y_pred = np.full(3, -1.7e308), np.full(3, 1.7e308)

    assert getattr(regression, name)(y_true, y_pred) == LARGEST


@pytest.mark.parametrize("answers", [[2.5] * 3, [0.1] * 3, [-1.7e308, 1.7e308, 0.0]])
def test_answers_without_a_measurable_variance_are_refused(answers):
    with pytest.raises(ValueError, match="R² is undefined"):
        regression.r2_score(np.array(answers), np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_largest_error_is_that_of_scikit_learn(scale):
    rng = np.random.default_rng(8)
    y_true, y_pred = rng.normal(size=(2, 1000)) * scale

    assert regression.max_error(y_true, y_pred) == pytest.approx(sk.max_error(y_true, y_pred))
    two_columns = np.column_stack([y_true, y_pred]), np.column_stack([y_pred, y_pred])
    assert regression.max_error(*two_columns) == pytest.approx(sk.max_error(y_true, y_pred) / 2)


def test_an_answer_of_0_makes_a_huge_but_finite_percentage():
    y_true, y_pred = np.array([0.0, 1.0]), np.array([1.0, 1.0])

    ours = regression.mean_absolute_percentage_error(y_true, y_pred)

    assert ours == pytest.approx(sk.mean_absolute_percentage_error(y_true, y_pred))
    assert ours > 1e15


@pytest.mark.parametrize("name", ["r2_score", "explained_variance_score"])
def test_answers_whose_variance_is_0_for_a_double_have_no_share_explained(name):
    y = np.array([0.0, 1e-200])
    with pytest.raises(ValueError, match="vary beyond all measure"):
        getattr(regression, name)(y, y)


def test_explained_variance_is_blind_to_a_constant_and_undefined_for_constant_answers():
    y_true = np.array([1.0, 2.0, 4.0])

    assert regression.explained_variance_score(y_true, y_true + 5.0) == 1.0
    with pytest.raises(ValueError, match="the answers are constant"):
        regression.explained_variance_score(np.full(3, 2.0), y_true)
