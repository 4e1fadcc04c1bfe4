"""The exact reader of a file: reads every cell as text, and reports every malformed row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.verdict import Notice, ViolationCode, WarningCode
from app.domain.wording import counted
from app.grading.reading.header import Header, check_header, resolve_aliases, understand_header
from app.grading.reading.records import BrokenCsvError, records
from app.grading.reading.violations import FoundViolations, ViolationKind

# None is a cell of a malformed row, whose value is not checked.
Cells = list[str | None]

_RAGGED = ViolationKind(
    ViolationCode.NOT_CSV,
    "row has not as many values as the header",
    "rows have not as many values as the header",
)


@dataclass(slots=True)
class TextTable:
    """The wanted columns of a file as written. Rows count from 1 without header and blank lines."""

    header: Header
    columns: dict[str, Cells] = field(default_factory=dict)
    rows: int = 0
    lines: int = 0  # the rows and the blank lines
    is_cut: bool = False  # the file has more lines than were read
    is_broken: bool = False  # reading had to stop at a malformed record


def read_text_table(
    text: str,
    ids: Sequence[str],
    columns: Sequence[str],
    violations: FoundViolations,
    *,
    most_lines: int | None = None,
    keep_unknown: bool = False,
    aliases: Mapping[str, str] | None = None,
) -> TextTable | None:
    """Read the id and prediction columns of a CSV text; with `keep_unknown`, all columns.

    Returns None when the text is not CSV. At most `most_lines` rows and blank lines are read.
    """
    reader = records(text)
    blank_before = 0
    try:
        first = next(reader)
        while first is None:
            blank_before += 1
            if most_lines is not None and blank_before > most_lines:
                raise BrokenCsvError(f"{most_lines} blank lines stand before it")
            first = next(reader)
    except (BrokenCsvError, StopIteration) as error:
        reason = str(error) or "it is blank"
        violations.add(ViolationCode.NOT_CSV, f"the header cannot be read: {reason}", row=0)
        return None
    declared = (*ids, *columns)
    names = resolve_aliases(first, aliases or {})
    header = understand_header(names, (*declared, *names) if keep_unknown else declared)
    if not check_header(header, declared, text[:500], violations, in_file=first):
        return None
    table = TextTable(header)
    table.columns = {name: [] for name in header.indexes}
    blanks = _read_rows(reader, table, set(ids), violations, most_lines)
    violations.notices += header.notices()
    if blank_before + blanks:
        count = blank_before + blanks
        lines = "1 blank line was" if count == 1 else f"{count} blank lines were"
        violations.notices.append(Notice(WarningCode.BLANK_LINES, f"{lines} ignored"))
    return table


def _read_rows(
    reader: Iterator[list[str] | None],
    table: TextTable,
    ids: set[str],
    violations: FoundViolations,
    most_lines: int | None,
) -> int:
    """Fill the table. Returns the number of blank lines."""
    stores = [
        (table.columns[name].append, index, name in ids)
        for name, index in table.header.indexes.items()
    ]
    width = len(table.header.names)
    blanks = row = 0
    try:
        for values in reader:
            if row + blanks == most_lines:
                table.is_cut = True
                break
            if values is None:
                blanks += 1
                continue
            row += 1
            if len(values) != width:
                violations.count(
                    _RAGGED, None, row, ",".join(values), advice=_about_width(values, width)
                )
                # The values of a malformed row are in doubt, but its id is kept: otherwise every
                # such row would be reported as a missing id too.
                for append, index, is_id in stores:
                    append(values[index] if is_id and index < len(values) else None)
                continue
            for append, index, _ in stores:
                append(values[index])
    except BrokenCsvError as error:
        table.is_broken = True
        violations.add(ViolationCode.NOT_CSV, f"row {row + 1} cannot be read: {error}", row=row + 1)
    table.rows, table.lines = row, row + blanks
    return blanks


def _about_width(values: list[str], width: int) -> str:
    found = f"expected {counted(width, 'value')}, found {len(values)}"
    if len(values) == width + 1 and not values[-1]:
        return f"{found}; the comma at the end of the line is one too many"
    if len(values) > width:
        return f"{found}; a value that holds a comma must stand in quotes"
    return found
