"""Floats: a million of them parse to the very bits that Python's float() gives."""

import numpy as np
import pyarrow as pa
import pytest

from app.grading.columns.numbers import fill_numbers
from app.grading.reading.fast_reader import FastReader


@pytest.mark.large
def test_a_million_floats_parse_bit_exactly():
    random = np.random.default_rng(2)
    bits = random.integers(-(2**63), 2**63, 420_000, dtype=np.int64).view(np.float64)
    shortest = [repr(value) for value in bits[np.isfinite(bits)][:400_000].tolist()]
    long = [f"{value:.25e}" for value in random.normal(size=200_000).tolist()]
    short = [f"{value:.6f}" for value in (random.random(200_000) * 1000).tolist()]
    # Between two neighbours: what a parser that rounds twice gets wrong.
    halves = [f"{n}.5" for n in random.integers(2**52, 2**53, 200_000).tolist()]
    texts = [*shortest, *long, *short, *halves]
    assert len(texts) == 1_000_000

    reader = FastReader({"id": pa.string(), "x": pa.float64()})
    table = reader.read(("id,x\na," + "\na,".join(texts)).encode())

    assert table is not None
    parsed = np.empty(len(texts))
    assert fill_numbers(table.columns[1], parsed)
    expected = np.fromiter(map(float, texts), dtype=np.float64)
    assert np.array_equal(parsed.view(np.int64), expected.view(np.int64))
