"""Mark some rows of an answers file as rows to search on. The choice has a seed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from app.domain.form import USAGE_COLUMN
from app.errors import Invalid
from app.grading.reading.records import BrokenCsvError, records

QUOTED = re.compile(r'[",\r\n]')
LEAST = 10  # rows of each part; with fewer a score is of little use


@dataclass(frozen=True, slots=True)
class SearchSplit:
    """The text of the new answers file, and how many rows have each usage."""

    text: str
    rows: dict[str, int]


def mark_search_rows(text: str, share: float, seed: int) -> SearchSplit:
    """Mark a random `share` of the private rows as Search; all other cells stay unchanged.

    A file without the column `Usage` has private rows only.

    Raises:
        Invalid: the file is not CSV, has rows to search on already, or too few private rows.
    """
    header, *rows = _rows(text) or [[]]
    if USAGE_COLUMN not in header:
        header = [*header, USAGE_COLUMN]
        rows = [[*row, "Private"] for row in rows]
    place = header.index(USAGE_COLUMN)
    usages = [row[place].strip().casefold() for row in rows]
    if "search" in usages:
        raise Invalid("The answers have rows with Usage = Search already.")
    private = np.flatnonzero(np.array(usages) == "private")
    count = round(share * len(private))
    if min(count, len(private) - count) < LEAST:
        raise Invalid(
            f"{share:g} of {len(private)} private rows are {count} to search on: both they and the "
            f"rest need at least {LEAST}."
        )
    for row in np.random.default_rng(seed).permutation(private)[:count].tolist():
        rows[row][place] = "Search"
    written = "".join(",".join(map(_quoted, row)) + "\n" for row in (header, *rows))
    found = Counter(row[place].strip().capitalize() for row in rows)
    return SearchSplit(written, dict(sorted(found.items())))


def _rows(text: str) -> list[list[str]]:
    """The header and the rows, as the grader reads them."""
    try:
        rows = [row for row in records(text) if row is not None]
    except BrokenCsvError as error:
        raise Invalid(f"The answers are not CSV: {error}.") from None
    ragged = next((at for at, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if ragged is not None:
        raise Invalid(f"The answers have another number of values in row {ragged} than the header.")
    return rows


def _quoted(cell: str) -> str:
    # Before Python 3.13 the module csv does not quote a single CR, which ends a line for the
    # grader.
    return '"' + cell.replace('"', '""') + '"' if QUOTED.search(cell) else cell
