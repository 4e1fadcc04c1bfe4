"""Column types that behave the same on SQLite and on PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Enum, Integer, Text
from sqlalchemy.types import TypeDecorator, TypeEngine


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, to the microsecond: aware in, aware and in UTC out.

    SQLite has no time zones, so it gets UTC without one; the text it keeps sorts by time.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What the database is given.

        Raises:
            ValueError: the time has no zone, so it could be any of forty moments.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a zone cannot be stored: {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What the database gave, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def enum_column(values: type[StrEnum]) -> Enum:
    """A column of one of our words, kept as its text; a new word needs no migration."""
    return Enum(
        values,
        native_enum=False,
        create_constraint=False,
        validate_strings=True,
        length=32,
        values_callable=lambda words: [each.value for each in words],
    )


# PostgreSQL would sort text by the rules of a language ("ab" before "A-b"); pages need one order
# on both databases, the one Python has too.
KEY: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite gives numbers only to a key declared INTEGER.
NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")
# JSON, not JSONB: the order of keys is part of what a competition declares.
DOCUMENT = JSON(none_as_null=True)
