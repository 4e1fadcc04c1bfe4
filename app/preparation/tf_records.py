"""Read TensorFlow's record files, without TensorFlow.

A record is its length (eight bytes, little-endian), a masked CRC-32C of these, the payload, and a
masked CRC-32C of it: https://www.tensorflow.org/tutorials/load_data/tfrecord. The payload is a
message `tf.train.Example` of protocol buffers: a map from names of features to lists of values.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

_HEADER = struct.Struct("<QI")
_CHECKSUM = 4  # bytes after the payload
_POLYNOMIAL, _MASK = 0x82F63B78, 0xA282EAD8
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # wire types of protocol buffers
_LARGEST = 1 << 31  # bytes; a message of protocol buffers is smaller


def texts(file: IO[bytes], feature: str) -> Iterator[str]:
    """The first value of a feature of texts, of each record.

    Raises:
        ValueError: the file is damaged, or a record lacks the feature.
    """
    for payload in payloads(file):
        values = list(values_in(payload, feature))
        if not values:
            raise ValueError(f"a record has no feature {feature!r}")
        yield values[0].decode("utf-8")


def payloads(file: IO[bytes]) -> Iterator[bytes]:
    """The records. The checksums of lengths are checked; those of payloads would take hours.

    Raises:
        ValueError: the file is cut, or a length does not fit its sum.
    """
    while header := file.read(_HEADER.size):
        if len(header) < _HEADER.size:
            raise ValueError("the record file is cut")
        length, stated = _HEADER.unpack(header)
        if stated != masked_crc(header[:8]) or length >= _LARGEST:
            raise ValueError("the record file is damaged: a length does not fit its sum")
        payload = file.read(length)
        if len(payload) < length or len(file.read(_CHECKSUM)) < _CHECKSUM:
            raise ValueError("the record file is cut")
        yield payload


def masked_crc(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of a few bytes, rotated and shifted as in these files."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def values_in(example: bytes, feature: str) -> Iterator[bytes]:
    """The texts of a feature: Example.features, its map, a key and a Feature, its bytes_list."""
    for entry in _fields_at(example, 1, 1):
        if feature.encode() in _fields(entry, 1):
            yield from _fields_at(entry, 2, 1, 1)


def _fields_at(message: bytes, number: int, *below: int) -> Iterator[bytes]:
    """The values of the field at the end of a path of fields, each within the one before."""
    for value in _fields(message, number):
        yield from _fields_at(value, *below) if below else (value,)


def _fields(message: bytes, number: int) -> Iterator[bytes]:
    """The values of a field of texts, bytes or messages."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == _VARINT:
            _, place = _varint(message, place)
        elif kind == _BYTES:
            size, place = _varint(message, place)
            if place + size > len(message):
                raise ValueError("a record is damaged")
            if tag >> 3 == number:
                yield message[place : place + size]
            place += size
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            place += 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError("a record is damaged")


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A number with seven bits in each byte, and the position after it."""
    number = 0
    for index, byte in enumerate(message[place : place + 10]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return number, place + index + 1
    raise ValueError("a record is damaged")
