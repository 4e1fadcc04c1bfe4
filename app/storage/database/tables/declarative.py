"""The base class of all tables' models, and the names of their constraints."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy import MetaData, Table
from sqlalchemy.orm import DeclarativeBase

# Constraints have the same names on both databases, so that a migration can drop them.
NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """The base class of all models."""

    metadata = MetaData(naming_convention=NAMES)
    __table__: ClassVar[Table]
