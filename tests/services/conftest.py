"""Fixtures of the services' tests: rows in a real database."""

from __future__ import annotations

import pytest

from app.storage.database.database import Database
from tests.storage.make import World, make_world


@pytest.fixture
def world(database: Database) -> World:
    """A run to test, and another run whose rows nothing may count."""
    return make_world(database)
