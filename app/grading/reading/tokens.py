"""Split cells of several tokens: all cells at once, or one cell."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.metrics.arrays import IntArray

MOST_DIGITS = 18  # of a whole number: always fits into int64
_WHOLE = re.compile("[0-9]+")


def split_cells(
    cells: pa.Array | pa.ChunkedArray, separator: str
) -> tuple[pa.StringArray, IntArray] | None:
    """All tokens of all cells, and offsets of length n + 1; an empty cell has no tokens.

    Spaces separate loosely: several in a row, and those at the ends, count as one. Any other
    separator is strict, and None is returned when a token is empty or has spaces around it.

    >>> split_cells(pa.array(["a  b", "", "c"]), " ")[1]
    array([0, 2, 2, 3])
    """
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    lists = pc.split_pattern(cells, separator)
    tokens = lists.flatten()
    offsets = np.asarray(lists.offsets.to_numpy(), dtype=np.int64) - lists.offsets[0].as_py()
    is_empty = pc.equal(tokens, "")
    empties = pc.sum(is_empty).as_py() or 0
    if separator != " ":
        spaced = pc.or_(pc.starts_with(tokens, " "), pc.ends_with(tokens, " "))
        empty_cells = pc.sum(pc.equal(cells, "")).as_py() or 0
        if empties != empty_cells or pc.any(spaced).as_py():
            return None
    if empties:
        kept = ~np.asarray(is_empty.to_numpy(zero_copy_only=False), dtype=bool)
        tokens = tokens.filter(pa.array(kept))
        offsets = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))[offsets]
    return tokens, offsets


def all_match(texts: pa.Array | pa.ChunkedArray, pattern: str) -> bool:
    """Whether the pattern matches each text from its first character to its last."""
    return bool(pc.all(_found(texts, pattern), min_count=0).as_py())


def each_matches(texts: Sequence[str | None], pattern: str) -> list[bool | None]:
    r"""The same of each text; None for None.

    >>> each_matches(["ab", "a1", None], "[a-z]+")
    [True, False, None]
    """
    found: list[bool | None] = _found(pa.array(texts, pa.string()), pattern).to_pylist()
    return found


def _found(texts: pa.Array | pa.ChunkedArray, pattern: str) -> pa.Array | pa.ChunkedArray:
    # By RE2 in both ways of reading: Python's re has other digits and letters, and may take hours.
    return pc.match_substring_regex(texts, rf"\A(?:{pattern})\z")


def split_cell(cell: str, separator: str) -> list[str] | None:
    """The tokens of one cell by the same rule; None when one is empty.

    >>> split_cell("a | b", "|"), split_cell(" a  b", " "), split_cell("a||b", "|")
    (['a', 'b'], ['a', 'b'], None)
    """
    if separator == " ":
        return [token for token in cell.split(" ") if token]
    if not cell.strip(" "):
        return []
    tokens = [token.strip(" ") for token in cell.split(separator)]
    return tokens if all(tokens) else None


def is_whole(token: str) -> bool:
    """Whether a token is a whole number in decimal digits, and not too long for int64.

    >>> is_whole("007"), is_whole("-1"), is_whole("1" * 19)
    (True, False, False)
    """
    return len(token) <= MOST_DIGITS and _WHOLE.fullmatch(token) is not None
