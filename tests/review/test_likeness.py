"""Nearly equal predictions and probing, by sketches of made files."""

from __future__ import annotations

import numpy as np
import pytest

from app.grading.graded import Sketch
from app.review.likeness import (
    NEAR_SHARE,
    cells_of,
    changed_rows,
    few,
    is_constant,
    near_shares,
    probes,
)

CHANCE = np.random.default_rng(5)


def with_cells(values: np.ndarray) -> Sketch:
    return Sketch(1000, bytes(256), values.astype("<f4").tobytes())


def share(one: np.ndarray, other: np.ndarray) -> float:
    cells = cells_of(with_cells(one))
    assert cells is not None
    return float(near_shares(cells, other.astype("<f4")[None])[0])


def test_copies_with_a_little_noise_are_near_and_other_models_are_not() -> None:
    truth = CHANCE.lognormal(3.0, 1.0, 64)
    model = truth * CHANCE.normal(1.0, 0.1, 64)
    copy = model * (1.0 + CHANCE.uniform(-5e-4, 5e-4, 64))
    rival = truth * CHANCE.normal(1.0, 0.1, 64)

    assert share(model, copy) >= NEAR_SHARE
    assert share(model, rival) < 0.3


def test_sure_probabilities_of_two_models_are_not_near() -> None:
    sure = 1.0 - CHANCE.uniform(1e-6, 1e-4, 64)
    surer = 1.0 - CHANCE.uniform(1e-6, 1e-4, 64)

    assert cells_of(with_cells(sure)) is None  # to three digits they are all 1
    mixed, other = sure.copy(), surer.copy()
    mixed[::2], other[::2] = CHANCE.uniform(0, 1, 32), CHANCE.uniform(0, 1, 32)
    assert share(mixed, other) < 0.1


def test_numbers_that_may_be_negative_are_no_probabilities() -> None:
    model = np.append(CHANCE.uniform(0.9, 0.999, 60), [-0.9, -0.8, -0.7, -0.6])
    copy = model * (1.0 + CHANCE.uniform(-5e-4, 5e-4, 64))

    assert model.max() <= 1.0
    assert share(model, copy) == 1.0  # though far from near in their distances from 1


def test_files_of_few_values_are_not_compared_number_by_number() -> None:
    assert cells_of(with_cells(CHANCE.integers(0, 9, 64).astype(float))) is None
    assert cells_of(Sketch(9, bytes(256), b"")) is None
    assert is_constant(with_cells(np.ones(64)))
    assert not is_constant(Sketch(9, bytes(256), b""))


def test_a_file_of_16_different_numbers_is_compared_and_one_of_15_is_not() -> None:
    assert cells_of(with_cells(np.arange(64.0) % 16)) is not None
    assert cells_of(with_cells(np.arange(64.0) % 15)) is None


def test_probabilities_near_1_are_near_if_their_distances_from_1_are() -> None:
    """Also where others of the file are near 0: it is a file of probabilities all the same."""
    one = np.append(np.linspace(0.001, 0.4, 32), 1.0 - np.linspace(1e-4, 1e-2, 32))
    other = np.append(one[:32], 1.0 - 1.01 * (1.0 - one[32:]))
    assert share(one, other) == 0.5
    assert share(one, one) == 1.0


def test_up_to_64_rows_a_changed_block_is_a_changed_row() -> None:
    assert [changed_rows(n, 64, 64) for n in range(1, 65)] == list(range(1, 65))


def sketch_of_rows(rows: np.ndarray) -> Sketch:
    return Sketch(len(rows), rows.astype("<u4").tobytes(), b"")


def test_probing_row_by_row_is_counted_and_other_attempts_are_not() -> None:
    base = CHANCE.integers(0, 2**32, 64)
    probing = [base.copy()]
    for row in range(10):
        probing.append(base.copy())
        probing[-1][row] += 1
    attempts = [CHANCE.integers(0, 2**32, 64) for _ in range(10)]

    assert probes([sketch_of_rows(rows) for rows in probing]) == 10
    assert probes([sketch_of_rows(rows) for rows in attempts]) == 0
    assert probes([sketch_of_rows(base)] * 5) == 0  # the same file again learns nothing
    assert few(64) == 2


def test_files_of_different_lengths_are_no_probes_of_one_another() -> None:
    base = CHANCE.integers(0, 2**32, 64)
    blocks = sketch_of_rows(base).blocks
    changed = sketch_of_rows(np.append(base[:-1], 5)).blocks

    assert probes([Sketch(1000, blocks, b""), Sketch(999, changed, b"")]) == 0
    assert probes([Sketch(1000, blocks, b""), Sketch(1000, changed, b"")]) == 1


@pytest.mark.parametrize("rows", [20, 64, 65, 400, 1000, 100_000])
def test_a_probe_changes_as_many_blocks_as_few_rows_do(rows: int) -> None:
    """Two changed rows of a large file may lie in one block, but seldom all of eight do."""
    base = CHANCE.integers(0, 2**32, 64)
    found = []
    for count in range(65):
        changed = base.copy()
        changed[:count] += 1
        pair = [Sketch(rows, each.astype("<u4").tobytes(), b"") for each in (base, changed)]
        found.append(probes(pair))

    assert found == [0] + [changed_rows(n, 64, rows) <= few(rows) for n in range(1, 65)]
    assert changed_rows(64, 64, rows) == max(64, rows)
