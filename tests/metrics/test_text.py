"""Edit distances against the textbook's table."""

import numpy as np
import pytest

from app.metrics.text import mean_levenshtein_error


def edit_distance(a, b):
    """Wagner and Fischer's table, row by row."""
    above = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        row = [i]
        for j, right in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (left != right)))
        above = row
    return above[-1]


def random_texts(rng, rows, longest):
    alphabet = np.array(list("abcdé語😀 "))
    return np.array(
        ["".join(rng.choice(alphabet, rng.integers(0, longest + 1))) for _ in range(rows)],
        dtype=object,
    )


@pytest.mark.parametrize(("rows", "longest"), [(1, 5), (100, 4), (40, 150)])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_mean_of_the_distances(rows, longest, seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = random_texts(rng, rows, longest), random_texts(rng, rows, longest)

    expected = np.mean([edit_distance(t, p) for t, p in zip(y_true, y_pred, strict=True)])

    assert mean_levenshtein_error(y_true, y_pred) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("true", "predicted", "distance"),
    [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 2), ("😀", "a", 1)],
)
def test_a_distance_counts_characters(true, predicted, distance):
    y_true, y_pred = np.array([true], dtype=object), np.array([predicted], dtype=object)

    assert mean_levenshtein_error(y_true, y_pred) == distance
