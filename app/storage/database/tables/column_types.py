"""Column types that behave the same on SQLite and on PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Enum, Integer, Text
from sqlalchemy.types import TypeDecorator, TypeEngine


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, to the microsecond. Values read from the database are in UTC.

    SQLite has no time zones: it stores UTC without one, as text that sorts by time.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The value for the database.

        Raises:
            ValueError: the time has no zone, so its meaning is not certain.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a zone cannot be stored: {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The value from the database, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def enum_column(values: type[StrEnum]) -> Enum:
    """A column with the values of an enum, stored as text. A new value needs no migration."""
    return Enum(
        values,
        native_enum=False,
        create_constraint=False,
        validate_strings=True,
        length=32,
        values_callable=lambda members: [each.value for each in members],
    )


# PostgreSQL would sort text by the rules of a language ("ab" before "A-b"). Pages need the same
# order on both databases and in Python.
KEY: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite generates numbers only for a key that is declared INTEGER.
NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")
# JSON, not JSONB: the order of keys is part of what a competition declares.
DOCUMENT = JSON(none_as_null=True)
