"""Split CSV text into records: the exact reader, which finds every malformed row.

The dialect is pyarrow's and Python's: commas; quotes around a value, doubled inside it; values may
span lines inside quotes; a record ends in LF, CRLF or CR. A quote after the first character of an
unquoted value is an ordinary character, and so is any character after a closing quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_VALUES = 100_000  # in one record; beyond that a file is refused before it fills the memory

_PLAIN_LINE = re.compile(r'([^"\r\n]*+)(?:\r\n|\n|\r|\Z)')
_VALUE = re.compile(
    r'(?:"([^"]*+(?:""[^"]*+)*+)"([^,\r\n]*+)|(?!")([^,\r\n]*+))(,|\r\n|\n|\r|\Z)',
)


class BrokenCsvError(Exception):
    """The text cannot be read beyond this record; the message gives the reason."""


def records(text: str) -> Iterator[list[str] | None]:
    r"""The records of a CSV text, with the header; None for a blank line.

    Raises:
        BrokenCsvError: a quote is never closed, or a record has more than `MOST_VALUES` values.

    >>> list(records('id,x\r\n1,"a ""b"", c"\n\n2,d'))
    [['id', 'x'], ['1', 'a "b", c'], None, ['2', 'd']]
    """
    position, end = 0, len(text)
    while position < end:
        plain = _PLAIN_LINE.match(text, position)
        if plain is None:
            values, position = _quoted_record(text, position)
            yield values
            continue
        line = plain[1]
        position = plain.end()
        if len(line) >= MOST_VALUES and line.count(",") >= MOST_VALUES:
            raise BrokenCsvError(f"it has more than {MOST_VALUES} values")
        yield line.split(",") if line and not line.isspace() else _blank_or_odd(line)


def _blank_or_odd(line: str) -> list[str] | None:
    """None for a line of only spaces and tabs; other white space is a value."""
    return [line] if line.strip(" \t") else None


def _quoted_record(text: str, position: int) -> tuple[list[str], int]:
    """The record at `position`, which has a quote, and the position of the next one."""
    values: list[str] = []
    while True:
        match = _VALUE.match(text, position)
        if match is None:
            raise BrokenCsvError("a quote is opened and never closed")
        quoted, rest, plain, ending = match.groups()
        values.append(plain if quoted is None else quoted.replace('""', '"') + rest)
        position = match.end()
        if len(values) > MOST_VALUES:
            raise BrokenCsvError(f"it has more than {MOST_VALUES} values")
        if ending != ",":
            return values, position
