"""Convert rows to records, and records to the values of an INSERT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from sqlalchemy import Row


class Record(Protocol):
    """A frozen dataclass with the same fields as its table's columns, in the same order."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


RecordType = TypeVar("RecordType", bound=Record)


def one(kind: type[RecordType], row: Row[Any] | None) -> RecordType | None:
    """The record of a row, or None if there is no row."""
    return None if row is None else record(kind, row)


def record(kind: type[RecordType], row: Sequence[Any]) -> RecordType:
    """The record of a row, from the columns of its table."""
    return kind(**dict(zip(kind.__dataclass_fields__, row, strict=True)))


def values(instance: Record) -> dict[str, Any]:
    """A record's fields by name, not copied."""
    return {name: getattr(instance, name) for name in instance.__dataclass_fields__}
