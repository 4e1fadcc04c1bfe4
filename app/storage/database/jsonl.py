"""Write a table's rows to a file of JSON lines, and load them into either database.

Later versions of Podium can load the files of earlier ones.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Double,
    Enum,
    Integer,
    LargeBinary,
    Table,
    Text,
    column,
    insert,
    select,
    table,
)
from sqlalchemy.types import TypeEngine

from app.regular_file import file_digest
from app.storage.database.tables.column_types import DOCUMENT, UtcDateTime

ROWS_PER_INSERT = 500  # rows in memory
BYTES_PER_INSERT = 4 << 20  # bytes of their lines, because a row may have megabytes
# For a query; otherwise PostgreSQL's driver reads all rows at once.
IN_PARTS = {"yield_per": ROWS_PER_INSERT}
COMPRESSION_LEVEL = 4
# A row that lists many files has a line of gigabytes, of which digests take a half packed, too.
LONGEST_LINE, MOST_PACKED = 16 << 20, 32  # bytes; bytes for each packed one
# The kinds of columns, by names that stay the same when the models change. Each file lists the
# kinds of its columns.
KINDS: dict[str, TypeEngine[Any]] = {
    "text": Text(),
    "integer": BigInteger(),
    "real": Double(),
    "boolean": Boolean(),
    "instant": UtcDateTime(),
    "document": DOCUMENT,
    "bytes": LargeBinary(),  # in base64
}
# Converts a JSON value to one for the database, for kinds where the two differ.
READERS: dict[str, Callable[[str], Any]] = {"instant": datetime.fromisoformat, "bytes": b64decode}


@dataclass(frozen=True, slots=True)
class JsonLinesFile:
    """The number of a file's rows, and the size and digest of its bytes."""

    rows: int
    bytes: int
    sha256: str


def kinds_of(columns: Table) -> dict[str, str]:
    """The kind of each column, in order."""
    return {each.name: _kind(each.type) for each in columns.columns}


def rows_of(
    connection: Connection, source: Table, *, without: ColumnElement[bool] | None = None
) -> Iterator[list[Any]]:
    """All rows except those `without`, sorted by key, as JSON values, few in memory at a time."""
    columns = [each.name for each in source.primary_key]
    query = select(source).order_by(*(source.c[name] for name in columns))
    if without is not None:
        query = query.where(~without)
    for row in connection.execute(query, execution_options=IN_PARTS):
        yield [_json_value(value) for value in row]


def write_lines(path: Path, lines: Iterable[Any]) -> JsonLinesFile:
    """Write one JSON value per line into a new compressed file."""
    count = 0
    with path.open("xb") as raw, gzip.GzipFile("", "wb", COMPRESSION_LEVEL, raw, mtime=0) as file:
        for line in lines:
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
            file.write(text.encode() + b"\n")
            count += 1
    size, sha256 = file_digest(path)
    return JsonLinesFile(count, size, sha256)


def read_lines(path: Path) -> Iterator[Any]:
    """The values of a file that `write_lines` wrote.

    Raises:
        ValueError: it has a line that is no JSON, or that is packed far more tightly than one of
            Podium's, so that a small file would fill the memory.
    """
    return map(json.loads, _lines(path))


def read_batches(path: Path) -> Iterator[list[Any]]:
    """The same values in lists: as many as are inserted at once, or fewer if they are long.

    Raises:
        ValueError: as `read_lines`.
    """
    batch, size = list[Any](), 0
    for line in _lines(path):
        batch.append(json.loads(line))
        size += len(line)
        if len(batch) == ROWS_PER_INSERT or size > BYTES_PER_INSERT:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _lines(path: Path) -> Iterator[bytes]:
    longest = max(LONGEST_LINE, MOST_PACKED * path.stat().st_size)
    with gzip.open(path, "rb") as file:
        while line := file.readline(longest + 1):
            if len(line) > longest:
                raise ValueError(f"a line has more than {longest} bytes")
            yield line


def load_rows(
    connection: Connection, name: str, kinds: dict[str, str], batches: Iterable[list[list[Any]]]
) -> Iterator[int]:
    """Insert rows into a table with columns of these kinds. Yields the number of each batch."""
    target = table(name, *(column(each, KINDS[kind]) for each, kind in kinds.items()))
    readers = {index: READERS[kind] for index, kind in enumerate(kinds.values()) if kind in READERS}
    for batch in batches:
        for row in batch:
            for index, read in readers.items():
                if row[index] is not None:
                    row[index] = read(row[index])
        connection.execute(insert(target), [dict(zip(kinds, row, strict=True)) for row in batch])
        yield len(batch)


def _kind(kind: TypeEngine[Any]) -> str:
    match kind:
        case UtcDateTime():
            return "instant"
        case JSON():
            return "document"
        case Boolean():
            return "boolean"
        case Integer():
            return "integer"
        case Double():
            return "real"
        case Text() | Enum():
            return "text"
        case LargeBinary():
            return "bytes"
    raise TypeError(f"rows with a column of type {kind!r} cannot be written to a file")


def _json_value(value: Any) -> Any:
    # The value of an enum is a str, which json can write.
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else value
