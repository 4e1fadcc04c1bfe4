"""Decode the private answers by the rules of submissions, and find the rows of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.domain.columns import MaskColumn
from app.domain.competition import Competition
from app.domain.form import USAGE_COLUMN, SubmissionForm
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.answers import IGNORED, PRIVATE, PUBLIC, SEARCH, Answers
from app.grading.check import Checker, bad_file, read_ids
from app.grading.check_against_answers import sizes_of_images
from app.grading.checked_file import CheckedFile
from app.grading.ids.public_ids import IntArray, PublicIds
from app.grading.reading.text_table import Cells
from app.grading.reading.violations import shorten

_USAGES = pa.array([PUBLIC, PRIVATE, IGNORED, SEARCH])


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
    codes = _usage_codes(checked, file)
    counts = np.True_ if unscored is None else ~unscored
    public, private, search = (np.flatnonzero((codes == code) & counts) for code in (0, 1, 3))
    private = _require_rows(private, file, "Private")
    return Answers(
        kept, competition.form, public, private, sizes, optional, search=search, frames=frames
    )


def _usage_codes(checked: CheckedFile, file: str) -> IntArray:
    """For each row in the order of the ids, the position of its usage in `_USAGES`."""
    usages = pc.index_in(_normalized_usage(checked.texts[USAGE_COLUMN]), value_set=_USAGES)
    if usages.null_count:
        row = pc.index(usages.is_null(), True).as_py()
        found = shorten(checked.texts[USAGE_COLUMN][row].as_py())
        expected = "expected Public, Private, Search or Ignored in every row"
        message = f"{expected}; row {row + 1} has {found!r}"
        raise BadCompetition([{"file": file, "key": USAGE_COLUMN, "message": message}])
    codes: IntArray = usages.to_numpy()
    return codes if checked.order is None else codes[checked.order]


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
