"""Overlap of runs against the same overlap of plain pixels."""

import numpy as np
import pytest
from sklearn import metrics as sk

from app.metrics.arrays import Masks
from app.metrics.segmentation import (
    dice_score,
    jaccard_score,
    mask_fbeta_score,
    mean_iou_precision_score,
)
from tests.metrics.samples import PIXELS, masks_from_pixels, random_masks


def pixels_of(masks):
    dense = np.zeros((len(masks), masks.pixels), dtype=bool)
    for row in range(len(masks)):
        for run in range(masks.offsets[row], masks.offsets[row + 1]):
            start = masks.starts[run]
            dense[row, start : start + masks.lengths[run]] = True
    return dense


@pytest.mark.parametrize("rows", [1, 5, 200])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_overlap_of_the_pixels(rows, seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = random_masks(rng, rows), random_masks(rng, rows)
    pixels = pixels_of(y_true), pixels_of(y_pred)

    # Of each row alone, then their mean.
    dice = sk.f1_score(*pixels, average="samples", zero_division=1.0)
    jaccard = sk.jaccard_score(*pixels, average="samples", zero_division=1.0)

    assert dice_score(y_true, y_pred) == pytest.approx(dice, abs=1e-12)
    assert jaccard_score(y_true, y_pred) == pytest.approx(jaccard, abs=1e-12)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_beta_and_dice_of_all_pixels_are_scikit_learns(beta):
    rng = np.random.default_rng(5)
    y_true, y_pred = random_masks(rng, 60), random_masks(rng, 60)
    true, predicted = pixels_of(y_true), pixels_of(y_pred)

    f_beta = sk.fbeta_score(true, predicted, beta=beta, average="samples", zero_division=0.0)
    dice = sk.f1_score(true.ravel(), predicted.ravel())

    assert mask_fbeta_score(y_true, y_pred, beta=beta) == pytest.approx(f_beta, abs=1e-12)
    assert dice_score(y_true, y_pred, average="micro") == pytest.approx(dice, abs=1e-12)


def test_the_share_of_thresholds_is_the_mean_of_rows_and_a_threshold_itself_is_not_exceeded():
    twenty = np.ones((23, 20), dtype=bool)
    predicted = np.arange(20) < np.arange(23)[:, None]  # row n has n of the 20 pixels, at most 20
    predicted[21:], twenty[21] = False, False  # both empty; one empty

    # n twentieths exceed 0.5, 0.55 and so on from 11 of them on: one threshold more for each.
    shares = [max(0, n - 10) / 10 for n in range(21)]

    assert mean_iou_precision_score(
        masks_from_pixels(twenty), masks_from_pixels(predicted)
    ) == pytest.approx(np.mean([*shares, 1.0, 0.0]), abs=1e-12)


def test_the_samples_are_the_pixels_they_were_made_of():
    rng = np.random.default_rng(7)
    dense = rng.random((30, PIXELS)) < 0.4

    assert (pixels_of(masks_from_pixels(dense, rng)) == dense).all()


@pytest.mark.parametrize("metric", [dice_score, jaccard_score])
@pytest.mark.parametrize(
    ("true", "predicted", "score"),
    [
        ("....", "....", 1.0),  # both empty
        ("....", "x...", 0.0),
        ("x...", "....", 0.0),
        ("xxxx", "xxxx", 1.0),
        ("xx..", "..xx", 0.0),  # touching is not overlapping
    ],
)
def test_an_edge_case_is_as_agreed(metric, true, predicted, score):
    y_true, y_pred = (
        masks_from_pixels(np.array([[c == "x" for c in text]])) for text in (true, predicted)
    )

    assert metric(y_true, y_pred) == score
    if metric is dice_score:
        assert metric(y_true, y_pred, average="micro") == score


def test_a_full_mask_does_not_reach_into_the_next_row():
    y_true = masks_from_pixels(np.array([[True] * 4, [False] * 4]))
    y_pred = masks_from_pixels(np.array([[False] * 4, [True] * 4]))

    assert dice_score(y_true, y_pred) == 0.0


def test_a_mask_too_large_to_unpack_is_no_trouble():
    pixels = 10**12
    row = np.array([0, 1])
    y_true = Masks(np.array([0]), np.array([pixels // 2]), row, pixels)
    y_pred = Masks(np.array([pixels // 4]), np.array([pixels // 2]), row, pixels)

    assert dice_score(y_true, y_pred) == 0.5
    assert jaccard_score(y_true, y_pred) == pytest.approx(1 / 3)


@pytest.mark.parametrize("beta", [2_000, 20_000_000, 10**18])
def test_f_beta_of_a_whole_number_is_that_of_the_same_double(beta: int) -> None:
    """Its square was multiplied in int64: the score was below 0."""
    row = np.array([0, 1])
    truth = Masks(np.array([0]), np.array([40_000]), row, 2**36)
    guess = Masks(np.array([20_000]), np.array([40_000]), row, 2**36)

    # (1 + beta^2) 20,000 / (beta^2 40,000 + 40,000) is a half, whatever beta is.
    assert mask_fbeta_score(truth, guess, beta=beta) == pytest.approx(0.5, abs=1e-12)
