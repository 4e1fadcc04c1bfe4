"""Sketches: alike for files that predict alike, however they are written, and for no others."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import numpy as np
import pytest

from app.grading import sketch
from app.grading.check import check
from app.grading.graded import Sketch
from app.grading.sketch import MOST_TEXTS, sketch_of
from app.review.likeness import changed_rows
from tests.factories import VALUE_OF_KIND
from tests.grading.make import competition, public_ids

COLUMNS = {
    "number": 'x = { kind = "number" }',
    "integer": 'x = { kind = "integer" }',
    "boolean": 'x = { kind = "boolean" }',
    "label": 'x = { kind = "label" }',
    "text": 'x = { kind = "text" }',
    "list": 'x = { kind = "list" }',
    "masks": 'x = { kind = "mask", height = 10, width = 10 }',
    "boxes": 'x = { kind = "boxes", fields = ["p", "q"] }',
}
VALUES = {
    **VALUE_OF_KIND,
    "masks": lambda chance: f"{chance.randint(1, 50)} {chance.randint(1, 9)}",
    "boxes": lambda chance: " ".join(str(chance.random()) for _ in range(2 * chance.randint(1, 3))),
}


def sketched(kind: str, cells: list[str], order: list[int] | None = None) -> Any:
    ids = [f"i{row:06}" for row in range(len(cells))]
    form = competition(COLUMNS[kind], **METRICS.get(kind, {})).form
    rows = [f"{ids[row]},{cells[row]}" for row in order or range(len(cells))]
    return sketch_of(check(("id,x\n" + "\n".join(rows) + "\n").encode(), form, public_ids(ids)))


METRICS = {
    "boolean": {"metric": "accuracy_score"},
    "label": {"metric": "accuracy_score"},
    "text": {"metric": "mean_levenshtein_error"},
    "list": {"metric": "f1_score"},
    "masks": {"metric": "dice_score"},
    "boxes": {"metric": "point_in_box_f1_score"},
}


def cells_of(kind: str, rows: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return [VALUES[kind](chance) for _ in range(rows)]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("rows", [1, 5, 64, 65, 1000])
def test_the_order_of_rows_changes_nothing_and_a_changed_row_is_seen(kind: str, rows: int) -> None:
    cells = cells_of(kind, rows)
    order = list(range(rows))
    random.Random(1).shuffle(order)
    other = next(value for value in cells_of(kind, 50, 7) if value != cells[rows // 2])
    changed = [*cells[: rows // 2], other, *cells[rows // 2 + 1 :]]

    first = sketched(kind, cells)

    assert sketched(kind, cells, order) == first
    assert differing_rows(first, sketched(kind, changed)) == 1


def test_the_way_in_which_a_number_is_written_changes_nothing() -> None:
    assert sketched("number", ["1", "0.5", "-0", "2e3"]) == sketched(
        "number", ["1.0", "5e-1", "0.0", "2000"]
    )


def test_the_zero_of_a_box_has_no_sign() -> None:
    assert sketched("boxes", ["-0 1", "2 -0.0"]) == sketched("boxes", ["0 1", "2 0"])


def test_two_rows_that_change_places_are_a_change() -> None:
    assert (
        differing_rows(sketched("label", ["a", "b", "c"]), sketched("label", ["b", "a", "c"])) == 2
    )


def test_labels_of_other_names_differ_although_their_codes_are_equal() -> None:
    assert sketched("label", ["a", "b"]) != sketched("label", ["c", "d"])


def test_many_texts_are_sampled_and_other_files_still_differ() -> None:
    rows = 3 * MOST_TEXTS
    cells = [f"text {row}" for row in range(rows)]

    first = sketched("text", cells)

    assert sketched("text", cells) == first
    assert differing_rows(first, sketched("text", [f"{cell}!" for cell in cells])) == rows


def differing_rows(one: Sketch, other: Sketch) -> int:
    ours, theirs = (np.frombuffer(each.blocks, dtype="<u4") for each in (one, other))
    return changed_rows(int(np.count_nonzero(ours != theirs)), len(ours), one.rows)


@pytest.mark.parametrize(
    ("changed", "low", "high"), [(3, 3, 3), (20, 15, 26), (100_000, 99_000, 10**6)]
)
def test_the_number_of_changed_rows_is_estimated(changed: int, low: int, high: int) -> None:
    cells = cells_of("number", 100_000)
    step = len(cells) // changed
    other = list(cells)
    for at in range(changed):
        other[at * step] = "123.5"

    assert low <= differing_rows(sketched("number", cells), sketched("number", other)) <= high


@pytest.mark.parametrize("kind", ["number", "label"])
def test_long_columns_are_summed_block_by_block_to_the_same_sketch(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = cells_of(kind, 1000)
    whole = sketched(kind, cells)

    monkeypatch.setattr(sketch, "CACHED_ROWS", 1)

    assert sketched(kind, cells) == whole


def test_a_sketch_is_small_and_has_numbers_where_the_file_has() -> None:
    with_numbers, with_labels = sketched("number", ["1"] * 9), sketched("label", ["a"] * 9)

    assert (len(with_numbers.blocks), len(with_numbers.cells)) == (256, 256)
    assert (len(with_labels.blocks), len(with_labels.cells)) == (256, 0)


@pytest.mark.parametrize(
    ("kind", "cells", "digest"),
    [
        ("number", [repr(row / 7) for row in range(100)], "a3500e6a331ab1a2"),
        ("label", [f"l{row % 7}" for row in range(100)], "d0ed3dfb3b9728e0"),
    ],
)
def test_sketches_are_comparable_with_those_of_earlier_versions(
    kind: str, cells: list[str], digest: str
) -> None:
    """Databases keep them, and compare new ones with them."""
    found = sketched(kind, cells)

    assert hashlib.sha256(found.blocks + found.cells).hexdigest()[:16] == digest
