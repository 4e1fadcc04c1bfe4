"""The fast reader: pyarrow's CSV reader with given types, for files without problems.

It reports nothing. It returns None for any unusual file, and the exact reader reports why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from app.domain.verdict import Notice
from app.grading.reading.header import Header, resolve_aliases, understand_header
from app.grading.reading.records import BrokenCsvError, records

# Measured: larger blocks are no faster, and a few blocks are in memory at a time.
_SMALL_BLOCK, _BLOCK = 1 << 18, 1 << 20
_LARGE = 8 << 20  # bytes of a file; larger blocks are faster from here on
_THREADED = 3 << 19  # bytes of a file; a second thread is faster from here on
_LARGEST_BLOCK = (1 << 31) - 1
_TOO_LONG = "straddling object"  # in pyarrow's error where a line is longer than a block
_LONGEST_HEADER = 1 << 16
_HEADERS_KEPT = 16
_LINE_END = re.compile(rb"\r\n|\n|\r")
_NO_QUOTES = pacsv.ParseOptions(quote_char=False, ignore_empty_lines=False)
# Only quoted values can span lines, and allowing that costs a second pass.
_QUOTES = pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
_END_MARK = "\0"


@dataclass(frozen=True, slots=True)
class FileTable:
    """The wanted columns of a file in the given order, then the unknown columns, if kept."""

    names: tuple[str, ...]
    columns: tuple[pa.ChunkedArray, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to read files with one header."""

    names: tuple[str, ...]
    columns: list[str]  # names of the file's columns: their indexes
    convert: pacsv.ConvertOptions
    notices: tuple[Notice, ...]
    end_row: bytes

    def read(self, data: bytes, block: int, has_quotes: bool) -> pa.Table:
        """The table. If a line is longer than a block, the file is read as one block."""
        options = pacsv.ReadOptions(
            use_threads=len(data) >= _THREADED,
            block_size=block,
            skip_rows=1,
            column_names=self.columns,
        )
        try:
            return pacsv.read_csv(
                pa.BufferReader(data),
                read_options=options,
                parse_options=_QUOTES if has_quotes else _NO_QUOTES,
                convert_options=self.convert,
            )
        except pa.ArrowInvalid as error:
            one_block = len(data) + 1
            if block == one_block or one_block > _LARGEST_BLOCK or _TOO_LONG not in str(error):
                raise
            return self.read(data, one_block, has_quotes)


