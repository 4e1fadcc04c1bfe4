"""What is wrong with the ids of a file: found one by one, for files that did not simply match."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from app.domain.verdict import ViolationCode
from app.grading.columns.numbers import NUMBER
from app.grading.ids.id_keys import EXACT_MATCHING, first_row_of
from app.grading.ids.public_ids import JOINT, IdsDifferError, IntArray, PublicIds, show_id
from app.grading.reading.text_table import Cells
from app.grading.violations import EXAMPLES, FoundViolations, ViolationKind, shorten

_EMPTY = ViolationKind(ViolationCode.MISSING_VALUE, "id is empty", "ids are empty")
_UNKNOWN = ViolationKind(
    ViolationCode.UNKNOWN_ID,
    "id is not among those of the sample submission",
    "ids are not among those of the sample submission",
)
_DUPLICATE = ViolationKind(
    ViolationCode.DUPLICATE_ID,
    "row repeats an id",
    "rows repeat an id",
    "every id must stand there exactly once",
)


def check_ids(
    names: Sequence[str],
    columns: Sequence[Cells],
    ids: PublicIds,
    violations: FoundViolations,
    *,
    is_whole: bool = True,
    optional: PublicIds | None = None,
) -> IntArray | None:
    """Match submitted ids with the public ones, recording every difference.

    Where the file could not be read to its end (`is_whole` is false) no id is called missing.
    Rows of ids that are only among `optional` are passed over.
    Returns the rows of the file in the order of the public ids, None when they do not match.
    """
    try:
        texts = [pa.chunked_array([pa.array(cells, pa.string())]) for cells in columns]
        order = ids.order(texts)
        return np.arange(ids.rows, dtype=np.int64) if order is None else order
    except IdsDifferError:
        pass  # which of them differ, and how, is found below
    column = names[0] if len(names) == 1 else None
    place_of = {key: place for place, key in enumerate(ids.texts())}
    others = frozenset() if optional is None else frozenset(optional.texts())
    row_of = np.full(ids.rows, -1, dtype=np.int64)
    unknown: list[tuple[int, str]] = []
    repeats = 0
    columns = _as_matched(columns, ids)
    for row, cells in enumerate(zip(*columns, strict=True)):
        key = _key(names, cells, row + 1, violations)
        place = None if key is None else place_of.get(key)
        if place is not None and row_of[place] < 0:
            row_of[place] = row
        elif place is not None or (key is not None and first_row_of(key) in place_of):
            repeats += 1
            violations.count(_DUPLICATE, column, row + 1, show_id(key or ""))
        elif key is not None and key not in others:
            unknown.append((row + 1, key))
    missing = np.flatnonzero(row_of < 0)
    if unknown:
        advice = _about_unknown([key for _, key in unknown[:100]], missing, ids)
        for row, key in unknown:
            violations.count(_UNKNOWN, column, row, show_id(key), advice)
    if len(missing) and is_whole:
        many = f"{len(missing)} ids are missing" if len(missing) > 1 else "1 id is missing"
        where = "" if column is None else f" in column {column!r}"
        violations.add(
            ViolationCode.MISSING_ID,
            f"{many}{where}: every id of the sample submission needs a row",
            column,
            examples=[show_id(ids.key(place)) for place in missing[:EXAMPLES].tolist()],
        )
    if unknown or repeats or (len(missing) and is_whole):
        return None
    return row_of[row_of >= 0]


def _as_matched(columns: Sequence[Cells], ids: PublicIds) -> Sequence[Cells]:
    """The cells as one column of the texts that are matched, where those are not the ids."""
    if ids.matching == EXACT_MATCHING:
        return columns
    whole = [row for row, cells in enumerate(zip(*columns, strict=True)) if all(cells)]
    texts = [pa.array([cells[row] for row in whole], pa.string()) for cells in columns]
    keys: Cells = ["" if "" in cells else None for cells in zip(*columns, strict=True)]
    for row, key in zip(whole, ids.matching.keys(texts).to_pylist(), strict=True):
        keys[row] = key
    return [keys]


def _key(
    names: Sequence[str], cells: Sequence[str | None], row: int, violations: FoundViolations
) -> str | None:
    """The id of a row; None for one that is empty, or that the row is too short to have."""
    whole = True
    for name, cell in zip(names, cells, strict=False):
        if not cell:
            whole = False
            if cell is not None:
                violations.count(_EMPTY, name, row)
    return JOINT.join(cell or "" for cell in cells) if whole else None


def _about_unknown(unknown: Sequence[str], missing: IntArray, ids: PublicIds) -> str:
    """Why ids may be unknown: they were read as numbers, or differ in case or spaces."""
    submitted = {_plain(key): key for key in reversed(unknown)}
    for place in missing.tolist():
        expected = ids.key(place)
        found = submitted.get(_plain(expected))
        if found is None:
            continue
        pair = (
            f"{shorten(show_id(found))!r} stands where {shorten(show_id(expected))!r} is expected"
        )
        if _same_but_for_case(found, expected):
            return f"{pair}: ids must agree in case and spaces"
        return (
            f"the ids look re-typed, {pair}: "
            "read and write ids as text (in pandas: read_csv(..., dtype={column: str}))"
        )
    looks = ", ".join(repr(shorten(show_id(ids.key(place)))) for place in range(min(2, ids.rows)))
    return f"ids look like {looks}"


def _same_but_for_case(one: str, other: str) -> bool:
    return [part.strip().casefold() for part in one.split(JOINT)] == [
        part.strip().casefold() for part in other.split(JOINT)
    ]


def _plain(key: str) -> str:
    """What is left of an id when spaces, case and the way of writing a number are ignored.

    >>> _plain("007") == _plain("7.0"), _plain(" Ab ") == _plain("ab")
    (True, True)
    """
    parts = [part.strip().casefold() for part in key.split(JOINT)]
    return JOINT.join(repr(float(p)) if NUMBER.fullmatch(p) else p for p in parts)
