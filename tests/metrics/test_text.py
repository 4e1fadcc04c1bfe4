"""Edit distances against the textbook's table."""

import numpy as np
import pytest

from app.metrics.arrays import Lists
from app.metrics.text import (
    mean_levenshtein_error,
    mean_word_jaccard_score,
    normalized_levenshtein_error,
)
from tests.metrics.samples import random_lists


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


@pytest.mark.parametrize("seed", range(3))
def test_distances_of_lists_are_divided_by_the_items_of_the_answers(seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = random_lists(rng, 30, 4, 6), random_lists(rng, 30, 5, 8)
    pairs = zip(rows_of(y_true), rows_of(y_pred), strict=True)

    expected = sum(edit_distance(a, b) for a, b in pairs) / len(y_true.codes)

    assert normalized_levenshtein_error(y_true, y_pred) == pytest.approx(expected, abs=1e-12)


def rows_of(lists):
    return [row.tolist() for row in np.split(lists.codes, lists.offsets[1:-1])]


def test_answers_without_an_item_are_refused():
    nothing = Lists(np.array([], dtype=np.int64), np.array([0, 0]))

    with pytest.raises(ValueError, match="the answers have no item"):
        normalized_levenshtein_error(nothing, Lists(np.array([1]), np.array([0, 1])))


@pytest.mark.parametrize(
    ("true", "predicted", "share"),
    [
        ("", " ", 0.0),
        ("a b c", "B  a\tA d", 0.5),  # two of four, without regard to case, order and repeats
        ("STRA\N{LATIN SMALL LETTER SHARP S}E", "strasse", 0.0),  # lower case does not fold
        ("a\N{NO-BREAK SPACE}b", "b", 0.5),
    ],
)
def test_words_are_parted_by_white_space_and_compared_in_lower_case(true, predicted, share):
    pairs = (np.array([text, "x"], dtype=object) for text in (true, predicted))

    assert mean_word_jaccard_score(*pairs) == (share + 1.0) / 2
