"""The answers as a submission, which must get the perfect score."""

from __future__ import annotations

from app.domain.competition import Competition
from app.domain.verdict import Rejection
from app.grading.check import bad_file
from app.grading.decode_answers import answer_aliases, ignored_cells
from app.grading.reading.text_table import read_text_table
from app.grading.reading.utf8 import decode_text
from app.grading.reading.violations import FoundViolations


def answers_as_submission(data: bytes, competition: Competition) -> bytes:
    """The ids and prediction columns of an answers file as a submission's CSV, cells as written.

    The values of ignored rows may be invalid, so those of the first scored row replace them.

    Raises:
        BadCompetition: the answers file is not CSV or lacks a column.
    """
    form = competition.form
    file = f"private/{competition.answers.file}"
    aliases = answer_aliases(competition)
    violations = FoundViolations()
    try:
        table = read_text_table(
            decode_text(data), form.id, tuple(form.columns), violations, keep_unknown=True,
            aliases=aliases,
        )  # fmt: skip
    except Rejection as rejection:
        raise bad_file(file, rejection) from None
    if violations or table is None:
        raise bad_file(file, Rejection(violations.violations))
    columns = [[cell or "" for cell in table.columns[n]] for n in (*form.id, *form.columns)]
    ignored = ignored_cells(table.columns, competition).tolist()
    if True in ignored and False in ignored:
        counted = ignored.index(False)
        for cells in columns[len(form.id) :]:
            cells[:] = [
                cells[counted] if skip else c for c, skip in zip(cells, ignored, strict=True)
            ]
    lines = [_line((*form.id, *form.columns))]
    lines += [_line(row) for row in zip(*columns, strict=True)]
    return "".join(lines).encode()


def _line(cells: tuple[str, ...]) -> str:
    return ",".join(_quoted(cell) for cell in cells) + "\n"


def _quoted(cell: str) -> str:
    r"""A cell in CSV format.

    >>> _quoted('say "hi", twice'), _quoted("plain")
    ('"say ""hi"", twice"', 'plain')
    """
    if any(mark in cell for mark in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
