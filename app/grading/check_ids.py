"""Match the ids of a file with the public ids, and report every id that differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from app.domain.verdict import ViolationCode
from app.grading.columns.numbers import NUMBER
from app.grading.ids.id_keys import EXACT_MATCHING, first_row_of
from app.grading.ids.public_ids import JOINT, IdsDifferError, IntArray, PublicIds, show_id
from app.grading.reading.text_table import Cells
from app.grading.reading.violations import EXAMPLES, FoundViolations, ViolationKind, shorten

# Missing ids that are compared with unknown ones for an advice. A file of a few bytes lacks all
# ids, and comparing a million takes seconds. Of ids that a program re-typed nearly all differ.
_COMPARED = 100_000

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
    is_complete: bool = True,
    optional: PublicIds | None = None,
) -> IntArray | None:
    """Match submitted ids with the public ids, and record every difference.

    Where the file could not be read to its end (`is_complete` is false) no id is reported missing.
    Rows whose ids are only among `optional` are ignored.
    Returns the rows of the file in the order of the public ids, None when they do not match.
    """
    # A row that is too short to have its id cannot match, and no array of texts has such cells.
    if not any(None in cells for cells in columns):
        try:
            texts = [pa.chunked_array([pa.array(cells, pa.string())]) for cells in columns]
            order = ids.order(texts)
            return np.arange(ids.rows, dtype=np.int64) if order is None else order
        except IdsDifferError:
            pass  # the differences are found below
    column = names[0] if len(names) == 1 else None
    index_of = {key: index for index, key in enumerate(ids.texts())}
    others = set() if optional is None else set(optional.texts()).difference(index_of)
    seen: set[str] = set()
    row_of = np.full(ids.rows, -1, dtype=np.int64)
    unknown: list[tuple[int, str]] = []
    repeats = 0
    matched = _matched_keys(columns, ids)
    for row, cells in enumerate(zip(*columns, strict=True)):
        key = _key(names, cells, row + 1, violations)
        if key is not None and matched is not None:
            key = matched[row]
        index = None if key is None else index_of.get(key)
        if index is not None and row_of[index] < 0:
            row_of[index] = row
        elif index is not None or key in seen or first_row_of(key or "") in index_of:
            repeats += 1
            violations.count(_DUPLICATE, column, row + 1, show_id(key or ""))
        elif key in others:
            seen.add(key)
        elif key is not None:
            unknown.append((row + 1, key))
    missing = np.flatnonzero(row_of < 0)
    if unknown:
        # With optional ids, which of them are missing tells which have an answer.
        hidden = missing[:0] if optional is not None else missing
        known = list(index_of)
        expected = (known[index] for index in hidden[:_COMPARED].tolist())
        advice = _about_unknown([key for _, key in unknown[:100]], expected, optional or ids)
        for row, key in unknown:
            violations.count(_UNKNOWN, column, row, show_id(key), advice)
    if len(missing) and is_complete and optional is not None:
        message = "ids are missing: write a row for every id of the sample submission"
        violations.add(ViolationCode.MISSING_ID, message, column)
    elif len(missing) and is_complete:
        many = f"{len(missing)} ids are missing" if len(missing) > 1 else "1 id is missing"
        where = "" if column is None else f" in column {column!r}"
        violations.add(
            ViolationCode.MISSING_ID,
            f"{many}{where}: every id of the sample submission needs a row",
            column,
            examples=[show_id(ids.key(index)) for index in missing[:EXAMPLES].tolist()],
        )
    if unknown or repeats or (len(missing) and is_complete):
        return None
    return row_of[row_of >= 0]


def _matched_keys(columns: Sequence[Cells], ids: PublicIds) -> Cells | None:
    """The keys of rows that have their ids; None where ids are compared as written."""
    if ids.matching == EXACT_MATCHING:
        return None
    complete = [row for row, cells in enumerate(zip(*columns, strict=True)) if all(cells)]
    texts = [pa.array([cells[row] for row in complete], pa.string()) for cells in columns]
    keys: Cells = [None] * len(columns[0])
    for row, key in zip(complete, ids.matching.keys(texts).to_pylist(), strict=True):
        keys[row] = key
    return keys


def _key(
    names: Sequence[str], cells: Sequence[str | None], row: int, violations: FoundViolations
) -> str | None:
    """The id of a row; None where it is empty, or the row is too short to have it."""
    is_filled = True
    for name, cell in zip(names, cells, strict=False):
        if not cell:
            is_filled = False
            if cell is not None:
                violations.count(_EMPTY, name, row)
    return JOINT.join(cell or "" for cell in cells) if is_filled else None


def _about_unknown(unknown: Sequence[str], missing: Iterable[str], ids: PublicIds) -> str:
    """Advice on unknown ids: programs read them as numbers, or they differ in case or spaces."""
    submitted = {_normalized(key): key for key in reversed(unknown)}
    for expected in missing:
        found = submitted.get(_normalized(expected))
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
    looks = ", ".join(repr(shorten(show_id(ids.key(index)))) for index in range(min(2, ids.rows)))
    return f"ids look like {looks}"


def _same_but_for_case(one: str, other: str) -> bool:
    return [part.strip().casefold() for part in one.split(JOINT)] == [
        part.strip().casefold() for part in other.split(JOINT)
    ]


def _normalized(key: str) -> str:
    """An id without the differences of spaces, case and number format.

    >>> _normalized("007") == _normalized("7.0"), _normalized(" Ab ") == _normalized("ab")
    (True, True)
    """
    parts = [part.strip().casefold() for part in key.split(JOINT)]
    return JOINT.join(repr(float(p)) if NUMBER.fullmatch(p) else p for p in parts)
