"""Versions with a metric.py are found once, and remembered."""

from __future__ import annotations

from app.services.runtime.own_metrics import OwnMetrics
from app.storage.database.records import VersionFileRecord
from app.storage.queries import version_files
from tests.storage.make import World, add_version


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
