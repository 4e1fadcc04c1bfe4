"""Fixtures of the services' tests: rows in a real database, and the context of a process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from app.domain.states import Role
from app.services.new_keys import new_key
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
def servers(world: World, database_url: str, tmp_path: Path) -> Iterator[tuple[Context, Context]]:
    """Two servers on the database of `world`."""
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url)
    one, other = (open_context(settings, grades=False, validates=False) for _ in range(2))
    yield one, other
    one.close()
    other.close()


Meanwhile = Callable[[object, str, Callable[[], Any]], Callable[[], Any]]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meanwhile]:
    """Starts a function in a transaction that has just called another, named by module and name.

    The transaction goes on after 0.3 seconds: what waits for it waits longer. Gives a function that
    waits for the result.
    """
    with ThreadPoolExecutor(1) as threads:

        def start(module: object, name: str, function: Callable[[], Any]) -> Callable[[], Any]:
            called, begun = getattr(module, name), list[Future[Any]]()

            def call(*given: Any, **options: Any) -> Any:
                found = called(*given, **options)
                if not begun:
                    begun.append(threads.submit(function))
                    wait(begun, 0.3)
                return found

            monkeypatch.setattr(module, name, call)
            return lambda: begun[0].result(30)

        yield start


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
