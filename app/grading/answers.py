"""The private answers: decoded once, by the rules of submissions, and split into their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.domain.columns import MaskColumn
from app.domain.competition import Competition
from app.domain.form import USAGE_COLUMN, SubmissionForm
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.check import Checker, FileData, bad_file, read_ids
from app.grading.check_against_answers import check_fit, sizes_of_images
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import MetricInput
from app.grading.columns.labels import known_names
from app.grading.ids.public_ids import IntArray, PublicIds
from app.grading.reading.text_table import Cells
from app.grading.reading.violations import shorten

PUBLIC, PRIVATE, IGNORED, SEARCH = "public", "private", "ignored", "search"
_USAGES = pa.array([PUBLIC, PRIVATE, IGNORED, SEARCH])


class Part:
    """The answers of some rows, ready for metrics. `rows` is None for all rows."""

    def __init__(self, checked: CheckedFile, rows: IntArray | None) -> None:
        self.rows = rows
        self._checked = checked
        self._prepared: tuple[Callable[[Any], Any], Any] | None = None

    @cached_property
    def arrays(self) -> MetricInput:
        """The `y_true` of a built-in metric."""
        decoded = self._checked.decoded
        part = decoded if self.rows is None else decoded.take(self.rows)
        arrays = part.arrays(decoded.labels())
        if isinstance(arrays, np.ndarray):
            # All later submissions use the same array: no metric may write into it.
            arrays = arrays.view()
            arrays.flags.writeable = False
        return arrays

    @cached_property
    def _frame(self) -> pd.DataFrame:
        frame = self._checked.frame(self.rows)
        return frame.drop(columns=[USAGE_COLUMN], errors="ignore").reset_index(drop=True)

    def frame(self) -> pd.DataFrame:
        """The `answers` of a custom metric, which may change them."""
        # pandas copies a column only when it is written to.
        return self._frame.copy(deep=False)

    def truth(self, *, frames: bool, prepare: Callable[[Any], Any] | None) -> Any:
        """The first argument of a metric: a frame or arrays, or the result of `prepare` of them."""
        if prepare is None:
            return self.frame() if frames else self.arrays
        if self._prepared is None or self._prepared[0] is not prepare:
            self._prepared = (prepare, prepare(self.frame() if frames else self.arrays))
        return self._prepared[1]


class Answers:
    """Decoded answers in the order of the public ids, and the checker for submissions."""

    def __init__(
        self,
        checked: CheckedFile,
        form: SubmissionForm,
        public: IntArray | None,
        private: IntArray | None,
        sizes: dict[str, IntArray] | None = None,
        optional: PublicIds | None = None,
        *,
        search: IntArray | None = None,
        frames: bool = True,
    ) -> None:
        self._checked = checked
        self._sizes = sizes or {}
        self.ids = checked.ids
        self.labels = checked.decoded.labels()
        known = {name: known_names(names) for name, names in self.labels.items()}
        found = {name: texts for name, texts in known.items() if texts is not None}
        self.checker = Checker(form, checked.ids, optional=optional, known=found, texts=frames)
        self.has_usage = private is not None
        self.private = Part(checked, private)
        self.public = None if public is None or not len(public) else Part(checked, public)
        self.search = None if search is None or not len(search) else Part(checked, search)
        texts = sum(int(column.nbytes) for column in checked.texts.values())
        # The decoded columns, a copy split into parts, the texts, the ids twice; all of it again as
        # a DataFrame; and the indexes of labels.
        parts = (2 if self.has_usage else 1) * checked.decoded.nbytes
        ids = checked.ids.nbytes + (0 if optional is None else optional.nbytes)
        self.nbytes = parts + texts + 2 * ids + (parts + texts + ids if frames else 0)
        self.nbytes += sum(names.nbytes for names in found.values())

    @property
    def parts(self) -> dict[str, Part]:
        """The private part, and the public and the search one if there are such rows."""
        found = {PRIVATE: self.private, PUBLIC: self.public, SEARCH: self.search}
        return {name: part for name, part in found.items() if part is not None}

    def check(self, data: FileData) -> CheckedFile:
        """Check and decode a submission.

        Raises:
            Rejection: the file is invalid; it lists every problem.
        """
        return check_fit(self._checked, self._sizes, self.checker.check(data))


def decode_answers(
    data: bytes, competition: Competition, ids: PublicIds, *, frames: bool = True
) -> Answers:
    """Decode the answers file; without `frames`, which custom metrics need, only declared columns.

    Rows whose `Usage` is Ignored must be there, but their values are not checked.

    Raises:
        BadCompetition: the file is invalid; it lists every problem.
    """
    file = f"private/{competition.answers.file}"
    aliases = answer_aliases(competition)
    form = answer_form(competition)
    optional = None
    if form.optional_ids:
        optional, ids = ids, read_ids(data, form, file)
    needed = _needed_texts(competition)

    def keep(name: str) -> bool:
        return frames or name in needed or _means_usage(name)

    checker = Checker(form, ids, keep=keep, aliases=aliases)
    # A row that a prediction column marks as unscored may have no valid prediction: skip it.
    is_fast = not set(competition.answers.unscored) & set(competition.form.columns)
    checked = checker.check_fast(data) if is_fast else None
    skipped: list[int] | None = None
    if checked is None:

        def rows_to_skip(columns: dict[str, Cells]) -> list[int]:
            nonlocal skipped
            skipped = np.flatnonzero(ignored_cells(columns, competition)).tolist()
            return skipped

        try:
            checked = checker.check_exactly(data, rows_to_skip=rows_to_skip)
        except Rejection as rejection:
            raise bad_file(file, rejection) from None
    for name in checked.texts:
        declared = name in competition.form.columns
        if not declared and name != USAGE_COLUMN and _means_usage(name):
            message = f"write this column's name as {USAGE_COLUMN}"
            raise BadCompetition([{"file": file, "key": name, "message": message}])
    sizes = sizes_of_images(competition.form.columns, checked, file)
    unscored = _unscored(checked, competition, skipped)
    kept = checked if frames else replace(checked, texts={})
    if USAGE_COLUMN not in checked.texts:
        scored = (
            None if unscored is None else _require_rows(np.flatnonzero(~unscored), file, "scored")
        )
        return Answers(kept, competition.form, None, scored, sizes, optional, frames=frames)
    usages = pc.index_in(_normalized_usage(checked.texts[USAGE_COLUMN]), value_set=_USAGES)
    if usages.null_count:
        row = pc.index(usages.is_null(), True).as_py()
        found = shorten(checked.texts[USAGE_COLUMN][row].as_py())
        expected = "expected Public, Private, Search or Ignored in every row"
        message = f"{expected}; row {row + 1} has {found!r}"
        raise BadCompetition([{"file": file, "key": USAGE_COLUMN, "message": message}])
    codes = usages.to_numpy()
    codes = codes if checked.order is None else codes[checked.order]
    counts = np.True_ if unscored is None else ~unscored
    public, private, search = (np.flatnonzero((codes == code) & counts) for code in (0, 1, 3))
    private = _require_rows(private, file, "Private")
    return Answers(
        kept, competition.form, public, private, sizes, optional, search=search, frames=frames
    )


def _needed_texts(competition: Competition) -> set[str]:
    """The columns besides the declared ones that are needed to read the answers."""
    masks = [c for c in competition.form.columns.values() if isinstance(c, MaskColumn)]
    sizes = [key for mask in masks for key in (mask.height, mask.width) if isinstance(key, str)]
    return {USAGE_COLUMN, *competition.answers.unscored, *sizes}


def _means_usage(name: str) -> bool:
    return name.strip().casefold() == USAGE_COLUMN.casefold()


def _require_rows(rows: IntArray, file: str, usage: str) -> IntArray:
    if not len(rows):
        message = f"no row is {usage}, so nothing decides the score"
        raise BadCompetition([{"file": file, "key": USAGE_COLUMN, "message": message}])
    return rows


def _unscored(
    checked: CheckedFile, competition: Competition, skipped: list[int] | None
) -> NDArray[np.bool_] | None:
    """For each row in the order of the ids, whether it is unscored; None where no row is."""
    if not competition.answers.unscored:
        return None
    rows = np.zeros(checked.ids.rows, dtype=bool)
    if skipped is not None:
        rows[skipped] = True
    for name, texts in competition.answers.unscored.items():
        if name in competition.form.columns:
            continue
        if name not in checked.texts:
            file = f"private/{competition.answers.file}"
            message = "answers.unscored names this column, and it is not there"
            raise BadCompetition([{"file": file, "key": name, "message": message}])
        found = pc.is_in(checked.texts[name], value_set=pa.array(texts, pa.string()))
        rows |= np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)
    return rows if checked.order is None else rows[checked.order]


def _normalized_usage(usages: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_lower(pc.utf8_trim_whitespace(usages))


def answer_form(competition: Competition) -> SubmissionForm:
    """The form of the answers file."""
    form = competition.form
    if not competition.answers.kinds:
        return form
    return form.model_copy(update={"columns": form.columns | competition.answers.kinds})


def answer_aliases(competition: Competition) -> dict[str, str]:
    """Column names in the answers file, each with the name in the submission."""
    renamed = {there: here for here, there in competition.answers.columns.items()}
    return competition.form.aliases | renamed


def ignored_cells(columns: Mapping[str, Sequence[str | None]], competition: Competition) -> Any:
    """For each row of an answers file, whether no score counts it."""
    height = max((len(cells) for cells in columns.values()), default=0)
    ignored = np.zeros(height, dtype=bool)
    for name, texts in competition.answers.unscored.items():
        for row, cell in enumerate(columns.get(name, ())):
            ignored[row] |= cell in texts
    for row, usage in enumerate(columns.get(USAGE_COLUMN, ())):
        ignored[row] |= usage is not None and is_ignored(usage)
    return ignored


def is_ignored(usage: str) -> bool:
    """Whether a cell of the column `Usage` is Ignored, so that no score counts the row.

    >>> is_ignored(" ignored"), is_ignored("Public")
    (True, False)
    """
    return usage.strip().lower() == IGNORED
