import pytest

from app.errors import BadDatabaseUrl
from app.storage.database.urls import refuse_old_sqlite


def test_a_sqlite_without_returning_is_refused_with_what_to_use() -> None:
    with pytest.raises(BadDatabaseUrl) as refused:
        refuse_old_sqlite((3, 34, 1))

    assert str(refused.value) == (
        "Podium needs SQLite 3.35 or newer, and this Python has 3.34.1. Use a Python with a newer "
        "SQLite, or PostgreSQL (PODIUM_DATABASE_URL=postgresql://...)"
    )


def test_newer_ones_are_not() -> None:
    refuse_old_sqlite((3, 35, 0))
    refuse_old_sqlite((4, 0, 0))
