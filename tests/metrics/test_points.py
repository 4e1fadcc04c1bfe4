"""Points in boxes: every way of matching finds what the plain one does, in like time."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.metrics import points
from app.metrics.arrays import Boxes
from app.metrics.points import BOX, POINT, point_in_box_f1_score, rows_of_found

SMALL = st.integers(0, 6)
HALVES = st.integers(-1, 14).map(lambda number: number / 2)
BOXES = st.lists(st.tuples(st.integers(0, 2), SMALL, SMALL, SMALL, SMALL), max_size=12)
POINTS = st.lists(st.tuples(st.integers(0, 3), HALVES, HALVES), max_size=30)


def as_boxes(rows: list, fields: tuple[str, ...]) -> Boxes:
    values = np.array([one for row in rows for one in row], dtype=float).reshape(-1, len(fields))
    return Boxes(values, np.cumsum([0, *map(len, rows)]), fields)


def found_plainly(boxes: list, points: list) -> int:
    """The number of boxes that find a point, by the words of the metric."""
    free = list(points)
    for label, x, y, width, height in boxes:
        inside = (
            p for p in free if p[0] == label and x < p[1] < x + width and y < p[2] < y + height
        )
        point = next(inside, None)
        if point is not None:
            free.remove(point)
    return len(points) - len(free)


@pytest.mark.parametrize("way", ["pairs", "rows", "cells", "cells_of_few"])
@settings(deadline=None)
@given(st.lists(st.tuples(BOXES, POINTS), min_size=1, max_size=4))
def test_each_box_takes_the_first_free_point_inside(way, rows):
    limits = {"MANY_PAIRS": 10**6} if way == "pairs" else {"MANY_PAIRS": -1}
    limits |= {"MANY_IN_ROW": 0} if way.startswith("cells") else {}
    limits |= {"MOST_CELLS": 100} if way == "cells_of_few" else {}
    true = as_boxes([boxes for boxes, _ in rows], BOX)
    predicted = as_boxes([found for _, found in rows], POINT)

    with pytest.MonkeyPatch.context() as patch:
        for name, limit in limits.items():
            patch.setattr(points, name, limit)
        found = np.bincount(rows_of_found(true, predicted), minlength=len(rows))

    assert found.tolist() == [found_plainly(*row) for row in rows]


@pytest.mark.large
def test_many_points_are_not_compared_with_every_box():
    rng = np.random.default_rng(0)
    spread = rng.integers(0, 4000, (300_000, 2))
    predicted = as_boxes([np.column_stack([np.zeros(len(spread)), spread]).tolist()], POINT)

    def seconds(boxes: int) -> float:
        corners = rng.integers(0, 4000, (boxes, 2))
        sizes = rng.integers(40, 100, (boxes, 2))
        true = as_boxes([np.column_stack([np.zeros(boxes), corners, sizes]).tolist()], BOX)
        started = time.process_time()
        assert point_in_box_f1_score(true, predicted) > 0
        return time.process_time() - started

    few = seconds(20)
    assert seconds(600) < 10 * few + 0.2  # it took 30 times as long
