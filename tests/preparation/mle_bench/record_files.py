"""Write files of the two binary forms that raw data has: TensorFlow's records, BSON documents."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from app.preparation.tf_records import masked_crc


def record_file(records: Iterable[Mapping[str, bytes | int]]) -> bytes:
    """A file of records with features of bytes and of whole numbers."""
    file = b""
    for record in records:
        entries = b"".join(_field(1, _entry(name, value)) for name, value in record.items())
        payload = _field(1, entries)
        length = struct.pack("<Q", len(payload))
        file += length + struct.pack("<I", masked_crc(length))
        file += payload + struct.pack("<I", masked_crc(payload))
    return file


def document(fields: Mapping[str, object]) -> bytes:
    """A BSON document of texts, bytes, whole numbers, decimal numbers, lists and documents."""
    content = b"".join(_element(name, value) for name, value in fields.items())
    return struct.pack("<i", len(content) + 5) + content + b"\0"


def _entry(name: str, value: bytes | int) -> bytes:
    feature = (
        _field(1, _field(1, value))  # a list of bytes
        if isinstance(value, bytes)
        else _field(3, _field(1, _varint(value)))  # a list of whole numbers
    )
    return _field(1, name.encode()) + _field(2, feature)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    parts = []
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _element(name: str, value: object) -> bytes:
    key = name.encode() + b"\0"
    if value is None:
        return b"\x0a" + key
    if isinstance(value, bool):
        return b"\x08" + key + bytes([value])
    if isinstance(value, int):
        small = -(1 << 31) <= value < 1 << 31
        return (b"\x10" if small else b"\x12") + key + struct.pack("<i" if small else "<q", value)
    if isinstance(value, float):
        return b"\x01" + key + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode() + b"\0"
        return b"\x02" + key + struct.pack("<i", len(text)) + text
    if isinstance(value, bytes):
        return b"\x05" + key + struct.pack("<i", len(value)) + b"\0" + value
    if isinstance(value, list):
        return b"\x04" + key + document({str(place): one for place, one in enumerate(value)})
    assert isinstance(value, Mapping)
    return b"\x03" + key + document(value)
