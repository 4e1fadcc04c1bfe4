"""The fast way to read a file that is as it should be: pyarrow's CSV reader, types given.

Nothing is reported here. Any oddity gives None, and the slow way finds out what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from app.domain.verdict import Notice
from app.grading.reading.header import Header, resolve_aliases, understand_header
from app.grading.reading.records import BrokenCsvError, records

# Measured: larger blocks are no quicker, and what is at work in memory is some blocks.
_SMALL_BLOCK, _BLOCK = 1 << 18, 1 << 20
_LARGE = 8 << 20  # a file from which on the larger blocks pay
_THREADED = 3 << 19  # a file from which on a second thread saves more than it costs
_LARGEST_BLOCK = (1 << 31) - 1
_TOO_LONG = "straddling object"  # what pyarrow says of a line that does not fit into a block
_LONGEST_HEADER = 1 << 16
_HEADERS_KEPT = 16
_LINE_END = re.compile(rb"\r\n|\n|\r")
_NO_QUOTES = pacsv.ParseOptions(quote_char=False, ignore_empty_lines=False)
# Only quoted values can span lines, and looking for them costs a second pass.
_QUOTES = pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
_END_MARK = "\0"


@dataclass(frozen=True, slots=True)
class Table:
    """The wanted columns of a file in the order asked for; then the unknown ones, if kept."""

    names: tuple[str, ...]
    columns: tuple[pa.ChunkedArray, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to read files with one header."""

    names: tuple[str, ...]
    columns: list[str]  # the file's, by place
    convert: pacsv.ConvertOptions
    notices: tuple[Notice, ...]
    end_row: bytes

    def read(self, data: bytes, block: int, has_quotes: bool) -> pa.Table:
        """The table; a file with a line that is longer than a block is read as one block."""
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
            whole = len(data) + 1
            if block == whole or whole > _LARGEST_BLOCK or _TOO_LONG not in str(error):
                raise
            return self.read(data, whole, has_quotes)


class FastReader:
    """Reads the wanted columns as the given types; keeps what it learned about each header.

    Of other columns it reads those that `keep` asks for by name, as texts, and warns of none.
    Files with quotes are left to the exact reader unless the first wanted column is one of text.
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

    def read(self, data: bytes) -> Table | None:
        """The table in `data`; None when the file is in any way unusual."""
        ending = _LINE_END.search(data, 0, _LONGEST_HEADER)
        if ending is None or not _is_clean(data):
            return None
        line = data[: ending.start()]
        plan = self._plans[line] if line in self._plans else self._learn(line)
        if plan is None:
            return None
        # The header is understood already; many programs quote it alone.
        has_quotes = data.find(b'"', ending.end()) >= 0
        if has_quotes:
            # The reader takes the end of the file for a missing closing quote. A last row of our
            # own shows whether it is read as a row or swallowed; no file can hold its NUL.
            data = data + (b"" if data.endswith((b"\n", b"\r")) else b"\n") + plan.end_row
        try:
            table = plan.read(data, _SMALL_BLOCK if len(data) < _LARGE else _BLOCK, has_quotes)
        except (pa.ArrowException, OSError):
            return None
        if has_quotes:
            last = table.num_rows - 1
            if last < 0 or table.column(0)[last].as_py() != _END_MARK:
                return None
            table = table.slice(0, last)
        return Table(plan.names, tuple(table.columns), plan.notices)

    def _learn(self, line: bytes) -> _Plan | None:
        """The plan for a header line; None when the exact reader should say what is wrong."""
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
        # Columns get their place for a name, since unknown ones may repeat.
        place_of = {name: place for place, name in reversed(list(enumerate(header.names)))}
        columns = {str(place_of[name]): kind for name, kind in types.items()}
        cells = ["" for _ in header.names]
        for place, kind in columns.items():
            cells[int(place)] = _END_MARK if kind == pa.string() else "0"
        return _Plan(
            names=tuple(types),
            columns=[str(place) for place in range(len(header.names))],
            convert=pacsv.ConvertOptions(
                column_types=columns, include_columns=list(columns), null_values=[]
            ),
            notices=() if self._keep is not None else tuple(header.notices()),
            end_row=",".join(cells).encode() + b"\n",
        )


def _is_clean(data: bytes) -> bool:
    """Whether `data` is UTF-8 without NUL bytes, in one quick pass for ASCII."""
    if np.frombuffer(data, dtype=np.int8).min() > 0:
        return True
    if b"\0" in data:
        return False
    offsets = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        whole.validate(full=True)
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
