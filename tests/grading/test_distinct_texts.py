"""Distinct texts and numbers get the codes that a dictionary of Python would give them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.grading.columns.labels import code, code_numbers, known_names
from app.grading.ids.distinct_texts import distinct_keys, distinct_texts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9) | st.sampled_from(
    ["", "\0", "a", "a\0", "12345678", "12345678\0", "9" * 64, "9" * 65, "é" * 32, "é" * 33]
)
KEYS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**32, 2**33, 2**63, 2**64 - 1])


def by_dictionary(values: list) -> tuple[list[int], list]:
    codes: dict = {}
    return [codes.setdefault(value, len(codes)) for value in values], list(codes)


def repeated(values: list, seed: int, rows: int) -> list:
    """The values in many rows, in any order."""
    places = np.random.default_rng(seed).integers(len(values), size=rows)
    return [values[place] for place in places.tolist()]


@settings(deadline=None)
@given(
    st.lists(TEXTS, min_size=1, max_size=150), st.integers(0, 99), st.sampled_from([1, 900, 2000])
)
def test_texts_are_numbered_in_the_order_of_appearance(texts, seed, rows):
    values = repeated(texts, seed, rows)
    expected = by_dictionary(values)
    whole = pa.array(values, pa.string())
    cuts = pa.chunked_array([whole.slice(0, 7), whole.slice(7, 1100), whole.slice(1107)])

    for array in (whole, pa.concat_arrays([whole, whole]).slice(rows), cuts):
        codes, names = distinct_texts(array)
        assert (codes.tolist(), names.to_pylist()) == expected
        assert (codes.dtype, names.type) == (np.int64, pa.string())


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 99))
def test_more_than_a_few_texts_of_any_length_are_numbered_the_same_way(length, seed):
    texts = [f"{place:x}".rjust(length * 2, "é") for place in range(300)]
    values = repeated(texts, seed, 3000)

    codes, names = distinct_texts(pa.array(values))

    assert (codes.tolist(), names.to_pylist()) == by_dictionary(values)


@settings(deadline=None)
@given(st.lists(KEYS, max_size=100), st.integers(0, 99))
def test_numbers_are_numbered_in_the_order_of_appearance(keys, seed):
    values = repeated(keys, seed, 300) if keys else []

    codes, first = distinct_keys(np.array(values, dtype=np.uint64))

    expected, distinct = by_dictionary(values)
    assert codes.tolist() == expected
    assert [values[place] for place in first.tolist()] == distinct
    assert first.tolist() == [values.index(one) for one in distinct]


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**18), min_size=1, max_size=100))
def test_whole_numbers_get_the_codes_of_their_texts(numbers):
    coded = code_numbers(pa.array(numbers), None)
    by_text = code(pa.array([str(number) for number in numbers]), None)

    assert by_text is not None
    shown = [coded.names[place].as_py() for place in coded.codes.tolist()]
    assert shown == [by_text.names[place].as_py() for place in by_text.codes.tolist()]
    assert len(coded.names) == len(by_text.names)


def test_a_text_that_is_null_is_refused():
    with pytest.raises(ValueError, match="null"):
        distinct_texts(pa.array(["a", None]))


@pytest.mark.parametrize("new", ["", "other", "a label of many bytes"])
def test_labels_that_are_known_keep_their_codes_and_others_are_found_all_the_same(new):
    """Ten thousand labels of the answers have an index; one that is not among them leaves it."""
    names = pa.array([f"n{number}" for number in range(10_000)])
    known = known_names(names)
    assert known is not None
    cells = [*reversed(names.to_pylist()), *([new] if new else [])]

    coded = code(pa.chunked_array([cells]), None, known)

    assert coded is not None
    assert [coded.names[place].as_py() for place in coded.codes.tolist()] == cells
    assert (coded.names is names) is not bool(new)


def test_labels_of_many_bytes_have_no_index():
    assert known_names(pa.array([f"label {number:05}" for number in range(10_000)])) is None
