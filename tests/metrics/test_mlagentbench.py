"""The metrics that MLAgentBench's tasks brought: small cases worked by hand, and plain counts."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from app.domain.competition import parse_competition
from app.metrics import bind, problems
from tests.metrics.samples import masks_from_pixels

SMAPE = "symmetric_mean_absolute_percentage_error"


def columns(*rows):
    return np.array(rows, dtype=float, order="F")


def argmax_accuracy(y_true, y_pred):
    return bind("argmax_accuracy_score", {})(y_true, y_pred)


def test_the_largest_column_is_the_class():
    truth = columns([1, 0], [0, 1], [0, 1], [1, 0])
    found = columns([0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8])

    assert argmax_accuracy(truth, found) == 0.5
    assert argmax_accuracy(truth, truth) == 1.0
    assert argmax_accuracy(truth, 1 - truth) == 0.0


def test_of_equal_columns_the_first_counts():
    first, second = columns([1, 0, 0]), columns([0, 1, 0])

    assert argmax_accuracy(first, columns([0.4, 0.4, 0.2])) == 1.0
    assert argmax_accuracy(second, columns([0.4, 0.4, 0.2])) == 0.0
    assert argmax_accuracy(second, columns([0.2, 0.4, 0.4])) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_it_is_scikit_learns_accuracy_of_the_classes(seed):
    rng = np.random.default_rng(seed)
    classes, found = rng.integers(0, 10, 300), rng.normal(size=(300, 10)).round(1)

    expected = accuracy_score(classes, found.argmax(axis=1))

    assert argmax_accuracy(np.eye(10)[classes], found) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("odd", [[0, 0], [1, 1], [0.5, 0.5], [2, 0]])
def test_answers_with_another_form_are_refused(odd):
    with pytest.raises(ValueError, match="the answers must"):
        argmax_accuracy(columns([1, 0], odd), columns([1, 0], [1, 0]))


def test_one_column_is_no_class_to_pick():
    toml = """
title = "One"
version = 1
[metric]
name = "argmax_accuracy_score"
[submission]
id = "id"
[submission.columns]
a = { kind = "probability" }
"""
    assert problems(parse_competition("one", toml)) == [
        "argmax_accuracy_score picks a column: declare one for each class"
    ]
    assert problems(parse_competition("two", toml + 'b = { kind = "probability" }')) == []


@pytest.mark.parametrize(
    ("y", "p", "offset", "expected"),
    [
        ([0.0], [2.0], 1.0, 100.0),  # 2 of (1 + 3) / 2
        ([0.0], [0.0], 1.0, 0.0),
        ([4.0], [4.0], 0.0, 0.0),
        ([0.0], [0.0], 0.0, 0.0),  # nothing of nothing
        ([0.0], [5.0], 0.0, 200.0),  # the worst there is
        ([5.0], [-5.0], 0.0, 200.0),
        ([3.0, 7.0], [1.0, 7.0], 1.0, 100.0 / 3.0),  # (2 of 3 + 0) / 2
        ([10.0, 0.0, 3.0], [8.0, 1.0, 3.0], 1.0, 100 * (2 / 10 + 1 / 1.5) / 3),
        ([5e-324], [0.0], 0.0, 200.0),
        ([1.7e308], [-1.7e308], 1.0, 200.0),
        ([1.7e308, 1.0], [1.7e308, 1.0], 1.0, 0.0),
    ],
)
def test_smape_worked_by_hand(y, p, offset, expected):
    score = bind(SMAPE, {"offset": offset})(np.array(y), np.array(p))

    assert score == pytest.approx(expected, rel=1e-14)


def test_smape_of_columns_is_their_mean():
    found = bind(SMAPE, {"offset": 1.0})(columns([0, 4]), columns([2, 4]))

    assert found == 50.0


@pytest.mark.parametrize(
    ("true", "predicted", "smooth", "score"),
    [
        ("....", "....", 1e-6, 1.0),  # both empty
        ("....", "x...", 1e-6, 1e-6 / (1 + 1e-6)),
        ("xx..", "....", 1e-6, 1e-6 / (2 + 1e-6)),
        ("xxxx", "xxxx", 1e-6, 1.0),
        ("xx..", ".xx.", 1e-6, (2 + 1e-6) / (4 + 1e-6)),
        ("xx..", ".xx.", 1.0, 0.6),
        ("xx..", "..xx", 0.0, 0.0),
    ],
)
def test_smoothed_dice_of_a_record(true, predicted, smooth, score):
    y_true, y_pred = (
        masks_from_pixels(np.array([[c == "x" for c in text]])) for text in (true, predicted)
    )
    for average in ("samples", "micro"):
        dice = bind("dice_score", {"smooth": smooth, "average": average})
        assert dice(y_true, y_pred) == pytest.approx(score, rel=1e-14)


def test_smoothed_dice_is_the_mean_over_records():
    y_true = masks_from_pixels(np.array([[True, True, False], [False] * 3]))
    y_pred = masks_from_pixels(np.array([[True, False, False], [True, False, False]]))

    found = bind("dice_score", {"smooth": 1e-6})(y_true, y_pred)

    assert found == pytest.approx(((2 + 1e-6) / (3 + 1e-6) + 1e-6 / (1 + 1e-6)) / 2, rel=1e-14)


@pytest.mark.parametrize("smooth", [-1e-6, float("nan"), float("inf"), "1"])
def test_a_smoothing_that_makes_no_sense_is_refused(smooth):
    with pytest.raises(ValueError, match="smooth"):
        bind("dice_score", {"smooth": smooth})
