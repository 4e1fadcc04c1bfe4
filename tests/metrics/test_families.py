"""Metrics that need a form of their own, each against a library or a plain count."""

import itertools

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from app.metrics import METRICS, bind
from app.metrics.arrays import Boxes, Lists
from app.metrics.points import BOX, POINT

lrap = METRICS["label_ranking_average_precision_score"].function


@pytest.mark.parametrize("seed", range(5))
def test_the_precision_of_ranked_labels_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    true = (rng.random((40, 7)) < 0.3).astype(float)
    scores = rng.random((40, 7)).round(1)  # with ties

    expected = sklearn_metrics.label_ranking_average_precision_score(true, scores)

    assert lrap(true, scores) == pytest.approx(expected, abs=1e-12)


def test_labels_that_weigh_alike_are_rows_weighted_by_their_labels():
    rng = np.random.default_rng(7)
    true = (rng.random((40, 7)) < 0.3).astype(float)
    scores = rng.random((40, 7))
    weights = true.sum(axis=1)

    expected = sklearn_metrics.label_ranking_average_precision_score(
        true, scores, sample_weight=weights
    )

    assert lrap(true, scores, weights="labels") == pytest.approx(expected, abs=1e-12)


def test_kendalls_tau_counts_the_pairs_in_the_wrong_order():
    rng = np.random.default_rng(3)
    sizes = [1, 2, 9, 1600, 30, 5, 9, 0, 80]  # the long row is counted by halves
    orders = [rng.permutation(size) for size in sizes]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    true = Lists(np.concatenate([np.arange(size) for size in sizes]), offsets)
    wrong = sum(sum(a > b for a, b in itertools.combinations(order, 2)) for order in orders)

    score = bind("kendall_tau_corrcoef", {})(true, Lists(np.concatenate(orders), offsets))

    assert score == pytest.approx(1 - 4 * wrong / sum(n * (n - 1) for n in sizes), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_one_band_is_the_plain_area(seed):
    rng = np.random.default_rng(seed)
    true, scores = rng.integers(0, 2, 200) * 1.0, rng.normal(size=200).round(1)
    one_band = bind("weighted_roc_auc_score", {"thresholds": [0.0, 1.0], "weights": [3.0]})

    expected = sklearn_metrics.roc_auc_score(true, scores)

    assert one_band(true, scores) == pytest.approx(expected, abs=1e-12)


def test_bands_of_one_weight_are_the_plain_area():
    rng = np.random.default_rng(9)
    true, scores = rng.integers(0, 2, 200) * 1.0, rng.normal(size=200)
    bands = bind("weighted_roc_auc_score", {"thresholds": [0.0, 0.4, 1.0], "weights": [1.0, 1.0]})

    assert bands(true, scores) == pytest.approx(sklearn_metrics.roc_auc_score(true, scores))


@pytest.mark.parametrize(
    ("scores", "area"),
    [
        ([0.9, 0.8, 0.7, 0.6], 2 * 0.4 + 0.5 * 0.1 + 0.5 * 0.6),  # two steps, at 0 and 0.5
        ([0.5, 0.5, 0.5, 0.5], 2 * (0.08 + 0.6 * 0.4) + 0.18),  # the diagonal
        ([0.1, 0.9, 0.2, 0.8], 0.0),
    ],
)
def test_a_band_has_the_area_above_its_lower_bound(scores, area):
    bands = bind("weighted_roc_auc_score", {"thresholds": [0.0, 0.4, 1.0], "weights": [2.0, 1.0]})
    true = np.array([1.0, 0.0, 1.0, 0.0])

    assert bands(true, np.array(scores)) == pytest.approx(area / (2 * 0.4 + 0.6), abs=1e-12)


@pytest.mark.parametrize(
    ("true", "reason"),
    [([0.0, 0.0], "all the same"), ([1.0, 1.0], "all the same"), ([0.0, 2.0], "must be 0 or 1")],
)
def test_bands_need_answers_of_both_classes(true, reason):
    bands = bind("weighted_roc_auc_score", {"thresholds": [0.0, 1.0], "weights": [1.0]})

    with pytest.raises(ValueError, match=reason):
        bands(np.array(true), np.array([0.1, 0.9]))


@pytest.mark.parametrize(
    ("true", "reason"), [([0.0, 2.0, 1.0], "must be 0 or 1"), ([0.0, 0.0, 0.0], "have none")]
)
def test_the_precision_of_ranked_labels_needs_true_labels(true, reason):
    with pytest.raises(ValueError, match=reason):
        lrap(np.array([true]), np.array([[0.1, 0.2, 0.3]]))


def test_the_angle_is_that_of_the_vectors():
    rng = np.random.default_rng(5)
    true, found = rng.random((2, 50, 2)) * np.pi

    def vectors(angles):
        azimuth, zenith = angles.T
        around = np.sin(zenith)
        return np.column_stack([around * np.cos(azimuth), around * np.sin(azimuth), np.cos(zenith)])

    a, b = vectors(true), vectors(found)
    expected = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1)).mean()

    assert bind("mean_angular_error", {})(true, found) == pytest.approx(expected, abs=1e-9)


def test_the_same_and_the_opposite_direction_have_an_angle():
    """The cosine of some is beyond 1 or -1 by rounding, where there is no angle."""
    same = np.random.default_rng(5).random((200, 2)) * np.pi
    opposite = np.array([np.pi, np.pi]) + same * [1.0, -1.0]

    assert bind("mean_angular_error", {})(same, same) == pytest.approx(0.0, abs=1e-7)
    assert bind("mean_angular_error", {})(same, opposite) == pytest.approx(np.pi, abs=1e-7)


@pytest.mark.parametrize(
    ("point", "score"),
    [((7, 2, 2), 1.0), ((8, 2, 2), 0.0), ((7, 0, 2), 0.0), ((7, 4, 2), 0.0), ((7, 2, 4), 0.0)],
)
def test_a_point_must_lie_strictly_inside_a_box_of_its_label(point, score):
    boxes = Boxes(np.array([[7.0, 0, 0, 4, 4]]), np.array([0, 1]), BOX)
    points = Boxes(np.array([point], dtype=float), np.array([0, 1]), POINT)

    assert bind("point_in_box_f1_score", {})(boxes, points) == score
