"""What a new `competition.toml` may not have, though stored ones may: checked before its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from app.domain.columns import MOST_PIXELS
from app.errors import MOST_PROBLEMS

MOST_PATTERN = 2_000  # characters of all patterns: RE2 takes seconds to compile a thousand
LARGEST = 2**63 - 1  # TOML's own bound of whole numbers, and NumPy's
LONGEST_KEY = 300  # characters that a problem repeats
Problem = dict[str, str]


def out_of_bounds(document: dict[str, Any]) -> list[Problem]:
    """Numbers, images and patterns too large to compute with, and fields of boxes named twice.

    A hundred problems at most, each with its key and its message.
    """
    columns = _columns(document)
    found = chain(
        _large_numbers(document, ""), _large_images(columns), _long_patterns(columns),
        _repeated_fields(columns),
    )  # fmt: skip
    return list(islice(found, MOST_PROBLEMS))  # no more are made: each has a key of its own


def _columns(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    section = document.get("submission")
    columns = section.get("columns") if isinstance(section, dict) else None
    each = columns.items() if isinstance(columns, dict) else ()
    return {name: column for name, column in each if isinstance(column, dict)}


def _large_numbers(value: Any, key: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _large_numbers(each, _cut(f"{key}.{name}" if key else name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _large_numbers(each, _cut(f"{key}.{at}"))
    elif isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
        yield _problem(key, "a whole number is at least -2**63 and less than 2**63")


def _large_images(columns: dict[str, dict[str, Any]]) -> Iterator[Problem]:
    for name, column in columns.items():
        height, width = column.get("height"), column.get("width")
        if isinstance(height, int) and isinstance(width, int) and height * width > MOST_PIXELS:
            message = f"height x width is more than {MOST_PIXELS:,} pixels"
            yield _problem(f"submission.columns.{name}", message)


def _long_patterns(columns: dict[str, dict[str, Any]]) -> Iterator[Problem]:
    patterns = [column.get("pattern") for column in columns.values()]
    size = sum(len(one) for one in patterns if isinstance(one, str))
    if size > MOST_PATTERN:
        message = f"its patterns have {size:,} characters; {MOST_PATTERN:,} together are allowed"
        yield _problem("submission.columns", message)


def _repeated_fields(columns: dict[str, dict[str, Any]]) -> Iterator[Problem]:
    for name, column in columns.items():
        fields = column.get("fields")
        names = fields if isinstance(fields, list) else []
        for field, count in Counter(one for one in names if isinstance(one, str)).items():
            if count > 1:
                yield _problem(f"submission.columns.{name}.fields", f"names {_cut(field)!r} twice")


def _problem(key: str, message: str) -> Problem:
    return {"key": _cut(key), "message": message}


def _cut(key: str) -> str:
    """The key, or its beginning: one of a megabyte would be copied for each number below it."""
    return key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}..."
