"""Draw rows with replacement: how often each cell is drawn, for many resamples at once."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from app.metrics.arrays import FloatArray
from app.resampling.plan import Plan, group_sums

AT_ONCE = 1 << 17  # numbers of a block of weights: 1 MB, which fits into caches
FEW = 16  # a binomial number takes as long as so many drawn rows
CODES = 1 << 16  # values of two random bytes
LARGEST_COUNT = 30  # a row is drawn more often with a probability below 1e-33
# Standard deviations by which the first draws stay below the number of rows: once in 30,000
# resamples they do not, and are drawn again.
MARGIN = 4.0


def draws(plan: Plan, rng: np.random.Generator, resamples: int) -> Iterator[FloatArray]:
    """Blocks of weights (some resamples, cells), with the requested number of resamples in all.

    As many rows as there are are drawn from all of them, so the numbers of cells are multinomial.
    """
    counts = plan.counts()
    is_few = plan.cells * FEW <= plan.rows
    block = max(1, min(resamples, AT_ONCE // (plan.cells if is_few else plan.rows)))
    rows = None if is_few else DrawnRows(plan.rows, rng)
    # All rows have the same chance, so those of the first cell may be drawn first.
    add = None
    if plan.cells < plan.rows:
        add = group_sums(np.repeat(np.arange(plan.cells), counts), plan.cells)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if rows is None:
            yield rng.multinomial(plan.rows, counts / plan.rows, size=size).astype(np.float64)
            continue
        weights = rows.draw(size)
        yield weights if add is None else add(weights)


class DrawnRows:
    """Draws `rows` rows with replacement from themselves: multinomial numbers with equal chances.

    Independent Poisson numbers are multinomial, given their sum. So each row first gets a Poisson
    number with a mean slightly below 1, and the rest of the sum is drawn row by row. This takes a
    third of the time of drawing every row.

    Source: J. F. C. Kingman, Poisson Processes (1993), section 2.4, for the conditional numbers.
    """

    def __init__(self, rows: int, rng: np.random.Generator) -> None:
        self._rows = rows
        self._rng = rng
        chances = _poisson_chances(max(0.0, 1.0 - MARGIN / sqrt(rows)))
        floors = np.floor(chances * CODES)
        # The number for each code of two bytes. Codes beyond these are for the remainder.
        self._numbers = np.repeat(np.arange(len(chances)), floors.astype(np.int64)).astype(np.uint8)
        rest = chances * CODES - floors
        self._rest = rest / (rest.sum() or 1.0)

    def draw(self, resamples: int) -> FloatArray:
        """How often each row is drawn, (resamples, rows)."""
        weights = np.empty((resamples, self._rows))
        # Uses ufuncs and methods of arrays, since to call a numpy function takes as long as 300
        # rows.
        for drawn in weights:
            missing = -1
            while missing < 0:
                drawn[:] = self._poisson()
                missing = self._rows - int(np.add.reduce(drawn))
            np.add.at(drawn, self._rng.integers(0, self._rows, missing), 1.0)
        return weights

    def _poisson(self) -> NDArray[np.uint8]:
        """A Poisson number for each row."""
        words = self._rng.bit_generator.random_raw(-(-self._rows // 4))
        codes = words.view("<u2")[: self._rows]
        numbers = self._numbers.take(codes, mode="clip")
        (beyond,) = (codes >= len(self._numbers)).nonzero()
        if len(beyond):
            numbers[beyond] = self._rng.choice(len(self._rest), len(beyond), p=self._rest)
        return numbers


def _poisson_chances(mean: float) -> FloatArray:
    """The chances of 0, 1, 2, ... under Poisson's distribution; the tail is cut off."""
    factors = mean / np.arange(1, LARGEST_COUNT + 1)
    chances = np.cumprod(np.concatenate([[1.0], factors]))
    shares: FloatArray = chances / chances.sum()
    return shares
