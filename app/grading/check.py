"""Check a file's form: read its bytes and decode its columns, in the order of the public ids.

There are two checks. The fast check reads with pyarrow, decodes complete columns and gives up at
the first problem. The exact check reads every cell as text and finds every problem. Every file
that the fast check accepts, the exact check accepts too, with the same values to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.competition import SAMPLE_FILE
from app.domain.form import SubmissionForm
from app.domain.verdict import Rejection, Violation, ViolationCode
from app.errors import BadCompetition
from app.grading.check_exact import RowsToSkip, check_exactly
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import Decoded, Values, from_arrow
from app.grading.columns.numbers import fill_booleans, fill_numbers, is_fast_number
from app.grading.ids.fixed_width_index import KnownTexts
from app.grading.ids.id_keys import Matching, are_whole_numbers
from app.grading.ids.public_ids import IdsDifferError, IntArray, PublicIds, row_numbers
from app.grading.reading.fast_reader import FastReader
from app.grading.reading.text_table import read_text_table
from app.grading.reading.utf8 import decode_text
from app.grading.reading.violations import FoundViolations
from app.grading.schema import Schema
from app.metrics.arrays import BoolArray

# A file's bytes, or a function that reads them again, so that they need not stay in memory.
CheckedSource = Callable[[], bytes]
FileData: TypeAlias = bytes | memoryview | pa.Buffer | CheckedSource


class Checker:
    """Checks submissions of one form against one set of public ids.

    It never sees answers: `known` has, by column, only the labels to look for first. With `texts`,
    columns that are not number-like are also kept as written.
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
        self._is_needed = None if optional is None else _is_among(optional, ids)
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
            Rejection: the file is invalid; it lists every problem.
        """
        read = data if callable(data) else partial(bytes, data)
        checked = self.check_fast(read)
        return self.check_exactly(read()) if checked is None else checked

    def check_fast(self, data: bytes | CheckedSource) -> CheckedFile | None:
        """The fast check; None when anything in the file is unusual."""
        # No variable keeps the bytes here, so the reader can free them.
        table = self._reader.read(data() if callable(data) else data)
        if table is None or (table.notices and self.schema.form.unknown_columns == "refuse"):
            return None
        ids = len(self.ids.columns)
        try:
            columns = list(self._with_ids(table.columns))
            order = self._order(columns[:ids])
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
        """The exact check.

        Raises:
            Rejection: the file is invalid; it lists every problem.
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
        """The columns; row numbers are put first where the position of a row is its id."""
        if self.schema.form.id:
            return columns
        return [pa.chunked_array([row_numbers(len(columns[0]))]), *columns]

    def _order(self, submitted: Sequence[pa.ChunkedArray]) -> IntArray | None:
        """The rows of the file in the order of the ids; None if they are in order already.

        Raises:
            IdsDifferError: an id is unknown, missing or repeated.
        """
        if self._optional is None or self._is_needed is None:
            return self.ids.order(submitted)
        positions = self._optional.positions(submitted)
        # A file with only a header has no position at all.
        if not positions.size or np.bincount(positions).max() > 1:
            raise IdsDifferError
        needed = self._is_needed[positions]
        rows = np.flatnonzero(needed)
        mask = pa.array(needed)
        order = self.ids.order([column.filter(mask) for column in submitted])
        return rows if order is None else rows[order]

    def _decode(self, columns: list[pa.ChunkedArray]) -> Decoded | None:
        """Decode the columns. Each is removed from the list, so that its memory can be freed."""
        schema = self.schema
        columns.reverse()
        numbers = np.empty((len(columns[0]), len(schema.bounds)), order="F")
        others: dict[str, Values] = {}
        index = 0
        for name, column in schema.form.columns.items():
            cells = columns.pop()
            bounds = schema.bounds.get(name)
            if bounds is None:
                values = from_arrow(column, schema.labels[name], cells, self._known.get(name))
                if values is None:
                    return None
                others[name] = values
                continue
            out = numbers[:, index]
            index += 1
            fill = fill_booleans if column.kind == "boolean" else fill_numbers
            if not fill(cells, out) or not bounds.admit(out):
                return None
        if schema.summed:
            sums = schema.row_sums(numbers)
            if not schema.sums_to_one(sums).all():
                return None
            schema.divide_by_sums(numbers, sums)
        return Decoded(numbers, others)


def _is_among(every: PublicIds, some: PublicIds) -> BoolArray:
    """For each of the ids `every`, whether it is one of `some`."""
    found = pc.is_in(every.keys(), value_set=some.keys())
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def check(data: FileData, form: SubmissionForm, ids: PublicIds) -> CheckedFile:
    """Check one submission. To check many, make one `Checker`.

    Raises:
        Rejection: the file is invalid; it lists every problem.
    """
    return Checker(form, ids).check(data)


def read_ids(data: bytes, form: SubmissionForm, file: str = SAMPLE_FILE) -> PublicIds:
    """The public ids, from the id columns of the sample submission.

    Where the position of a row is its id, only the rows are counted.

    Raises:
        BadCompetition: it is not CSV, lacks an id column, or an id is empty or repeated.
    """
    names = form.id or tuple(form.columns)[:1]
    table = FastReader(dict.fromkeys(names, pa.string()), aliases=form.aliases).read(data)
    # The fast reader reads a blank line as a row of empty cells; the exact reader skips it.
    if table is not None and not any(_has_blank(column) for column in table.columns):
        columns = list(table.columns)
    else:
        violations = FoundViolations()
        try:
            text_table = read_text_table(
                decode_text(data), names, (), violations, aliases=form.aliases
            )
        except Rejection as rejection:
            raise bad_file(file, rejection) from None
        if violations or text_table is None:
            raise bad_file(file, Rejection(violations.violations))
        columns = [pa.array(text_table.columns[name], pa.string()) for name in names]
    if not form.id:
        columns = [row_numbers(len(columns[0]))]
    try:
        numeric = form.id_kind == "integer" or (
            "id_kind" not in form.model_fields_set and are_whole_numbers(columns)
        )
        matching = Matching(numeric=numeric, repeated=form.repeated_ids)
        return PublicIds.from_columns(columns, matching)
    except ValueError as error:
        key = ", ".join(names)
        raise BadCompetition([{"file": file, "key": key, "message": str(error)}]) from None


def _has_blank(column: pa.ChunkedArray) -> bool:
    return bool(pc.any(pc.equal(pc.utf8_trim(column, " \t"), "")).as_py())


def bad_file(file: str, rejection: Rejection) -> BadCompetition:
    """The error for an invalid file of a competition, without values from the file.

    Ids are shown: only the admin who has the file sees this, and must compare two files.
    """
    return BadCompetition(
        [
            {"file": file, "key": violation.column or "", "message": _with_ids(violation)}
            for violation in rejection.verdict.violations
        ]
    )


def _with_ids(violation: Violation) -> str:
    """The message; about ids that differ, with some, since either file may be the wrong one."""
    if violation.code not in (ViolationCode.UNKNOWN_ID, ViolationCode.MISSING_ID):
        return violation.message
    examples = ", ".join(repr(example) for example in violation.examples[:2])
    owner = "this file" if violation.code is ViolationCode.UNKNOWN_ID else "the sample submission"
    found = f"; {owner} has {examples}" if examples else ""
    return f"{violation.message}{found}. Either of the two files may be the wrong one"
