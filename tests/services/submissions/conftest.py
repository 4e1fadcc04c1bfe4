"""A run whose competition can be read, for tests of what is received and shown."""

from __future__ import annotations

from typing import Any

import pytest

from app.services.runtime.context import Context
from app.storage.database.records import RunRecord, VersionFileRecord, VersionRecord
from app.storage.queries import version_files
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_run, add_version


@pytest.fixture
def run(context: Context) -> RunRecord:
    """A run at a competition that the catalogue can read."""
    return add_run(context.database, readable_version(context, "bikes"), "first")


def readable_version(
    context: Context, slug: str, toml: str = TOML, board: str | None = None, **over: Any
) -> VersionRecord:
    """A version that the catalogue can read; `board` is its leaderboard.csv."""
    version = context.database.write(lambda s: add_version(s, slug, toml=toml, **over))
    files = []
    for path, text in (("competition.toml", toml), ("leaderboard.csv", board)):
        if text is not None:
            blob = context.blobs.put(text.encode())
            files.append(VersionFileRecord(path=path, sha256=blob.sha256, bytes=blob.bytes))
    context.database.write(lambda s: version_files.add_files(s, version.id, files))
    return version
