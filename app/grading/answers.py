"""The private answers: decoded once by the rules of submissions, cut into the parts that count."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.domain.competition import USAGE_COLUMN, Competition
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.check import Checker, bad_file
from app.grading.checked import Checked
from app.grading.decoded import MetricInput
from app.grading.ids import IntArray, PublicIds
from app.grading.sheet import Cells

PUBLIC, PRIVATE, IGNORED = "public", "private", "ignored"
_USAGES = pa.array([PUBLIC, PRIVATE, IGNORED])


class Part:
    """The answers of some rows, ready for metrics. `rows` is None for all rows."""

    def __init__(self, checked: Checked, rows: IntArray | None) -> None:
        self.rows = rows
        self._checked = checked

    @cached_property
    def arrays(self) -> MetricInput:
        """What a built-in metric receives as `y_true`."""
        decoded = self._checked.decoded
        part = decoded if self.rows is None else decoded.take(self.rows)
        arrays = part.arrays(decoded.books())
        if isinstance(arrays, np.ndarray):
            # Kept for all submissions to come: no metric may write into it.
            arrays = arrays.view()
            arrays.flags.writeable = False
        return arrays

    @cached_property
    def _frame(self) -> pd.DataFrame:
        frame = self._checked.frame(self.rows)
        return frame.drop(columns=[USAGE_COLUMN], errors="ignore").reset_index(drop=True)

    def frame(self) -> pd.DataFrame:
        """What a custom metric receives as `answers`; its own to change."""
        return self._frame.copy()


class Answers:
    """Decoded answers, aligned to the public ids, and the checker for submissions to them."""

    def __init__(self, checked: Checked, public: IntArray | None, private: IntArray | None) -> None:
        self.checker = Checker(checked.schema.form, checked.ids)
        self.ids = checked.ids
        self.books = checked.decoded.books()
        self.has_usage = private is not None
        self.private = Part(checked, private)
        self.public = None if public is None or not len(public) else Part(checked, public)
        texts = sum(int(column.nbytes) for column in checked.texts.values())
        # The columns as decoded, once more cut into parts, as texts, and twice the ids.
        copies = 2 if self.has_usage else 1
        self.nbytes = copies * checked.decoded.nbytes + texts + 2 * checked.ids.nbytes


def decode_answers(data: bytes, competition: Competition, ids: PublicIds) -> Answers:
    """Decode the answers file.

    Rows that `Usage` calls Ignored must be there, but their values need not make sense.

    Raises:
        BadCompetition: with every problem of the file.
    """
    file = f"private/{competition.answers.file}"
    checker = Checker(competition.submission, ids, keep_unknown=True)
    checked = checker.check_fast(data)
    if checked is None:
        try:
            checked = checker.check_exactly(data, rows_to_skip=_ignored_rows)
        except Rejection as rejection:
            raise bad_file(file, rejection) from None
    for name in checked.texts:
        declared = name in competition.submission.columns
        if not declared and name != USAGE_COLUMN and name.strip().casefold() == "usage":
            message = f"write this column's name as {USAGE_COLUMN}"
            raise BadCompetition([{"file": file, "key": name, "message": message}])
    if USAGE_COLUMN not in checked.texts:
        return Answers(checked, None, None)
    usages = pc.index_in(_plain(checked.texts[USAGE_COLUMN]), value_set=_USAGES)
    if usages.null_count:
        row = pc.index(usages.is_null(), True).as_py() + 1
        message = f"expected Public, Private or Ignored in every row; row {row} has something else"
        raise BadCompetition([{"file": file, "key": USAGE_COLUMN, "message": message}])
    codes = usages.to_numpy()
    codes = codes if checked.order is None else codes[checked.order]
    public, private = (np.flatnonzero(codes == code) for code in (0, 1))
    if not len(private):
        message = "no row is Private, so nothing decides the score"
        raise BadCompetition([{"file": file, "key": USAGE_COLUMN, "message": message}])
    return Answers(checked, public, private)


def _plain(usages: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_lower(pc.utf8_trim_whitespace(usages))


def _ignored_rows(columns: dict[str, Cells]) -> Sequence[int]:
    return [
        row
        for row, usage in enumerate(columns.get(USAGE_COLUMN, ()))
        if usage is not None and is_ignored(usage)
    ]


def is_ignored(usage: str) -> bool:
    """Whether a cell of the column `Usage` says that the row counts nowhere.

    >>> is_ignored(" ignored"), is_ignored("Public")
    (True, False)
    """
    return usage.strip().lower() == IGNORED
