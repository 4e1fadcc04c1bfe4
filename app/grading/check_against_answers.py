"""Checks that need the answers: masks against sizes of images, and lists against their items.

Sizes and items are public, in the images or the sample submission, but only the answers have them
in a form that Podium reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from app.domain.columns import Column, ListColumn, MaskColumn
from app.domain.verdict import Rejection, ViolationCode
from app.errors import BadCompetition
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import Values
from app.grading.columns.labels import Encoded
from app.grading.columns.masks import check_ends
from app.grading.ids.public_ids import IntArray
from app.grading.reading.violations import FoundViolations, ViolationKind
from app.metrics.arrays import Lists, Masks, row_of_each
from app.metrics.ranking import places_of_items

_OTHER_ITEMS = ViolationKind(
    ViolationCode.BAD_FORMAT,
    "list does not hold its row's items",
    "lists do not hold their rows' items",
    "write every item of the sample submission's row once, in the order you predict",
)


def sizes_of_images(
    columns: Mapping[str, Column], checked: CheckedFile, file: str
) -> dict[str, IntArray]:
    """For each mask column without one size: the pixels of each row's image, in order of the ids.

    Raises:
        BadCompetition: the answers lack such a column, or it does not hold whole numbers.
    """
    sizes = {}
    for name, column in columns.items():
        if isinstance(column, MaskColumn) and column.pixels is None:
            height, width = (
                _whole_numbers(checked, str(key), file) for key in (column.height, column.width)
            )
            sizes[name] = height * width
    return sizes


def _whole_numbers(checked: CheckedFile, key: str, file: str) -> IntArray:
    cells = checked.texts.get(key)
    try:
        if cells is None:
            raise pa.ArrowInvalid("there is no such column")
        numbers = cells.cast(pa.float64()).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        message = "a whole number is needed in every row: the size of its image"
        raise BadCompetition([{"file": file, "key": key, "message": message}]) from None
    found: IntArray = numbers if checked.order is None else numbers[checked.order]
    return found


def check_fit(
    answers: CheckedFile, sizes: Mapping[str, IntArray], checked: CheckedFile
) -> CheckedFile:
    """Check a submission against the answers' sizes and items.

    Returns it with the items to be ordered coded as the answers' are.

    Raises:
        Rejection: a mask passes the end of its image, or a list has other items than its row.
    """
    violations = FoundViolations()
    others: dict[str, Values] = {}
    for name, pixels in sizes.items():
        masks = checked.decoded.others[name]
        if isinstance(masks, Masks):
            check_ends(name, masks, pixels, checked.order, violations)
    for name, column in checked.schema.form.columns.items():
        if isinstance(column, ListColumn) and column.permutation:
            ours, theirs = answers.decoded.others[name], checked.decoded.others[name]
            if isinstance(ours, Encoded) and isinstance(theirs, Encoded):
                coded = Encoded(theirs.coded_by(ours.names), ours.names)
                _check_items(name, ours.codes, coded.codes, checked.order, violations)
                others[name] = coded
    if violations:
        raise Rejection(violations.violations, checked.warnings)
    if not others:
        return checked
    decoded = replace(checked.decoded, others=checked.decoded.others | others)
    return replace(checked, decoded=decoded)


def _check_items(
    name: str,
    ours: IntArray | Lists,
    theirs: IntArray | Lists,
    order: IntArray | None,
    violations: FoundViolations,
) -> None:
    if not isinstance(ours, Lists) or not isinstance(theirs, Lists):
        return
    if places_of_items(ours, theirs) is not None:
        return
    wrong = np.diff(ours.offsets) != np.diff(theirs.offsets)
    kept = np.flatnonzero(~wrong)
    a, b = ours.take(kept), theirs.take(kept)
    rows = row_of_each(a.offsets)
    differs = a.codes[np.lexsort((a.codes, rows))] != b.codes[np.lexsort((b.codes, rows))]
    wrong[kept[rows[differs]]] = True
    for row in np.flatnonzero(wrong).tolist():
        violations.count(_OTHER_ITEMS, name, (row if order is None else int(order[row])) + 1)
