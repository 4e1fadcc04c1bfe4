"""MAP@k against a slow reference that follows the definition row by row."""

from itertools import pairwise

import numpy as np
import pytest

from app.metrics.arrays import Lists
from app.metrics.ranking import mean_average_precision_at_k_score, places_of_items
from tests.metrics.samples import random_lists


def as_lists(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    return Lists(np.array([item for row in rows for item in row], dtype=np.int64), offsets)


def as_rows(lists):
    return [lists.codes[a:b].tolist() for a, b in pairwise(lists.offsets)]


def average_precision(relevant, ranked, k):
    if not relevant:
        return 0.0
    total, hits = 0.0, 0
    for i, item in enumerate(ranked[:k]):
        if item in relevant and item not in ranked[:i]:
            hits += 1
            total += hits / (i + 1)
    return total / min(len(set(relevant)), k)


@pytest.mark.parametrize("k", [1, 3, 5, 100])
@pytest.mark.parametrize(("rows", "items", "longest"), [(1, 3, 4), (40, 5, 6), (300, 1000, 9)])
@pytest.mark.parametrize("seed", range(5))
def test_it_follows_the_definition(k, rows, items, longest, seed):
    rng = np.random.default_rng(seed)
    relevant = random_lists(rng, rows, items, longest)
    ranked = random_lists(rng, rows, items + 2, longest + 3)
    if not len(relevant.codes):
        relevant = as_lists([[0]] * rows)
    pairs = zip(as_rows(relevant), as_rows(ranked), strict=True)

    expected = np.mean([average_precision(r, p, k) for r, p in pairs])

    assert mean_average_precision_at_k_score(relevant, ranked, k=k) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize(
    ("relevant", "ranked", "k", "score"),
    [
        ([[1]], [[1, 2, 3]], 3, 1.0),
        ([[1]], [[2, 3, 1]], 3, 1 / 3),
        ([[1]], [[2, 3, 1]], 2, 0.0),
        ([[1, 2]], [[1, 1, 2]], 3, (1 + 2 / 3) / 2),  # the repeat takes a place and no credit
        ([[1, 2, 3]], [[3, 1]], 2, 1.0),  # more relevant items than k
        ([[1, 2]], [[]], 5, 0.0),
        ([[], [4]], [[4], [4]], 5, 0.5),  # no relevant item counts 0
    ],
)
def test_a_case_worked_out_by_hand(relevant, ranked, k, score):
    ours = mean_average_precision_at_k_score(as_lists(relevant), as_lists(ranked), k=k)

    assert ours == pytest.approx(score)


def test_an_item_is_relevant_only_in_its_own_row():
    relevant, ranked = as_lists([[1], [2]]), as_lists([[2], [1]])

    assert mean_average_precision_at_k_score(relevant, ranked, k=5) == 0.0


def test_answers_without_any_relevant_item_are_refused():
    with pytest.raises(ValueError, match="no row of the answers has a relevant item"):
        mean_average_precision_at_k_score(as_lists([[], []]), as_lists([[1], [2]]), k=5)


@pytest.mark.parametrize(
    ("true", "submitted", "places"),
    [
        ([[4, 2], [3]], [[2, 4], [3]], [1, 0, 0]),
        ([[1, 2], [2, 1]], [[2, 1], [2, 1]], [1, 0, 0, 1]),  # items that stand in several rows
        ([[0, 1]], [[0, 7]], None),  # an item of no row, in the place of one that is missing
        ([[1], [2]], [[2], [1]], None),
        ([[1, 2]], [[1, 1]], None),
        ([[1, 2], [3]], [[1], [2, 3]], None),
    ],
)
def test_a_row_orders_its_own_items_each_once(true, submitted, places):
    found = places_of_items(as_lists(true), as_lists(submitted))

    assert (None if found is None else found.tolist()) == places
