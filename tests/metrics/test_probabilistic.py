"""Probabilities against scikit-learn, with ties, certainties and signed zeros."""

import math

import numpy as np
import pytest
from scipy.special import rel_entr
from sklearn import metrics as sk

from app.metrics.probabilistic import (
    kl_divergence_loss,
    log_loss,
    probabilistic_f1_score,
    roc_auc_score,
)

SCORES = {
    "continuous": lambda rng, n: rng.random(n),
    "some ties": lambda rng, n: rng.random(n).round(2),
    "many ties": lambda rng, n: rng.integers(0, 3, n) / 2,
    "constant": lambda rng, n: np.full(n, 0.5),
    "certain": lambda rng, n: rng.integers(0, 2, n) * 1.0,
    "tiny": lambda rng, n: rng.random(n) ** 200,
    "just below two": lambda rng, n: np.nextafter(2.0, 0) - rng.integers(0, 3, n) * 2.0**-52,
    "up to two": lambda rng, n: rng.integers(0, 5, n) / 2,
    "from two up": lambda rng, n: 2.0 + rng.integers(0, 4, n),
    "of both signs": lambda rng, n: rng.normal(size=n).round(1),
    "huge": lambda rng, n: rng.choice([-1e300, -1.0, 0.0, 1e300], n),
}


