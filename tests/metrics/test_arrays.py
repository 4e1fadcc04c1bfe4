"""Flat arrays of rows that hold several things: selecting, reordering, summing."""

from itertools import pairwise

import numpy as np
import pytest

from app.metrics.arrays import Boxes, Lists, Masks, mean_over_columns, row_of_each, sum_by_row
from tests.metrics.samples import random_lists, random_masks, random_offsets


def rows_of(values, offsets):
    return [values[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize(
    "picked", [[], [3], [0, 1, 2, 3, 4, 5], [5, 4, 4, 0], [2] * 9, [-1, -2, -3]]
)
def test_lists_take_rows_in_the_order_asked_for(picked):
    lists = random_lists(np.random.default_rng(0), rows=6, items=9, longest=3)
    before = rows_of(lists.codes, lists.offsets)

    taken = lists.take(np.array(picked, dtype=np.int64))

    assert len(taken) == len(picked)
    assert rows_of(taken.codes, taken.offsets) == [before[row] for row in picked]


def test_masks_take_rows_with_their_runs_and_size():
    masks = random_masks(np.random.default_rng(1), rows=8)
    picked = [7, 0, 0, 3]

    taken = masks.take(np.array(picked))

    assert isinstance(taken, Masks)
    assert (len(masks), len(taken), taken.pixels) == (8, 4, masks.pixels)
    for part in ("starts", "lengths"):
        before = rows_of(getattr(masks, part), masks.offsets)
        assert rows_of(getattr(taken, part), taken.offsets) == [before[row] for row in picked]


def test_boxes_take_rows_with_their_fields():
    offsets = random_offsets(np.random.default_rng(2), 5, 3)
    boxes = Boxes(np.random.default_rng(3).random((offsets[-1], 2)), offsets, ("x", "y"))
    before = rows_of(boxes.values, offsets)

    taken = boxes.take(np.array([4, 1]))

    assert (len(taken), taken.fields) == (2, ("x", "y"))
    assert rows_of(taken.values, taken.offsets) == [before[4], before[1]]


def test_no_rows_at_all_are_empty_lists():
    empty = Lists(np.array([], dtype=np.int64), np.array([0]))

    assert len(empty) == len(empty.take(np.array([], dtype=np.int64))) == 0


def test_each_thing_knows_its_row_and_each_row_its_sum():
    lists = random_lists(np.random.default_rng(4), rows=50, items=9, longest=3)
    rows = rows_of(lists.codes, lists.offsets)

    assert row_of_each(lists.offsets).tolist() == [i for i, row in enumerate(rows) for _ in row]
    assert sum_by_row(lists.codes, lists.offsets).tolist() == [sum(row) for row in rows]


def test_several_columns_have_the_mean_of_their_values():
    answers = np.array([[1.0, 10.0], [2.0, 20.0]])

    assert mean_over_columns(lambda t, p: float(t.sum()), answers, answers) == 16.5
    assert mean_over_columns(lambda t, p: float(t.sum()), answers[:, 1], answers[:, 1]) == 30.0
