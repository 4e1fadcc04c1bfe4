"""A valid file, decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from app.domain.verdict import Notice
from app.grading.columns.decoded import Decoded
from app.grading.ids.public_ids import IntArray, PublicIds
from app.grading.schema import Schema
from app.metrics.arrays import Boxes, Masks


@dataclass(frozen=True, slots=True, eq=False)
class FromFile:
    """The value of `attrs["file"]` of a metric's DataFrame.

    `rows` has the row of the file for each row; `arrays` has the decoded columns of boxes and
    masks, so that a metric need not parse their texts again.
    """

    rows: IntArray
    arrays: Mapping[str, Boxes | Masks]

    def __deepcopy__(self, memo: object) -> FromFile:
        # pandas copies `attrs` at every operation, and nothing changes this object.
        return self


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A valid submission, or valid answers, with rows in the order of the public ids.

    `texts` has the columns that are not number-like, as written and in the order of the file.
    `order` has the rows of the file in the order of the ids; None where the two orders are equal.
    """

    schema: Schema
    ids: PublicIds
    decoded: Decoded
    warnings: tuple[Notice, ...]
    texts: dict[str, pa.ChunkedArray]
    order: IntArray | None

    def frame(self, rows: IntArray | None = None) -> pd.DataFrame:
        """All columns, of some rows or of all: numbers as float64, everything else as written."""
        columns: dict[str, pd.Series] = {}
        # Where positions are the ids the files have no such column, and the frame has none.
        for name, ids in zip(self.schema.form.id, self.ids.columns, strict=False):
            columns[name] = _series(ids, rows)
        indexes = {name: index for index, name in enumerate(self.schema.bounds)}
        for name in (*self.schema.form.columns, *self.texts):
            if name in indexes:
                values = self.decoded.numbers[:, indexes[name]]
                columns[name] = pd.Series(values.copy() if rows is None else values[rows])
            elif name not in columns:
                columns[name] = _series(self.texts[name], self._rows_of_file(rows))
        frame = pd.DataFrame(columns)
        in_file = np.arange(self.ids.rows) if self.order is None else self.order
        arrays = {
            name: values if rows is None else values.take(rows)
            for name, values in self.decoded.others.items()
            if isinstance(values, Boxes | Masks)
        }
        frame.attrs["file"] = FromFile(in_file if rows is None else in_file[rows], arrays)
        return frame

    def _rows_of_file(self, rows: IntArray | None) -> IntArray | None:
        if self.order is None or rows is None:
            return rows if self.order is None else self.order
        return self.order[rows]


def _series(column: pa.Array | pa.ChunkedArray, rows: IntArray | None) -> pd.Series:
    series: pd.Series = (column if rows is None else column.take(pa.array(rows))).to_pandas()
    return series
