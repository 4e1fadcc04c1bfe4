"""Rows to records, and records to what an INSERT takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from sqlalchemy import Row


class Record(Protocol):
    """A frozen dataclass whose fields are named like its table's columns, in their order."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Kind = TypeVar("Kind", bound=Record)


def one(kind: type[Kind], row: Row[Any] | None) -> Kind | None:
    """The record of a row of its table, if there is a row."""
    return None if row is None else record(kind, row)


def record(kind: type[Kind], row: Sequence[Any]) -> Kind:
    """The record of the columns of its table."""
    return kind(**dict(zip(kind.__dataclass_fields__, row, strict=True)))


def values(kept: Record) -> dict[str, Any]:
    """A record's fields by name, not copied."""
    return {name: getattr(kept, name) for name in kept.__dataclass_fields__}
