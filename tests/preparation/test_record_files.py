"""TensorFlow's records and BSON documents are read as others write them; damage is an error."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.preparation import tf_records
from app.preparation.bson_documents import documents, whole_number, without
from tests.preparation.mle_bench.record_files import document, record_file

# Written by TensorFlow 2.21: Example(image_name=b"ISIC_0015719", target=1) by TFRecordWriter.
BY_TENSORFLOW = bytes.fromhex(
    "33000000000000000ca720560a310a1e0a0a696d6167655f6e616d6512100a0e0a0c495349435f30303135373139"
    "0a0f0a0674617267657412051a030a01016789ee66"
)
PAYLOAD = BY_TENSORFLOW[12:-4]  # between the length, its sum, and the sum of the payload
# Written by the bson of pymongo 4.20, of the fields that the test of it names.
BY_PYMONGO = bytes.fromhex(
    "6f000000105f696400050000001263617465676f72795f696400000000000001000004696d6773001c0000000330"
    "00140000000570696374757265000100000000ff0000027469746c650003000000c3890001707269636500000000"
    "000000f83f0a7365656e0008736f6c64000100"
)


def test_a_record_of_tensorflow_is_read() -> None:
    assert list(tf_records.texts(io.BytesIO(BY_TENSORFLOW), "image_name")) == ["ISIC_0015719"]
    assert record_file([{"image_name": b"ISIC_0015719", "target": 1}]) == BY_TENSORFLOW


@settings(deadline=None)
@given(
    st.lists(
        st.dictionaries(st.text(max_size=9), st.binary(max_size=200) | st.integers(0, 1 << 62))
    )
)
def test_records_are_read_as_written(records: list[dict[str, bytes | int]]) -> None:
    file = record_file(
        [record | {"image_name": b"\xc3\x89%d" % n} for n, record in enumerate(records)]
    )
    assert list(tf_records.texts(io.BytesIO(file), "image_name")) == [
        f"É{number}" for number in range(len(records))
    ]


@pytest.mark.parametrize("place", [0, 5, 9, 11])
def test_a_changed_byte_of_a_header_is_an_error(place: int) -> None:
    damaged = bytearray(BY_TENSORFLOW)
    damaged[place] ^= 1
    with pytest.raises(ValueError, match="does not fit its sum"):
        list(tf_records.payloads(io.BytesIO(damaged)))


@pytest.mark.parametrize("size", range(1, len(BY_TENSORFLOW), 7))
def test_cut_record_files_are_errors(size: int) -> None:
    with pytest.raises(ValueError, match="cut"):
        list(tf_records.payloads(io.BytesIO(BY_TENSORFLOW[:-size])))


@settings(deadline=None)
@given(st.binary(max_size=60) | st.integers(0, len(PAYLOAD) - 1).map(lambda cut: PAYLOAD[:cut]))
def test_values_of_any_payload_are_pieces_of_it_or_it_is_an_error(payload: bytes) -> None:
    try:
        found = list(tf_records.values_in(payload, "image_name"))
    except ValueError:
        return
    assert all(value in payload for value in found)
    assert not found or b"image_name" in payload


def test_a_record_without_the_feature_is_an_error() -> None:
    with pytest.raises(ValueError, match="no feature 'name'"):
        list(tf_records.texts(io.BytesIO(BY_TENSORFLOW), "name"))


def test_a_document_of_pymongo_is_read_and_shortened() -> None:
    fields = {
        "_id": 5, "category_id": 1 << 40, "imgs": [{"picture": b"\xff"}], "title": "É",
        "price": 1.5, "seen": None, "sold": True,
    }  # fmt: skip
    assert document(fields) == BY_PYMONGO
    assert whole_number(BY_PYMONGO, "_id") == 5
    assert whole_number(BY_PYMONGO, "category_id") == 1 << 40
    del fields["category_id"]
    assert without(BY_PYMONGO, "category_id") == document(fields)
    assert without(BY_PYMONGO, "gone") == BY_PYMONGO
    assert list(documents(io.BytesIO(BY_PYMONGO * 3))) == [BY_PYMONGO] * 3


def test_a_field_that_is_missing_or_no_whole_number_is_an_error() -> None:
    for name in ("gone", "title"):
        with pytest.raises(ValueError, match=f"no whole number {name!r}"):
            whole_number(BY_PYMONGO, name)


@pytest.mark.parametrize("size", range(1, len(BY_PYMONGO), 9))
def test_cut_documents_are_errors(size: int) -> None:
    with pytest.raises(ValueError, match="cut"):
        list(documents(io.BytesIO(BY_PYMONGO + BY_PYMONGO[:-size])))


@settings(deadline=None)
@given(st.integers(4, len(BY_PYMONGO) - 2), st.integers(0, 255))
def test_changed_documents_are_read_or_errors(place: int, byte: int) -> None:
    changed = bytearray(BY_PYMONGO)
    changed[place] = byte
    try:
        shortened = without(bytes(changed), "category_id")
    except ValueError:
        assert byte != BY_PYMONGO[place]
        return
    assert list(documents(io.BytesIO(shortened))) == [shortened]
    # Also with the type of a double or a date, whose values are as long.
    assert (len(shortened) < len(changed)) is (b"category_id\0" in changed)
    assert without(shortened, "category_id") == shortened
