"""The declared form, prepared once for all files: columns of numbers, their bounds, labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from app.domain.form import SubmissionForm
from app.grading.columns.decoded import declared_labels
from app.grading.columns.numbers import Bounds, FloatArray, NumberLike
from app.metrics.probabilistic import SUM_ROUNDING

# Probabilities rounded to three decimals are within it. Rows whose sum is off by more than
# SUM_ROUNDING are divided by it, so a sum above 1 gains nothing.
PROBABILITY_SUM_TOLERANCE = 1e-3


class Schema:
    """A form, with the bounds of its numbers, its labels and its columns of probabilities."""

    def __init__(self, form: SubmissionForm) -> None:
        self.form = form
        self.labels: dict[str, pa.StringArray | None] = {
            name: declared_labels(column) for name, column in form.columns.items()
        }
        # Number-like columns only, in the order of the matrix of numbers.
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

    def row_sums(self, numbers: FloatArray) -> FloatArray:
        """The sum of each row's probabilities."""
        # Both checks must get the same sum to the last bit, so the order of addition is fixed.
        sums = np.zeros(len(numbers))
        for place in self.summed:
            sums += numbers[:, place]
        return sums

    def sums_to_one(self, sums: FloatArray) -> NDArray[np.bool_]:
        """For each row's sum, whether it is one within the tolerance."""
        return np.asarray(np.abs(sums - 1.0) <= PROBABILITY_SUM_TOLERANCE)

    def divide_by_sums(self, numbers: FloatArray, sums: FloatArray) -> None:
        """Divide the rows whose sum is off by more than rounding by their sum, in place."""
        is_off = np.abs(sums - 1.0) > SUM_ROUNDING
        if is_off.any():
            for place in self.summed:
                np.divide(numbers[:, place], sums, out=numbers[:, place], where=is_off)
