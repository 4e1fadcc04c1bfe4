"""The declared form, worked out once for all files: which columns are numbers, bounds, books."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from app.domain.form import SubmissionForm
from app.grading.columns.decoded import declared_book
from app.grading.columns.numbers import Bounds, FloatArray, NumberLike

# Three decimals a column are commonly kept, and float32 softmax outputs sum to 1 within 1e-6.
PROBABILITY_SUM_TOLERANCE = 1e-3


class Schema:
    """A form and what follows from it."""

    def __init__(self, form: SubmissionForm) -> None:
        self.form = form
        self.books: dict[str, pa.StringArray | None] = {
            name: declared_book(column) for name, column in form.columns.items()
        }
        # Number-like columns only, in the order in which they stand in the matrix of numbers.
        self.bounds = {
            name: Bounds.of(column)
            for name, column in form.columns.items()
            if isinstance(column, NumberLike)
        }
        self.summed = [
            place
            for place, name in enumerate(self.bounds)
            if form.rows_sum_to_one and form.columns[name].kind == "probability"
        ]

    def is_raw(self, name: str) -> bool:
        """Whether a column is kept as written, because it is neither an id nor number-like."""
        return name not in self.form.id and name not in self.bounds

    def sums_to_one(self, numbers: FloatArray) -> NDArray[np.bool_]:
        """For each row, whether its probabilities sum to one within the tolerance."""
        sums = np.zeros(len(numbers))
        for place in self.summed:
            sums += numbers[:, place]
        sums -= 1.0
        return np.asarray(np.abs(sums, out=sums) <= PROBABILITY_SUM_TOLERANCE)
