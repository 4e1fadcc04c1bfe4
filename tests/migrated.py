"""A migrated SQLite file to copy: a process of pytest makes it once, in place of every server.

It is made in that process: the fork server takes three seconds to start, and tests of queries and
services need none.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path

from app.storage.database import migrations

_home = tempfile.TemporaryDirectory(prefix="podium-migrated-")


@functools.cache
def migrated_sqlite() -> Path:
    """The file, without rows."""
    path = Path(_home.name, "podium.db")
    migrations.upgrade(f"sqlite:///{path}")
    return path


def make_data_directory(directory: Path) -> None:
    """Make a new data directory with the file, as a server leaves it that has only migrated."""
    directory.mkdir(mode=0o700)
    shutil.copy(migrated_sqlite(), directory / "podium.db")
