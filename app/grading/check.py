"""The check of a file's form: bytes in, decoded columns in the order of the public ids out.

Two ways lead there. The fast one reads with pyarrow and decodes whole columns, and gives up at the
first oddity. The exact one reads every cell as text and finds all that is wrong. A file that the
fast way accepts is one that the exact way accepts, with the same values to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.form import SubmissionForm
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.check_exact import RowsToSkip, check_exactly
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import Decoded, Values, from_arrow
from app.grading.columns.numbers import fill_booleans, fill_numbers, is_fast_number
from app.grading.ids.fixed_width_index import KnownTexts
from app.grading.ids.id_keys import Matching
from app.grading.ids.public_ids import IdsDifferError, PublicIds, row_numbers
from app.grading.reading.fast_reader import FastReader
from app.grading.reading.text_table import read_text_table
from app.grading.reading.utf8 import decode_text
from app.grading.schema import Schema
from app.grading.violations import FoundViolations
from app.metrics.arrays import BoolArray

SAMPLE_FILE = "public/sample_submission.csv"

# A file's bytes; or what gives them, each time anew, so that they need not stay in memory.
CheckedSource = Callable[[], bytes]
FileData: TypeAlias = bytes | memoryview | pa.Buffer | CheckedSource


class Checker:
    """Checks submissions of one form against one set of public ids.

    It never sees answers: `known`, by column, are only the names to look for first. `texts` says
    whether columns that are not number-like are also kept as written.
    """

    def __init__(
        self,
        form: SubmissionForm,
        ids: PublicIds,
        *,
        keep: Callable[[str], bool] | None = None,
        aliases: Mapping[str, str] | None = None,
        optional: PublicIds | None = None,
        known: Mapping[str, KnownTexts] | None = None,
        texts: bool = True,
    ) -> None:
        self._known = known or {}
        self._texts = texts
        self._optional = optional
        self._is_needed = None if optional is None else _among(optional, ids)
        self.schema = Schema(form)
        self.ids = ids
        self._keep = keep
        wanted = dict.fromkeys(form.id, pa.string())
        for name, column in form.columns.items():
            wanted[name] = pa.float64() if is_fast_number(column) else pa.string()
        self._aliases = form.aliases if aliases is None else aliases
        self._reader = FastReader(wanted, keep=keep, aliases=self._aliases)

    def check(self, data: FileData) -> CheckedFile:
        """Check and decode a submission.

        Raises:
            Rejection: with every problem of the file.
        """
        read = data if callable(data) else partial(bytes, data)
        checked = self.check_fast(read)
        return self.check_exactly(read()) if checked is None else checked

    def check_fast(self, data: bytes | CheckedSource) -> CheckedFile | None:
        """The fast way; None when the file has anything unusual about it."""
        # No name for the bytes here: with the reader's they are let go of.
        table = self._reader.read(data() if callable(data) else data)
        if table is None or (table.notices and self.schema.form.unknown_columns == "refuse"):
            return None
        ids = len(self.ids.columns)
        try:
            columns = list(self._needed_rows(self._with_ids(table.columns)))
            if len(columns[0]) != self.ids.rows:
                return None
            order = self.ids.order(columns[:ids])
        except IdsDifferError:
            return None
        named = zip(table.names, columns[len(columns) - len(table.names) :], strict=True)
        texts = {name: cells for name, cells in named if self._texts and self.schema.is_raw(name)}
        notices = table.notices
        del table, named, columns[:ids]
        decoded = self._decode(columns)
        if decoded is None:
            return None
        if order is not None:
            decoded = decoded.take(order)
        return CheckedFile(self.schema, self.ids, decoded, notices, texts, order)

    def check_exactly(self, data: bytes, rows_to_skip: RowsToSkip | None = None) -> CheckedFile:
        """The exact way.

        Raises:
            Rejection: with every problem of the file.
        """
        return check_exactly(
            self.schema,
            self.ids,
            data,
            keep_unknown=self._keep is not None,
            rows_to_skip=rows_to_skip,
            aliases=self._aliases,
            optional=self._optional,
        )

    def _with_ids(self, columns: Sequence[pa.ChunkedArray]) -> Sequence[pa.ChunkedArray]:
        """The columns, with the numbers of the rows before them where those are the ids."""
        if self.schema.form.id:
            return columns
        return [pa.chunked_array([row_numbers(len(columns[0]))]), *columns]

    def _needed_rows(self, columns: Sequence[pa.ChunkedArray]) -> Sequence[pa.ChunkedArray]:
        """The columns without the rows of ids that need not be there."""
        if self._optional is None or self._is_needed is None:
            return columns
        needed = self._is_needed[self._optional.positions(columns[: len(self.ids.columns)])]
        if needed.all():
            return columns
        mask = pa.array(needed)
        return [column.filter(mask) for column in columns]

    def _decode(self, columns: list[pa.ChunkedArray]) -> Decoded | None:
        """Decode the columns; each is taken out, and need not stay beside what it becomes."""
        schema = self.schema
        columns.reverse()
        numbers = np.empty((self.ids.rows, len(schema.bounds)), order="F")
        others: dict[str, Values] = {}
        place = 0
        for name, column in schema.form.columns.items():
            cells = columns.pop()
            bounds = schema.bounds.get(name)
            if bounds is None:
                values = from_arrow(column, schema.books[name], cells, self._known.get(name))
                if values is None:
                    return None
                others[name] = values
                continue
            out = numbers[:, place]
            place += 1
            fill = fill_booleans if column.kind == "boolean" else fill_numbers
            if not fill(cells, out) or not bounds.admit(out):
                return None
        if schema.summed and not schema.sums_to_one(numbers).all():
            return None
        return Decoded(numbers, others)


def _among(every: PublicIds, some: PublicIds) -> BoolArray:
    """For each of the ids `every`, whether it is one of `some`."""
    found = pc.is_in(every.keys(), value_set=some.keys())
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def check(data: FileData, form: SubmissionForm, ids: PublicIds) -> CheckedFile:
    """Check one submission; `Checker` is for many.

    Raises:
        Rejection: with every problem of the file.
    """
    return Checker(form, ids).check(data)


def read_ids(data: bytes, form: SubmissionForm, file: str = SAMPLE_FILE) -> PublicIds:
    """The public ids, from the sample submission. Only its id columns are looked at.

    Where the position of a row is its id, only the number of rows is.

    Raises:
        BadCompetition: it is no CSV, lacks an id column, or its ids are empty or repeated.
    """
    names = form.id or tuple(form.columns)[:1]
    table = FastReader(dict.fromkeys(names, pa.string()), aliases=form.aliases).read(data)
    # The fast reader takes a blank line for a row of empty cells; the exact one knows better.
    if table is not None and not any(_has_blank(column) for column in table.columns):
        columns = list(table.columns)
    else:
        violations = FoundViolations()
        try:
            sheet = read_text_table(decode_text(data), names, (), violations, aliases=form.aliases)
        except Rejection as rejection:
            raise bad_file(file, rejection) from None
        if violations or sheet is None:
            raise bad_file(file, Rejection(violations.violations))
        columns = [pa.array(sheet.columns[name], pa.string()) for name in names]
    if not form.id:
        columns = [row_numbers(len(columns[0]))]
    try:
        matching = Matching(numeric=form.id_kind == "integer", repeated=form.repeated_ids)
        return PublicIds.from_columns(columns, matching)
    except ValueError as error:
        key = ", ".join(names)
        raise BadCompetition([{"file": file, "key": key, "message": str(error)}]) from None


def _has_blank(column: pa.ChunkedArray) -> bool:
    return bool(pc.any(pc.equal(pc.utf8_trim(column, " \t"), "")).as_py())


def bad_file(file: str, rejection: Rejection) -> BadCompetition:
    """The problems of a competition's own file, without examples from it."""
    return BadCompetition(
        [
            {"file": file, "key": violation.column or "", "message": violation.message}
            for violation in rejection.verdict.violations
        ]
    )
