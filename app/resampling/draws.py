"""Draw rows with replacement: how often each cell is drawn, for many resamples at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from app.metrics.arrays import FloatArray
from app.resampling.plan import Plan

AT_ONCE = 1 << 19  # numbers of a block of weights: 4 MB
FEW = 16  # a binomial number takes as long as so many drawn rows


def draws(plan: Plan, rng: np.random.Generator, resamples: int) -> Iterator[FloatArray]:
    """Blocks of weights (some resamples, cells), as many resamples as asked for in all.

    As many rows as there are, each drawn from all of them: so cells are multinomial numbers.
    """
    counts = plan.counts()
    is_few = plan.cells * FEW <= plan.rows
    chances = counts / plan.rows
    block = max(1, min(resamples, AT_ONCE // plan.cells))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if is_few:
            yield rng.multinomial(plan.rows, chances, size=size).astype(np.float64)
            continue
        weights = np.empty((size, plan.cells))
        for row in weights:
            drawn = rng.integers(0, plan.rows, plan.rows)
            if plan.cell_of_row is not None:
                drawn = plan.cell_of_row[drawn]
            row[:] = np.bincount(drawn, minlength=plan.cells)
        yield weights
