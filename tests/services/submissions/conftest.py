"""A run whose competition can be read, for tests of what is received and shown."""

from __future__ import annotations

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


def readable_version(context: Context, slug: str) -> VersionRecord:
    """A version that the catalogue can read."""
    version = context.database.write(lambda s: add_version(s, slug, toml=TOML))
    blob = context.blobs.put(TOML.encode())
    file = VersionFileRecord(path="competition.toml", sha256=blob.sha256, bytes=blob.bytes)
    context.database.write(lambda s: version_files.add_files(s, version.id, [file]))
    return version
