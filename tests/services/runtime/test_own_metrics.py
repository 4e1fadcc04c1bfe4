"""Versions with a metric.py are found once, and remembered."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from app.services.runtime.context import open_context
from app.services.runtime.own_metrics import OwnMetrics
from app.settings import Settings
from app.storage.database.records import VersionFileRecord
from app.storage.queries import version_files
from tests.storage.make import World, add_version, make_submission
from tests.storage.statements import sent_statements


def test_versions_with_a_metric_py_are_told_from_others(world: World) -> None:
    own = world.database.write(lambda session: add_version(session, "own")).id
    other = world.version.id
    file = VersionFileRecord(path="metric.py", sha256="0" * 64, bytes=1)
    world.database.write(lambda session: version_files.add_files(session, own, [file]))
    metrics = OwnMetrics()

    assert not metrics.known_to_have(own)  # nobody has asked yet
    with world.database.read() as session:
        assert metrics.among(session, {own, other}) == {own}
        assert metrics.among(session, {other}) == set()
    assert metrics.known_to_have(own)
    assert not metrics.known_to_have(other)


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_the_queue_asks_once_for_the_files_of_a_version(
    world: World, database_url: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, dispatch="queue")
    context = open_context(settings, grades=False, validates=False)
    with contextlib.closing(context), sent_statements() as statements:
        for _ in range(3):
            assert context.inserts.add(make_submission(world.run)).result(30).created

    assert sum("FROM version_file" in one for one in statements) == 1
