"""Read the bytes of BSON documents one by one, and remove fields from them.

A document is its length, elements and a zero; an element is a type, a name that ends with a zero,
and a value, whose length depends on the type: https://bsonspec.org/spec.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

_LENGTH = struct.Struct("<i")
_LEAST, _LARGEST = 5, 64 * 1024 * 1024  # bytes of a document; MongoDB's are at most 16 MiB
_WHOLE = {0x10: struct.Struct("<i"), 0x12: struct.Struct("<q")}
# Types of a fixed size: double, undefined, ObjectId, boolean, date, null, int32, timestamp, int64.
_SIZES = {1: 8, 6: 0, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8}
_DOCUMENT, _ARRAY, _BINARY, _TEXTS = 3, 4, 5, (2, 13, 14)  # these begin with their length


def documents(file: IO[bytes]) -> Iterator[bytes]:
    """The documents.

    Raises:
        ValueError: the file is cut or damaged.
    """
    while head := file.read(_LENGTH.size):
        if len(head) < _LENGTH.size:
            raise ValueError("the file of documents is cut")
        (length,) = _LENGTH.unpack(head)
        if not _LEAST <= length <= _LARGEST:
            raise ValueError("the file of documents is damaged")
        document = head + file.read(length - _LENGTH.size)
        if len(document) < length:
            raise ValueError("the file of documents is cut")
        yield document


def whole_number(document: bytes, name: str) -> int:
    """The value of a field, which is a whole number.

    Raises:
        ValueError: there is no such field, or the document is damaged.
    """
    for kind, field, _, value, end in _elements(document):
        if field == name.encode() and kind in _WHOLE:
            return int(_WHOLE[kind].unpack(document[value:end])[0])
    raise ValueError(f"a document has no whole number {name!r}")


def without(document: bytes, name: str) -> bytes:
    """The document without a field.

    Raises:
        ValueError: the document is damaged.
    """
    kept = b"".join(
        document[start:end]
        for _, field, start, _, end in _elements(document)
        if field != name.encode()
    )
    return _LENGTH.pack(len(kept) + _LEAST) + kept + b"\0"


def _elements(document: bytes) -> Iterator[tuple[int, bytes, int, int, int]]:
    """The type and name of each element, and the positions of it, its value and its end."""
    place, last = _LENGTH.size, len(document) - 1
    while place < last:
        zero = document.index(b"\0", place + 1)
        kind, name, value = document[place], document[place + 1 : zero], zero + 1
        end = value + _size(kind, document, value)
        if end > last:
            raise ValueError("a document is damaged")
        yield kind, name, place, value, end
        place = end


def _size(kind: int, document: bytes, value: int) -> int:
    if kind in _SIZES:
        return _SIZES[kind]
    if kind not in (_DOCUMENT, _ARRAY, _BINARY, *_TEXTS) or value + 4 > len(document):
        raise ValueError(f"a document has a value of the type {kind}, which is not known")
    (length,) = _LENGTH.unpack_from(document, value)
    if length < 0:
        raise ValueError("a document is damaged")
    # The length of a document includes its own four bytes; that of a binary does not, nor its kind.
    return int(length) + {_DOCUMENT: 0, _ARRAY: 0, _BINARY: 5}.get(kind, 4)
