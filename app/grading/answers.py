"""The private answers, decoded, with the rows of each part."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from app.domain.form import USAGE_COLUMN, SubmissionForm
from app.grading.check import Checker, FileData
from app.grading.check_against_answers import check_fit
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import MetricInput
from app.grading.columns.labels import known_names
from app.grading.ids.public_ids import IntArray, PublicIds

PUBLIC, PRIVATE, IGNORED, SEARCH = "public", "private", "ignored", "search"


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
            self._prepared = None  # two results may be more than the memory that a grader may use
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
