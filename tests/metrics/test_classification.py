"""Classes against scikit-learn, with few, many, missing and unknown classes."""

import numpy as np
import pytest
from sklearn import metrics as sk

from app.metrics.class_codes import code_by_labels, code_classes
from app.metrics.classification import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
)

CLASSES = {
    "two": [0, 1],
    "five": [0, 1, 2, 3, 4],
    "with gaps": [-3, 0, 7, 8],
    "far apart": [-(10**12), 0, 5, 10**15],
    "single in the answers": [4] * 30 + [5, 6],
}


def columns(classes, rows, seed, dtype=np.int64, right=0.6):
    """Answers and a submission that agree on about `right` of the rows."""
    rng = np.random.default_rng(seed)
    y_true = rng.choice(classes, rows)
    y_true[:2] = classes[0], classes[-1]
    y_pred = np.where(rng.random(rows) < right, y_true, rng.choice([*classes, 99], rows))
    return y_true.astype(dtype), y_pred.astype(dtype)


every_form = [
    pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES),
    pytest.mark.parametrize("rows", [2, 7, 1000]),
    pytest.mark.parametrize("dtype", [np.int64, np.float64]),
    pytest.mark.parametrize("right", [0.0, 0.7]),
]


def in_every_form(test):
    for mark in every_form:
        test = mark(test)
    return test


@in_every_form
def test_accuracy_is_that_of_scikit_learn(classes, rows, dtype, right):
    y_true, y_pred = columns(classes, rows, 1, dtype, right)

    assert accuracy_score(y_true, y_pred) == pytest.approx(
        sk.accuracy_score(y_true, y_pred), abs=1e-12
    )


def test_accuracy_compares_texts_exactly():
    y_true = np.array(["a", "A", "é", ""], dtype=object)
    y_pred = np.array(["a", "a", "e\u0301", ""], dtype=object)

    assert accuracy_score(y_true, y_pred) == 0.5


@in_every_form
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_f1_is_that_of_scikit_learn(classes, rows, dtype, right, average):
    y_true, y_pred = columns(classes, rows, 2, dtype, right)

    assert f1_score(y_true, y_pred, average=average) == pytest.approx(
        sk.f1_score(y_true, y_pred, average=average, zero_division=0.0), abs=1e-12
    )


@pytest.mark.parametrize("rows", [2, 7, 1000])
@pytest.mark.parametrize("right", [0.0, 0.7, 1.0])
def test_binary_f1_is_that_of_scikit_learn(rows, right):
    y_true, y_pred = columns([0, 1], rows, 3, np.float64, right)
    y_pred[y_pred == 99] = 0.0

    assert f1_score(y_true, y_pred, average="binary") == pytest.approx(
        sk.f1_score(y_true, y_pred, average="binary", zero_division=0.0), abs=1e-12
    )


def test_binary_f1_without_a_positive_prediction_is_zero():
    assert f1_score(np.array([1.0, 0.0]), np.zeros(2), average="binary") == 0.0


def test_binary_f1_is_undefined_without_a_positive_answer():
    with pytest.raises(ValueError, match="the answers have no 1"):
        f1_score(np.zeros(2), np.ones(2), average="binary")


@in_every_form
def test_matthews_is_that_of_scikit_learn(classes, rows, dtype, right):
    y_true, y_pred = columns(classes, rows, 4, dtype, right)

    assert matthews_corrcoef(y_true, y_pred) == pytest.approx(
        sk.matthews_corrcoef(y_true, y_pred), abs=1e-12
    )


@in_every_form
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(classes, rows, dtype, right, weights):
    y_true, y_pred = columns(classes, rows, 5, dtype, right)

    assert cohen_kappa_score(y_true, y_pred, weights=weights) == pytest.approx(
        sk.cohen_kappa_score(y_true, y_pred, weights=weights), abs=1e-12
    )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 99], [99, 0, 3, 2, 1], [-1, 0, 1, 2, 3, 4, 99]])
def test_kappa_by_given_labels_is_that_of_scikit_learn(weights, labels):
    y_true, y_pred = columns([0, 2, 3], 500, 6, np.float64)

    ours = cohen_kappa_score(y_true, y_pred, weights=weights, labels=labels)

    assert ours == pytest.approx(
        sk.cohen_kappa_score(y_true, y_pred, weights=weights, labels=labels), abs=1e-12
    )


def test_kappa_refuses_a_value_that_is_not_among_the_labels():
    with pytest.raises(ValueError, match="not among the labels"):
        cohen_kappa_score(np.array([0.0, 1.0]), np.array([0.0, 7.0]), labels=[0, 1])


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_as_many_classes_as_rows_need_no_more_than_a_moment(weights):
    rows = 200_000
    y_true = np.arange(rows, dtype=np.float64)
    y_pred = y_true * 1e12 + 0.5

    assert abs(cohen_kappa_score(y_true, y_pred, weights=weights)) < 1.0
    assert f1_score(y_true, y_pred) == 0.0
    assert abs(matthews_corrcoef(y_true, y_pred)) < 1e-4


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_of_a_constant_prediction_is_zero(weights):
    rng = np.random.default_rng(8)

    for value in range(7):
        y_true = rng.integers(0, 7, 1001) * 1.0
        assert cohen_kappa_score(y_true, np.full(1001, value), weights=weights) == 0.0


def test_matthews_of_a_constant_prediction_is_zero():
    assert matthews_corrcoef(np.array([0, 1, 2]), np.array([1, 1, 1])) == 0.0


@pytest.mark.parametrize("metric", [cohen_kappa_score, matthews_corrcoef])
def test_answers_that_are_all_the_same_are_refused(metric):
    with pytest.raises(ValueError, match="the answers are all the same"):
        metric(np.array([3, 3, 3]), np.array([3, 1, 2]))


@pytest.mark.parametrize("values", [[0, 1, 2], [5, 9, 7], [0.25, 1.25, 7.5], [-1e300, 0, 1e300]])
def test_classes_are_numbered_in_ascending_order_without_gaps(values):
    y_true, y_pred = np.array(values), np.array(values[::-1] + values[:1])

    t, p, classes = code_classes(y_true, y_pred)

    found, expected = np.unique(np.concatenate([y_true, y_pred]), return_inverse=True)
    assert np.concatenate([t, p]).tolist() == expected.tolist()
    assert classes == len(found)


def test_a_class_between_whole_numbers_is_one_of_its_own():
    t, p, classes = code_classes(np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.0, 1.5]))

    assert (t.tolist(), p.tolist(), classes) == ([0, 2, 4], [1, 2, 3], 5)


def test_labels_number_the_classes_in_the_order_given():
    t, p, classes = code_by_labels(np.array([3.0, -1.0]), np.array([8.0, 3.0]), [8, -1, 3])

    assert (t.tolist(), p.tolist(), classes) == ([2, 1], [0, 2], 3)
