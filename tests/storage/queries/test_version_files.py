"""Which files of a version are listed: all, or those that are needed to grade or to show it."""

from __future__ import annotations

from app.storage.database.records import VersionFileRecord
from app.storage.queries import competitions, version_files
from tests.storage.make import World

PATHS = ["competition.toml", "metric.py", "private/answers.csv", "public/a.csv", "public/b.csv"]


def add(world: World) -> int:
    """Store the files of the version at `bikes`, and one of the version at `leaves`."""
    with world.database.read() as session:
        other = competitions.current_version(session, "leaves")
    assert other is not None
    for version, paths in ((world.version.id, PATHS), (other.id, ["public/other.csv"])):
        files = [VersionFileRecord(path=path, sha256="ab" * 32, bytes=7) for path in paths[::-1]]
        world.database.write(
            lambda s, version=version, files=files: version_files.add_files(s, version, files)
        )
    return other.id


def test_the_files_of_one_version_are_listed_by_their_paths(world: World) -> None:
    other = add(world)
    with world.database.read() as session:
        found = version_files.all_files(session, world.version.id)
        assert [one.path for one in found] == PATHS
        assert {(one.sha256, one.bytes) for one in found} == {("ab" * 32, 7)}
        assert [one.path for one in version_files.all_files(session, other)] == ["public/other.csv"]
        of_all = version_files.of_all_versions(session)
    assert sorted((slug, one.path) for slug, _, one in of_all) == [
        *(("bikes", path) for path in PATHS), ("leaves", "public/other.csv"),
    ]  # fmt: skip


def test_public_files_are_left_out_unless_named_and_private_ones_unless_asked_for(
    world: World,
) -> None:
    add(world)

    def working(*also: str, private: bool) -> list[str]:
        with world.database.read() as session:
            found = version_files.working_files(
                session, world.version.id, also=also, private=private
            )
        return [one.path for one in found]

    assert working(private=True) == PATHS[:3]
    assert working("public/b.csv", private=True) == [*PATHS[:3], "public/b.csv"]
    assert working("public/b.csv", private=False) == [*PATHS[:2], "public/b.csv"]


def test_versions_with_a_file_are_found_among_those_named(world: World) -> None:
    other = add(world)
    with world.database.read() as session:
        with_metric = version_files.versions_with(session, "metric.py", [world.version.id, other])
        without = version_files.versions_with(session, "metric.py", [other])
    assert (with_metric, without) == ({world.version.id}, set())
