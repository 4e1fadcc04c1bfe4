"""Files whose values have one hash in the tables of a library are read as fast as other files."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.domain.form import SubmissionForm
from app.grading.check import Checker
from app.grading.ids.id_keys import Matching
from app.grading.ids.public_ids import PublicIds

ROWS = 16_384
# What stands for itself in a file without quotes and in a list.
LETTERS = np.array([b for b in range(1, 128) if b not in b'\t\n\r ",'], dtype=np.uint8)
IS_LETTER = np.isin(np.arange(256), LETTERS)
LOW = np.uint64(0xFFFF_FFFF)


@cache
def integers() -> list[str]:
    """Whole numbers with one hash in pandas' tables."""
    high = np.arange(1, ROWS + 1, dtype=np.uint64)
    return [str(number) for number in (high << np.uint64(33)) | _low_half(high)]


@cache
def short_texts() -> list[str]:
    """Texts of eight bytes which, read as numbers, have one hash in pandas' tables."""
    texts = np.random.default_rng(0).choice(LETTERS, (1_000_000, 8))
    high = texts.view("<u4")[:, 1].astype(np.uint64) >> np.uint64(1)
    texts.view("<u4")[:, 0] = _low_half(high).astype("<u4")
    return _readable(texts)


@cache
def long_texts() -> list[str]:
    """Texts of sixteen bytes with one hash in Arrow's tables.

    It is found from a * x ^ b * y, where x and y are the halves of the text.
    """
    a, b = 11400714785074694791, 14029467366897019727
    y = np.random.default_rng(0).choice(LETTERS, (8_000_000, 8)).view("<u8")[:, 0]
    x = np.uint64(pow(a, -1, 1 << 64)) * (np.uint64(ROWS) ^ (np.uint64(b) * y))
    return _readable(np.stack([y, x], axis=1).view(np.uint8).reshape(-1, 16))


def _low_half(high: np.ndarray) -> np.ndarray:
    """The lower 32 bits of a number with these upper 31 bits, so that its hash is ROWS.

    The hash of k in pandas' tables is the lower half of (k >> 33) ^ k ^ (k << 11).
    """
    rest = (np.uint64(ROWS) ^ high) & LOW
    return (rest ^ (rest << np.uint64(11)) ^ (rest << np.uint64(22))) & LOW


def _readable(rows: np.ndarray) -> list[str]:
    rows = np.unique(rows[IS_LETTER[rows].all(axis=1)], axis=0)[:ROWS]
    assert len(rows) == ROWS
    return [bytes(row).decode() for row in rows]


def ordinary(values: list[str]) -> list[str]:
    """As many other values, of the same length."""
    size = len(values[0])
    return [f"1{number:0{size - 1}}" for number in range(len(values))]


def seconds(form: dict[str, Any], values: list[str]) -> float:
    """The processor's seconds of the fast check of a file with these values."""
    numbers = [str(row) for row in range(ROWS)]
    are_ids = form.get("repeated_ids", False)
    cells = zip(values, numbers, strict=True) if are_ids else zip(numbers, values, strict=True)
    data = "".join(["id,x\n", *(f"{one},{other}\n" for one, other in cells)]).encode()
    ids = PublicIds.from_columns([pa.array(numbers)], Matching(repeated=are_ids))
    checker = Checker(SubmissionForm.model_validate({"id": "id", **form}), ids)
    started = time.process_time()
    checker.check_fast(data)
    return time.process_time() - started


@pytest.mark.parametrize(
    ("kind", "make", "more"),
    [
        ({"kind": "label"}, long_texts, {}),
        ({"kind": "list"}, short_texts, {}),
        ({"kind": "list"}, long_texts, {}),
        ({"kind": "list", "items": "integer"}, integers, {}),
        ({"kind": "text", "pattern": ".*"}, long_texts, {}),
        ({"kind": "boxes", "fields": ["l"], "label": "l", "labels": ["a"]}, long_texts, {}),
        ({"kind": "number"}, long_texts, {"repeated_ids": True}),
    ],
    ids=lambda one: one.__name__ if callable(one) else one.get("kind", ""),
)
def test_values_with_one_hash_take_as_long_as_others(
    kind: dict[str, Any], make: Callable[[], list[str]], more: dict[str, Any]
) -> None:
    form = {"columns": {"x": kind}, **more}
    values = make()
    seconds(form, ordinary(values))  # loads what is loaded once

    # It took 30 to 200 times as long, and four times that with twice as many rows.
    assert seconds(form, values) < 10 * seconds(form, ordinary(values)) + 0.05
