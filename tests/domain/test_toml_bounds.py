"""The bounds of a new competition.toml: the largest that is taken, and one more."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.columns import MOST_PIXELS
from app.domain.toml_bounds import LONGEST_KEY, MOST_PATTERN, out_of_bounds
from app.errors import MOST_PROBLEMS


def refused(document: dict[str, Any]) -> list[str]:
    """The keys of the problems; none if the document is taken."""
    return [problem["key"] for problem in out_of_bounds(document)]


def columns(**column: object) -> dict[str, Any]:
    return {"submission": {"columns": {"x": column}}}


@pytest.mark.parametrize(
    ("taken", "key", "too_large"),
    [
        ({"a": 2**63 - 1}, "a", {"a": 2**63}),
        ({"a": -(2**63)}, "a", {"a": -(2**63) - 1}),
        ({"a": {"b": [0, 1]}}, "a.b.1", {"a": {"b": [0, 2**63]}}),
        (
            columns(height=MOST_PIXELS // 4, width=4),
            "submission.columns.x",
            columns(height=MOST_PIXELS // 4 + 1, width=4),
        ),
        (
            columns(pattern="a" * MOST_PATTERN),
            "submission.columns",
            columns(pattern="a" * (MOST_PATTERN + 1)),
        ),
        (
            columns(fields=["x", "y"]),
            "submission.columns.x.fields",
            columns(fields=["x", "y", "x", "x"]),
        ),
    ],
)
def test_what_is_beyond_a_bound_is_refused(
    taken: dict[str, Any], key: str, too_large: dict[str, Any]
) -> None:
    assert refused(taken) == []
    assert refused(too_large) == [key]


def test_an_image_whose_size_is_in_the_answers_has_no_bound_here() -> None:
    assert refused(columns(height=MOST_PIXELS + 1, width="w")) == []
    assert refused(columns(height="h", width=MOST_PIXELS + 1)) == []


def test_a_long_key_of_many_numbers_is_not_repeated_whole() -> None:
    """A key of 150,000 characters, in 7,500 problems, took a gigabyte."""
    keys = refused({"a" * 150_000: {"b": [2**63] * 7_500}})

    assert len(keys) == MOST_PROBLEMS
    assert max(map(len, keys)) < 2 * LONGEST_KEY
