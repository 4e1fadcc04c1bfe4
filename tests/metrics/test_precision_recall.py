"""Precision, recall and their like against scikit-learn, in every form of classes."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as sk

from app.metrics.precision_recall import (
    balanced_accuracy_score,
    fbeta_score,
    hamming_loss,
    precision_score,
    recall_score,
)
from tests.metrics.test_classification import columns, in_every_form

AVERAGES = pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
SCORES = pytest.mark.parametrize("name", ["precision_score", "recall_score"])
OURS = {"precision_score": precision_score, "recall_score": recall_score}


@in_every_form
@AVERAGES
@SCORES
def test_precision_and_recall_are_those_of_scikit_learn(classes, rows, dtype, right, average, name):
    y_true, y_pred = columns(classes, rows, 11, dtype, right)

    assert OURS[name](y_true, y_pred, average=average) == pytest.approx(
        getattr(sk, name)(y_true, y_pred, average=average, zero_division=0.0), abs=1e-12
    )


@in_every_form
@AVERAGES
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_fbeta_is_that_of_scikit_learn(classes, rows, dtype, right, average, beta):
    y_true, y_pred = columns(classes, rows, 12, dtype, right)

    assert fbeta_score(y_true, y_pred, beta=beta, average=average) == pytest.approx(
        sk.fbeta_score(y_true, y_pred, beta=beta, average=average, zero_division=0.0), abs=1e-12
    )


@in_every_form
def test_balanced_accuracy_is_that_of_scikit_learn(classes, rows, dtype, right):
    y_true, y_pred = columns(classes, rows, 13, dtype, right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "y_pred contains classes not in y_true"
        expected = sk.balanced_accuracy_score(y_true, y_pred)

    assert balanced_accuracy_score(y_true, y_pred) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rows", [2, 7, 1000])
@pytest.mark.parametrize("right", [0.0, 0.7, 1.0])
def test_the_binary_average_is_that_of_scikit_learn(rows, right):
    y_true, y_pred = columns([0, 1], rows, 14, np.float64, right)
    y_pred[y_pred == 99] = 0.0
    options = {"average": "binary", "zero_division": 0.0}

    for name, ours in OURS.items():
        assert ours(y_true, y_pred, average="binary") == pytest.approx(
            getattr(sk, name)(y_true, y_pred, **options), abs=1e-12
        )
    assert fbeta_score(y_true, y_pred, beta=2.0, average="binary") == pytest.approx(
        sk.fbeta_score(y_true, y_pred, beta=2.0, **options), abs=1e-12
    )


def test_binary_is_undefined_without_a_positive_answer():
    for score in (precision_score, recall_score):
        with pytest.raises(ValueError, match="the answers have no 1"):
            score(np.zeros(2), np.ones(2), average="binary")


def test_hamming_loss_is_that_of_scikit_learn_for_one_column_and_for_several():
    rng = np.random.default_rng(15)
    y_true, y_pred = rng.integers(0, 2, (200, 4)), rng.integers(0, 2, (200, 4))

    assert hamming_loss(y_true, y_pred) == pytest.approx(sk.hamming_loss(y_true, y_pred))
    assert hamming_loss(y_true[:, 0], y_pred[:, 0]) == pytest.approx(
        sk.hamming_loss(y_true[:, 0], y_pred[:, 0])
    )
