"""Average precision and the Brier score against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as sk

from app.metrics.binary import average_precision_score, brier_score_loss
from tests.metrics.test_probabilistic import SCORES, binary_answers


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("rows", [2, 3, 50, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_average_precision_is_that_of_scikit_learn(scores, rows, seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = binary_answers(rng, rows), scores(rng, rows)

    assert average_precision_score(y_true, y_pred) == pytest.approx(
        sk.average_precision_score(y_true, y_pred), abs=1e-12
    )


def test_average_precision_of_several_columns_is_the_macro_average_of_scikit_learn():
    rng = np.random.default_rng(4)
    y_true = np.column_stack([binary_answers(rng, 200) for _ in range(4)])
    y_pred = rng.random((200, 4)).round(2)

    assert average_precision_score(y_true, y_pred) == pytest.approx(
        sk.average_precision_score(y_true, y_pred, average="macro"), abs=1e-12
    )


def test_average_precision_does_not_change_by_a_bit_when_rows_are_shuffled():
    rng = np.random.default_rng(5)
    y_true, y_pred = binary_answers(rng, 999), rng.random(999).round(1)
    rows = rng.permutation(999)

    shuffled = average_precision_score(y_true[rows], y_pred[rows])

    assert shuffled == average_precision_score(y_true, y_pred)


def test_average_precision_is_undefined_without_a_positive_answer():
    with pytest.raises(ValueError, match="the answers have no 1"):
        average_precision_score(np.zeros(3), np.array([0.1, 0.2, 0.3]))


@pytest.mark.parametrize("rows", [2, 3, 50, 3000])
def test_the_brier_score_is_that_of_scikit_learn(rows):
    rng = np.random.default_rng(6)
    y_true, y_pred = binary_answers(rng, rows), rng.random(rows)

    assert brier_score_loss(y_true, y_pred) == pytest.approx(
        sk.brier_score_loss(y_true, y_pred), abs=1e-12
    )


def test_the_brier_score_refuses_answers_other_than_0_and_1():
    with pytest.raises(ValueError, match="the answers must be 0 or 1"):
        brier_score_loss(np.array([0.0, 2.0]), np.array([0.1, 0.2]))