def binary_answers(rng, n):
    y_true = (rng.random(n) < 0.3) * 1.0
    y_true[:2] = 0.0, 1.0
    return y_true


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("rows", [2, 3, 50, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_auc_is_that_of_scikit_learn(scores, rows, seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = binary_answers(rng, rows), scores(rng, rows)

    assert roc_auc_score(y_true, y_pred) == pytest.approx(
        sk.roc_auc_score(y_true, y_pred), abs=1e-12
    )


def test_auc_of_several_columns_is_the_macro_average_of_scikit_learn():
    rng = np.random.default_rng(1)
    y_true = np.column_stack([binary_answers(rng, 200) for _ in range(4)])
    y_pred = rng.random((200, 4)).round(2)

    assert roc_auc_score(y_true, y_pred) == pytest.approx(
        sk.roc_auc_score(y_true, y_pred, average="macro"), abs=1e-12
    )


def test_auc_does_not_change_by_a_bit_when_rows_are_shuffled():
    rng = np.random.default_rng(2)
    y_true, y_pred = binary_answers(rng, 999), rng.random(999)
    rows = rng.permutation(999)

    assert roc_auc_score(y_true[rows], y_pred[rows]) == roc_auc_score(y_true, y_pred)


def test_auc_counts_the_two_zeros_as_a_tie():
    assert roc_auc_score(np.array([0.0, 1.0]), np.array([0.0, -0.0])) == 0.5
    assert roc_auc_score(np.array([0.0, 1.0]), np.array([-0.0, 0.0])) == 0.5


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_auc_is_undefined_when_all_answers_are_the_same(answer):
    with pytest.raises(ValueError, match="the answers are all the same"):
        roc_auc_score(np.full(3, answer), np.array([0.1, 0.2, 0.3]))


@pytest.mark.parametrize("metric", [roc_auc_score, log_loss])
def test_answers_other_than_zero_and_one_are_refused(metric):
    with pytest.raises(ValueError, match="the answers must be 0 or 1"):
        metric(np.array([0.0, 1.0, 0.5]), np.array([0.1, 0.2, 0.3]))


@pytest.mark.parametrize("name", ["continuous", "some ties", "constant", "certain", "tiny"])
@pytest.mark.parametrize("rows", [2, 3, 50, 3000])
def test_binary_log_loss_is_that_of_scikit_learn(name, rows):
    rng = np.random.default_rng(3)
    y_true, y_pred = binary_answers(rng, rows), SCORES[name](rng, rows)

    assert log_loss(y_true, y_pred) == pytest.approx(
        sk.log_loss(y_true, y_pred, labels=[0, 1]), rel=1e-12, abs=1e-12
    )


def one_hot(rng, rows, classes):
    return np.eye(classes)[np.concatenate([np.arange(classes), rng.integers(0, classes, rows)])]


@pytest.mark.parametrize("classes", [2, 3, 9])
@pytest.mark.parametrize("sharpness", [0.001, 0.1, 10.0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_log_loss_of_classes_is_that_of_scikit_learn(classes, sharpness, order):
    rng = np.random.default_rng(4)
    y_true = one_hot(rng, 300, classes)
    y_pred = rng.dirichlet(np.full(classes, sharpness), len(y_true))
    y_pred[0] = np.eye(classes)[0]  # certain and right
    y_pred[1] = np.eye(classes)[0]  # certain and wrong

    ours = log_loss(np.array(y_true, order=order), np.array(y_pred, order=order))

    assert ours == pytest.approx(sk.log_loss(y_true, y_pred), rel=1e-12)


def test_rows_that_are_off_by_rounding_are_scored_as_they_are():
    rng = np.random.default_rng(5)
    y_true = one_hot(rng, 300, 3)
    y_pred = rng.dirichlet(np.ones(3), len(y_true)).round(6)
    truth = np.clip(y_pred[y_true == 1], np.finfo(float).eps, None)

    assert (y_pred.sum(axis=1) != 1.0).any()
    assert log_loss(y_true, y_pred) == pytest.approx(-np.log(truth).mean(), rel=1e-12)


def test_rows_that_do_not_sum_to_one_are_rescaled():
    rng = np.random.default_rng(6)
    y_true = one_hot(rng, 300, 3)
    y_pred = rng.dirichlet(np.ones(3), len(y_true))
    scale = rng.uniform(0.1, 0.9, (len(y_true), 1))

    assert log_loss(y_true, y_pred * scale) == pytest.approx(log_loss(y_true, y_pred), rel=1e-12)


@pytest.mark.parametrize("factor", [0.9991, 1.0001, 1.0009])
def test_a_file_gains_nothing_by_multiplying_its_probabilities(factor):
    rng = np.random.default_rng(7)
    y_true = one_hot(rng, 300, 3)
    y_pred = rng.dirichlet(np.ones(3), len(y_true))

    assert log_loss(y_true, y_pred * factor) == pytest.approx(log_loss(y_true, y_pred), rel=1e-12)


def test_a_row_of_ones_gains_nothing():
    y_true = np.eye(4)

    assert log_loss(y_true, np.ones((4, 4))) == pytest.approx(math.log(4))


def test_a_row_of_zeros_is_as_bad_as_can_be():
    eps = np.finfo(float).eps

    assert log_loss(np.eye(2), np.zeros((2, 2))) == pytest.approx(-math.log(eps))


@pytest.mark.parametrize("row", [[0.0, 0.0], [1.0, 1.0]])
def test_answers_that_are_not_one_hot_are_refused(row):
    with pytest.raises(ValueError, match="must have one 1"):
        log_loss(np.array([[1.0, 0.0], row]), np.full((2, 2), 0.5))


def test_certainty_is_clipped_as_in_scikit_learn():
    y_true, y_pred = np.array([0.0, 1.0]), np.array([0.0, 1.0])

    assert log_loss(y_true, y_pred) == pytest.approx(sk.log_loss(y_true, y_pred), rel=1e-12, abs=0)
    assert log_loss(y_true, y_pred) > 0.0


def test_log_loss_of_one_class_alone_is_defined():
    assert log_loss(np.ones(2), np.array([0.5, 0.25])) == pytest.approx(math.log(8) / 2)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-310, 5e-324])
def test_a_divergence_from_certainty_of_the_wrong_class_is_a_number(epsilon):
    truth, certain = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])

    found = kl_divergence_loss(truth, certain, epsilon=epsilon)

    assert found == pytest.approx(-math.log(epsilon))


def test_divergence_of_one_column_is_that_of_its_two_classes():
    rng = np.random.default_rng(4)
    y, p = np.append(rng.random(20), [0.0, 1.0, 1.0]), np.append(rng.random(21), [1.0, 0.0])
    least = np.clip([p, 1 - p], 1e-15, 1 - 1e-15)

    expected = rel_entr([y, 1 - y], least).sum() / 23

    assert kl_divergence_loss(y, p) == pytest.approx(expected)
    two = kl_divergence_loss(np.column_stack([y, 1 - y]), np.column_stack([p, 1 - p]))
    assert two == pytest.approx(expected)


def test_f1_of_denormal_probabilities_is_a_number():
    # Their precision and recall would both be 0, and F1 then 0 / 0.
    y_true, y_pred = np.array([1.0, 1.0, 0.0, 0.0]), np.array([5e-324, 0.0, 1.0, 1.0])

    assert probabilistic_f1_score(y_true, y_pred) == pytest.approx(0.0, abs=1e-300)
    assert probabilistic_f1_score(y_true, np.zeros(4)) == 0.0


@pytest.mark.parametrize("predicted", [[0.0, 0.0], [0.5, 0.25]])
def test_f1_is_undefined_where_the_answers_have_no_one(predicted):
    with pytest.raises(ValueError, match="undefined"):
        probabilistic_f1_score(np.zeros(2), np.array(predicted))
