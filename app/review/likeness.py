"""Compare sketches of files: equal predictions, nearly equal ones, and few changed rows."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.grading.graded import Sketch

NEAR = 1e-3  # the relative difference of two numbers that are nearly equal
NEAR_SHARE = 0.95  # share of the compared numbers that are near
VARIED = 16  # distinct numbers that a sketch needs: two good files of few values agree by chance
PROBES = 8  # submissions that make probing
FEW_SHARE = 0.005  # share of the rows; at least one or two and at most FEW_ROWS rows
FEW_ROWS = 8
BLOCK_ROWS = 64  # from here on, two changed rows are few
_FIRST_CELLS = 8  # looked at first, in all sketches; near files have most of them

Cells = npt.NDArray[np.float32]


def cells_of(sketch: Sketch) -> Cells | None:
    """The numbers of a sketch; None if there are none, or too few different ones."""
    cells: Cells = np.frombuffer(sketch.cells, dtype="<f4")
    distinct = {f"{value:.3g}" for value in set(cells.tolist())}
    return cells if len(distinct) >= VARIED else None


def is_constant(sketch: Sketch) -> bool:
    """Whether all numbers of a sketch are equal; False if there are none."""
    return len(set(np.frombuffer(sketch.cells, dtype="<f4").tolist())) == 1


def near_shares(cells: Cells, others: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """For each row of `others`, shape (n, 64): the share of its numbers that are near to `cells`.

    Numbers are near if they differ by at most a thousandth. If all are probabilities, their
    distances from 1 must be near, too. Rows with few near numbers among the first have 0.
    """
    shares = np.zeros(len(others))
    glance = _near(cells[:_FIRST_CELLS], others[:, :_FIRST_CELLS], cells)
    some = np.flatnonzero(glance.mean(axis=1) >= 0.75)
    shares[some] = _near(cells, others[some], cells).mean(axis=1)
    return shares


def _near(cells: Cells, others: Cells, all_cells: Cells) -> npt.NDArray[np.bool_]:
    difference = np.abs(others - cells)
    size = np.maximum(np.abs(others), np.abs(cells))
    if all_cells.min() >= 0.0 and all_cells.max() <= 1.0:
        size = np.minimum(size, np.maximum(1.0 - others, 1.0 - cells))
    near: npt.NDArray[np.bool_] = difference <= NEAR * size
    return near


def changed_rows(changed: int, blocks: int, rows: int) -> int:
    """About how many of the rows of two files differ, if `changed` of the blocks do.

    Exact for up to 64 rows. Beyond that, several changed rows may be in one block: if `c` of `b`
    blocks differ, about `-b ln(1 - c / b)` rows differ (linear counting: Whang, Vander-Zanden and
    Taylor, 1990).

    >>> changed_rows(3, 64, 60), changed_rows(3, 64, 1000), changed_rows(40, 64, 1000)
    (3, 3, 63)
    """
    if rows <= blocks:
        return changed
    if changed == blocks:
        return rows
    return round(-blocks * math.log(1.0 - changed / blocks))


def few(rows: int) -> int:
    """The number of rows that count as few in a file.

    Two files that each change one row of a third file differ in two rows.

    >>> few(20), few(100), few(1000), few(100_000)
    (1, 2, 5, 8)
    """
    return max(1 if rows < BLOCK_ROWS else 2, min(FEW_ROWS, int(rows * FEW_SHARE)))


def probes(sketches: Sequence[Sketch]) -> int:
    """How many of a run's submissions differ from an earlier one in few rows, but at least one.

    Pass at least one submission, but not many, because each is compared with each.
    """
    rows = np.array([one.rows for one in sketches])
    blocks = np.array([np.frombuffer(one.blocks, dtype="<u4") for one in sketches])
    changed = np.count_nonzero(blocks[:, None] != blocks, axis=2)
    most = np.array([[_few_blocks(blocks.shape[1], one.rows)] for one in sketches])
    is_probe = (rows[:, None] == rows) & (changed > 0) & (changed <= most)
    return int(np.count_nonzero(np.tril(is_probe).any(axis=1)))


@functools.lru_cache(maxsize=1024)
def _few_blocks(blocks: int, rows: int) -> int:
    """The largest number of changed blocks that says that few rows differ."""
    is_few = [changed_rows(count, blocks, rows) <= few(rows) for count in range(1, blocks + 1)]
    return is_few.index(False) if False in is_few else blocks
