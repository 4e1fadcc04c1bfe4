"""Read a table whose cells keep their text from the file."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from app.domain.verdict import Rejection, ViolationCode
from app.errors import Invalid
from app.grading.reading.utf8 import decode_text

PACKED = ".gz"
FIRST_BYTES = 1 << 16  # enough of a table to recognise another format or encoding
NOT_ASCII = bytes(range(128, 256))
PARQUET = (".parquet", ".pq")
# Errors of pandas and pyarrow for a file that is not a table, or has wrong metadata.
UNREADABLE = (
    ValueError, OSError, EOFError, LookupError, TypeError, AttributeError, NotImplementedError,
    csv.Error, zlib.error, pd.errors.ParserError,
)  # fmt: skip


def read_table(file: Path) -> pd.DataFrame:
    """A table of texts: cells of a CSV file unchanged, of a Parquet file as Python writes them.

    A missing value is the empty text.

    Raises:
        Invalid: the file is not a table, has no rows, or its columns have no names of their own.
    """
    if not file.is_file():
        raise Invalid(f"{file} is not a file: --data takes a CSV or Parquet file.")
    try:
        if file.suffix.lower() in PARQUET:
            table = _texts(_with_index(pd.read_parquet(file)))
        else:
            _require_text(file)
            _require_names(_header(file), file)
            table = pd.read_csv(
                file, dtype=str, keep_default_na=False, encoding="utf-8-sig",
                compression="gzip" if file.suffix == PACKED else None,
            )  # fmt: skip
    except UNREADABLE as error:
        why = str(error).strip().rstrip(".")
        raise Invalid(f"{file} cannot be read as a table: {why}.") from None
    if not isinstance(table.index, pd.RangeIndex):  # pandas has used the first cells as row names
        raise Invalid(f"{file}: the rows have more cells than the first line has names.")
    _require_names([str(name) for name in table.columns], file)
    if len(table) == 0:
        raise Invalid(f"{file} has no rows.")
    return table


def header(file: Path) -> list[str]:
    """The names of the columns.

    Raises:
        Invalid: the file is not a table.
    """
    try:
        if file.suffix.lower() in PARQUET:
            return [str(name) for name in pq.read_schema(file).names]
        return _header(file)
    except UNREADABLE as error:
        raise Invalid(f"{file.name} cannot be read as a table: {error}.") from None


def _require_text(file: Path) -> None:
    """Refuse another format or encoding by the first lines, with the messages for submissions.

    Raises:
        Invalid: it is no text in UTF-8.
    """
    if file.suffix == PACKED:
        return
    with file.open("rb") as content:
        lines = content.read(FIRST_BYTES)
    try:
        decode_text(lines.rstrip(NOT_ASCII))  # the last character may be cut
    except Rejection as rejection:
        found = rejection.verdict.violations[0]
        if found.code != ViolationCode.EMPTY_FILE:  # pandas reports it, with a message for a table
            raise Invalid(f"{file} cannot be read as a table: {found.message}.") from None


def _header(file: Path) -> list[str]:
    if file.suffix == PACKED:
        with gzip.open(file, "rt", encoding="utf-8-sig", newline="") as packed:
            return next(csv.reader(packed), [])
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return next(csv.reader(lines), [])


def _require_names(names: list[str], file: Path) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if not names or "" in names:
        raise Invalid(f"{file}: the first line must name every column.")
    if repeated:
        raise Invalid(f"{file}: two columns are called {repeated[0]!r}.")


def _with_index(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns that were its index when pandas wrote the file."""
    is_named = any(name is not None for name in table.index.names)
    return table.reset_index(drop=not is_named)


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            str(name): table[name].map(str).where(table[name].notna(), "").astype(object)
            for name in table.columns
        }
    )
