"""What storage tests start from."""

from __future__ import annotations

import pytest

from app.storage.database.database import Database
from tests.storage.make import World, make_world


@pytest.fixture
def world(database: Database) -> World:
    """A run to work on, and rows of another that must stay out of sight."""
    return make_world(database)
