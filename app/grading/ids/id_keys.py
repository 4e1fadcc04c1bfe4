"""When two ids are the same: by their text, their number, and their position among repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.grading.ids.distinct_texts import distinct_texts

IntArray = NDArray[np.int64]

# Files with NUL bytes are rejected, so no two composite ids join to the same text.
JOINT = "\0"
_WHOLE_NUMBER = r"^0*([0-9]+)(?:\.0*)?$"


@dataclass(frozen=True, slots=True)
class Matching:
    r"""How ids are compared: with `numeric`, 7, 007 and 7.0 are one id.

    With `repeated`, the second row of an id is matched with the second row of that id, and so on.

    >>> Matching(numeric=True, repeated=True).keys([pa.array(["7", "07.0", "x"])]).to_pylist()
    ['7', '7\x00row 2 of this id', 'x']
    """

    numeric: bool = False
    repeated: bool = False

    def keys(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> pa.Array | pa.ChunkedArray:
        """One text for every row; rows with equal texts have the same id."""
        if self.numeric:
            columns = [pc.replace_substring_regex(c, _WHOLE_NUMBER, r"\1") for c in columns]
        joined = columns[0]
        if len(columns) > 1:
            joined = pc.binary_join_element_wise(*columns, JOINT)
        return _with_row_numbers(joined) if self.repeated else joined


def are_whole_numbers(columns: Sequence[pa.Array | pa.ChunkedArray]) -> bool:
    """Whether all ids are whole numbers in shortest form, which programs may write as 7.0 or 007.

    >>> are_whole_numbers([pa.array(["7", "10"])]), are_whole_numbers([pa.array(["7", "010"])])
    (True, False)
    """
    shortest = r"^(0|[1-9][0-9]*)$"
    return all(pc.all(pc.match_substring_regex(c, shortest)).as_py() for c in columns)


EXACT_MATCHING = Matching()
_ROW_MARK = JOINT + "row "


def first_row_of(key: str) -> str:
    """The key of an id's first row, from the key of a later row; "" for the key of a first row."""
    first, mark, _ = key.rpartition(_ROW_MARK)
    return first if mark else ""


def _with_row_numbers(keys: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The keys; the second and later rows of an id are marked with their number."""
    codes = pd.Series(distinct_texts(keys)[0])
    numbers = codes.groupby(codes).cumcount()
    marks = np.where(numbers == 0, "", _ROW_MARK + (numbers + 1).astype(str) + " of this id")
    texts = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    return pc.binary_join_element_wise(texts, pa.array(marks, pa.string()), "")