class FastReader:
    """Reads the wanted columns as the given types, and remembers a plan for each header.

    Of other columns it reads those whose names `keep` accepts, as texts, without a warning.
    Files with quotes are left to the exact reader unless the first wanted column has type string.
    """

    def __init__(
        self,
        wanted: Mapping[str, pa.DataType],
        *,
        keep: Callable[[str], bool] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._wanted = dict(wanted)
        self._aliases = dict(aliases or {})
        self._keep = keep
        self._plans: dict[bytes, _Plan | None] = {}

    def read(self, data: bytes) -> FileTable | None:
        """The table in `data`; None when the file is unusual in any way."""
        ending = _LINE_END.search(data, 0, _LONGEST_HEADER)
        if ending is None or not _is_clean(data):
            return None
        line = data[: ending.start()]
        plan = self._plans[line] if line in self._plans else self._make_plan(line)
        if plan is None:
            return None
        # The header is read already; many programs quote only the header.
        has_quotes = data.find(b'"', ending.end()) >= 0
        if has_quotes:
            # The reader accepts a missing closing quote at the end of the file. So a last row is
            # added, with a NUL that no file can have: an open quote would swallow that row.
            data = data + (b"" if data.endswith((b"\n", b"\r")) else b"\n") + plan.end_row
        block = _SMALL_BLOCK if len(data) < _LARGE else _BLOCK
        if has_quotes and _cuts_line_end(data, block):
            block = len(data) + 1
            if block > _LARGEST_BLOCK:
                return None
        try:
            table = plan.read(data, block, has_quotes)
        except (pa.ArrowException, OSError):
            return None
        if has_quotes:
            last = table.num_rows - 1
            if last < 0 or table.column(0)[last].as_py() != _END_MARK:
                return None
            table = table.slice(0, last)
        is_single = len(plan.columns) == 1
        if (is_single or _may_have_empty_line(data)) and _may_have_blank_line(table, is_single):
            return None
        return FileTable(plan.names, tuple(table.columns), plan.notices)

    def _make_plan(self, line: bytes) -> _Plan | None:
        """The plan for a header line; None when the exact reader must report its problems."""
        if len(self._plans) >= _HEADERS_KEPT:
            self._plans.clear()
        names = _names(line)
        plan = None
        if names is not None:
            header = understand_header(resolve_aliases(names, self._aliases), self._wanted)
            if header.is_complete:
                plan = self._plan(header)
        self._plans[line] = plan
        return plan

    def _plan(self, header: Header) -> _Plan | None:
        types = dict(self._wanted)
        if self._keep is not None:
            if len({*types, *header.unknown}) != len(header.names):
                return None
            types |= dict.fromkeys(filter(self._keep, header.unknown), pa.string())
        # A column is named by its index, since names of unknown columns may repeat.
        index_of = {name: index for index, name in reversed(list(enumerate(header.names)))}
        columns = {str(index_of[name]): kind for name, kind in types.items()}
        cells = ["" for _ in header.names]
        for index, kind in columns.items():
            cells[int(index)] = _END_MARK if kind == pa.string() else "0"
        return _Plan(
            names=tuple(types),
            columns=[str(index) for index in range(len(header.names))],
            convert=pacsv.ConvertOptions(
                column_types=columns, include_columns=list(columns), null_values=[]
            ),
            notices=() if self._keep is not None else tuple(header.notices()),
            end_row=",".join(cells).encode() + b"\n",
        )


def _may_have_empty_line(data: bytes) -> bool:
    r"""Whether a line may be empty. Of a small file its bytes tell sooner than its table.

    >>> _may_have_empty_line(b'a,b\r\n1,2\r\n'), _may_have_empty_line(b'a,b\r\n\r\n1,2\r\n')
    (False, True)
    """
    if len(data) > _SMALL_BLOCK or b"\n\n" in data:
        return True
    return b"\r" in data and (b"\r\r" in data or b"\n\r" in data)


def _may_have_blank_line(table: pa.Table, is_single: bool) -> bool:
    """Whether a row may be a blank line, which is no row: pyarrow reads it as empty values.

    In a file with a single column it may also have blanks.
    """
    found = True
    for column in table.columns:
        if column.type != pa.string():  # a number is never empty
            return False
        values = pc.utf8_trim(column, " \t") if is_single else column
        if pc.index(values, "").as_py() < 0:  # the usual case, and the cheapest question
            return False
        found = pc.and_(found, pc.equal(values, ""))
    return bool(pc.any(found).as_py())


def _cuts_line_end(data: bytes, block: int) -> bool:
    r"""Whether a block ends between the CR and the LF of a CRLF.

    pyarrow drops a LF at the start of a block that follows a CR, also where the two stand inside
    a quoted value.

    >>> _cuts_line_end(b'a\r\nb', 2), _cuts_line_end(b'a\r\nb', 3)
    (True, False)
    """
    return any(data[at - 1 : at + 1] == b"\r\n" for at in range(block, len(data), block))


def _is_clean(data: bytes) -> bool:
    """Whether `data` is UTF-8 without NUL bytes. For ASCII this takes one fast pass."""
    if np.frombuffer(data, dtype=np.int8).min() > 0:
        return True
    if b"\0" in data:
        return False
    offsets = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _names(line: bytes) -> Sequence[str] | None:
    text = line.decode("utf-8").removeprefix("\ufeff")
    try:
        found = list(records(text))
    except BrokenCsvError:
        return None
    return found[0] if len(found) == 1 else None
