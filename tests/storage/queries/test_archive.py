"""What is archived, by its kind and name: a competition and an experiment may have one name."""

from __future__ import annotations

from datetime import timedelta

from app.domain.states import ArchivalKind
from app.storage.database.database import Database
from app.storage.queries import archive
from app.storage.queries.archive import ArchivalRecord
from tests.storage.make import NOON, World, add_run, add_version

HOUR = timedelta(hours=1)
RUN, EXPERIMENT, COMPETITION = ArchivalKind.RUN, ArchivalKind.EXPERIMENT, ArchivalKind.COMPETITION
PARTS = [(kind, name) for kind in (COMPETITION, EXPERIMENT) for name in ("bikes", "leaves")]


def put_away(database: Database, kind: ArchivalKind, name: str, hour: int = 0) -> None:
    record = ArchivalRecord(kind=kind, name=name, archived_at=NOON + hour * HOUR, reason=str(hour))
    database.write(lambda session: archive.archive(session, record))


def give_back(database: Database, kind: ArchivalKind, name: str, hour: int) -> None:
    at = NOON + hour * HOUR
    database.write(lambda s: archive.restore(s, kind, name, at=at, reason=str(hour), by=None))


def test_each_part_is_archived_and_restored_alone(database: Database) -> None:
    for part in PARTS:
        put_away(database, *part)
    give_back(database, EXPERIMENT, "bikes", 1)
    give_back(database, EXPERIMENT, "bikes", 2)
    give_back(database, COMPETITION, "leaves", 1)
    put_away(database, COMPETITION, "leaves", 3)

    with database.read() as session:
        found = [archive.current(session, *part) for part in PARTS]
        assert [one and one.reason for one in found] == ["0", "3", None, "0"]
        assert [*archive.currents(session, EXPERIMENT, ["bikes", "leaves"])] == ["leaves"]
        assert [*archive.currents(session, COMPETITION, ["bikes"])] == ["bikes"]
        asked = [(COMPETITION, "leaves"), (EXPERIMENT, "bikes")]
        assert [one.name for one in archive.currents_among(session, asked)] == ["leaves"]
        times = [
            archive.archived_among(session, EXPERIMENT, ["bikes"], NOON + hour * HOUR)
            for hour in (-1, 0, 1)
        ]
        assert times == [set(), {"bikes"}, set()]  # of the second time it was archived no more


def test_what_is_archived_leaves_out_results_made_until_then(world: World) -> None:
    database = world.database
    leaves = database.write(lambda session: add_version(session, "trees"))
    later = add_run(database, leaves, "first", created_at=NOON + 2 * HOUR)
    other = add_run(database, world.version, "third")
    for number, part in enumerate(
        [(COMPETITION, "bikes"), (COMPETITION, "trees"), (RUN, other.id)]
    ):
        put_away(database, *part, hour=number)

    with database.read() as session:
        assert archive.archived_runs(session, "third", None) == {other.id}
        assert archive.archived_runs(session, "third", NOON + HOUR) == set()
        assert archive.archived_runs(session, "first", None) == set()

        def left_out(names: list[str] | None, hour: int | None) -> dict[str, set[str]]:
            at = None if hour is None else NOON + hour * HOUR
            return archive.competitions_left_out(session, names, at)

        assert left_out(None, None) == {"first": {"bikes", "trees"}}
        assert left_out(None, 1) == {"first": {"bikes"}, "third": {"bikes"}}
        assert left_out(["third"], 1) == {"third": {"bikes"}}
        assert later.created_at > NOON + HOUR
