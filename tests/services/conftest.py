"""Fixtures of the services' tests: rows in a real database, and the context of a process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.states import Role
from app.services.auth import new_key
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.database import Database
from app.storage.queries import keys
from tests.storage.make import World, make_world


@pytest.fixture
def world(database: Database) -> World:
    """A run to test, and another run whose rows nothing may count."""
    return make_world(database)


@pytest.fixture
def context(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Context]:
    """A process of Podium on SQLite that neither grades nor validates."""
    file = shutil.copyfile(migrated_sqlite, tmp_path / "context.db")
    settings = Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{file}")
    opened = open_context(settings, grades=False, validates=False)
    yield opened
    opened.close()


@pytest.fixture
def servers(database_url: str, tmp_path: Path) -> Iterator[tuple[Context, Context]]:
    """Two servers on one database, with the rows of `make_world`."""
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url)
    one, other = (open_context(settings, grades=False, validates=False) for _ in range(2))
    make_world(one.database)
    yield one, other
    one.close()
    other.close()


@pytest.fixture
def here(context: Context) -> World:
    """Like `world`, in the database of `context`."""
    return make_world(context.database)


@pytest.fixture
def admin(context: Context) -> str:
    """The id of an admin's key, who decides."""
    _, record = new_key(Role.ADMIN, "an admin")
    context.database.write(lambda session: keys.add_key(session, record))
    return record.id
