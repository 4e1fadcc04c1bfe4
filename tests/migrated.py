"""A migrated SQLite file to copy: a process of pytest makes it once, in place of every server."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path

from tests.forkserver import run_podium

_home = tempfile.TemporaryDirectory(prefix="podium-migrated-")


@functools.cache
def migrated_sqlite() -> Path:
    """The file, without rows."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
    path = Path(_home.name, "podium.db")
    url = {"PODIUM_DATABASE_URL": f"sqlite:///{path}", "PODIUM_DATA_DIR": _home.name}
    run_podium(["db", "upgrade"], env=clean | url, check=True, capture_output=True)
    return path


def make_data_directory(directory: Path) -> None:
    """Make a new data directory with the file, as a server leaves it that has only migrated."""
    directory.mkdir(mode=0o700)
    shutil.copy(migrated_sqlite(), directory / "podium.db")
