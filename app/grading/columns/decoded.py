"""The decoded columns of one file, and the arrays that metrics receive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from app.domain.columns import BoxesColumn, Column, LabelColumn, ListColumn, MaskColumn, TextColumn
from app.grading.columns.boxes import boxes_from_arrow, boxes_from_cells
from app.grading.columns.labels import Encoded, code, labels_from_cells
from app.grading.columns.lists import lists_from_arrow, lists_from_cells
from app.grading.columns.masks import masks_from_arrow, masks_from_cells
from app.grading.columns.numbers import FloatArray, NumberLike
from app.grading.columns.texts import TextArray, texts_from_arrow, texts_from_cells
from app.grading.ids.fixed_width_index import KnownTexts
from app.grading.ids.public_ids import IntArray
from app.grading.reading.text_table import Cells
from app.grading.reading.violations import FoundViolations
from app.metrics.arrays import Boxes, Masks

Values = Encoded | Masks | Boxes | TextArray
# The argument of a metric: float64 (n,) or (n, k), int64 codes, texts, Lists, Masks or Boxes.
MetricInput = Any


@dataclass(frozen=True, slots=True)
class Decoded:
    """All prediction columns of a file.

    `numbers` holds the number-like columns, shape (n, k), column by column in memory, in the
    order of the form; `others` the rest by name.
    """

    numbers: FloatArray
    others: dict[str, Values]

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return int(self.numbers.nbytes) + sum(_nbytes(values) for values in self.others.values())

    def take(self, rows: IntArray) -> Decoded:
        """The same columns in other rows."""
        numbers = np.empty((len(rows), self.numbers.shape[1]), order="F")
        for index in range(numbers.shape[1]):
            np.take(self.numbers[:, index], rows, out=numbers[:, index])
        return Decoded(
            numbers,
            {
                name: values[rows] if isinstance(values, np.ndarray) else values.take(rows)
                for name, values in self.others.items()
            },
        )

    def labels(self) -> dict[str, pa.StringArray]:
        """The labels of every column of labels or lists, in the order of their codes."""
        return {n: values.names for n, values in self.others.items() if isinstance(values, Encoded)}

    def arrays(self, labels: Mapping[str, pa.StringArray]) -> MetricInput:
        """The argument of a built-in metric. Labels get their codes in `labels`.

        Raises:
            TypeError: the columns do not make one array (see `is_uniform`).
        """
        if not self.others:
            return self.numbers[:, 0] if self.numbers.shape[1] == 1 else self.numbers
        if self.numbers.shape[1]:
            raise TypeError("columns of numbers and other columns do not make one array")
        coded = [
            values.coded_by(labels[name]) if isinstance(values, Encoded) else values
            for name, values in self.others.items()
        ]
        if len(coded) == 1:
            return coded[0]
        columns = [values for values in coded if isinstance(values, np.ndarray)]
        if len(columns) < len(coded):
            raise TypeError("several columns of lists, masks or boxes do not make one array")
        stacked = np.empty((len(columns[0]), len(columns)), dtype=columns[0].dtype, order="F")
        for index, values in enumerate(columns):
            stacked[:, index] = values
        return stacked


def is_uniform(columns: Mapping[str, Column]) -> bool:
    """Whether the columns make one array: all number-like, all labels, all texts, or one column."""
    kinds = {"number" if isinstance(c, NumberLike) else c.kind for c in columns.values()}
    return len(columns) == 1 or (len(kinds) == 1 and kinds <= {"number", "label", "text"})


def declared_labels(column: Column) -> pa.StringArray | None:
    """The labels of a column that declares them, each once: a list column may repeat one."""
    if isinstance(column, LabelColumn | ListColumn) and column.labels is not None:
        return pa.array(list(dict.fromkeys(column.labels)), pa.string())
    return None


def from_arrow(
    column: Column,
    labels: pa.StringArray | None,
    cells: pa.ChunkedArray,
    known: KnownTexts | None = None,
) -> Values | None:
    """Decode a column that is not number-like at once; None when any cell may be invalid.

    `known` are the labels that are tried first: those of the answers.
    """
    match column:
        case LabelColumn():
            return code(cells, labels, known)
        case ListColumn():
            return lists_from_arrow(column, labels, cells, known)
        case MaskColumn():
            return masks_from_arrow(column, cells)
        case BoxesColumn():
            return boxes_from_arrow(column, cells)
        case TextColumn():
            return texts_from_arrow(column, cells)
    raise TypeError(f"{column.kind} is number-like")


def from_cells(name: str, column: Column, cells: Cells, violations: FoundViolations) -> Values:
    """Decode a column that is not number-like cell by cell, and record the problems."""
    match column:
        case LabelColumn():
            return labels_from_cells(name, column, cells, violations)
        case ListColumn():
            return lists_from_cells(name, column, cells, violations)
        case MaskColumn():
            return masks_from_cells(name, column, cells, violations)
        case BoxesColumn():
            return boxes_from_cells(name, column, cells, violations)
        case TextColumn():
            return texts_from_cells(name, column, cells, violations)
    raise TypeError(f"{column.kind} is number-like")


def _nbytes(values: Values) -> int:
    match values:
        case Encoded():
            return values.nbytes
        case Masks():
            return int(values.starts.nbytes + values.lengths.nbytes + values.offsets.nbytes)
        case Boxes():
            return int(values.values.nbytes + values.offsets.nbytes)
        case _:
            # A Python text takes about 50 bytes more than its characters.
            return sum(len(text) for text in values) + 58 * len(values)
