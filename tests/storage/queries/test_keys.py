from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.states import ArchivalKind, Role
from app.storage.database.database import Database
from app.storage.database.records import KeyRecord
from app.storage.queries import archive, keys
from app.storage.queries.archive import ArchivalRecord
from tests.storage.make import NOON, World


def make_key(number: int, **over: object) -> KeyRecord:
    fields = {
        "id": f"key_{number}",
        "role": Role.RESEARCHER,
        "name": "Ada",
        "digest": f"{number:064x}",
        "created_at": NOON,
    }
    return KeyRecord(**{**fields, **over})


@pytest.fixture
def stored(world: World) -> list[KeyRecord]:
    made = [
        make_key(2, role=Role.ADMIN),
        make_key(1, role=Role.RUN, run_id=world.run.id, expires_at=NOON + timedelta(days=1)),
    ]
    for key in made:
        world.database.write(lambda s, key=key: keys.add_key(s, key))
    return made


def test_a_key_is_found_by_its_digest(world, stored):
    with world.database.read() as session:
        holder = keys.find_key(session, stored[1].digest)
    assert holder is not None
    assert holder.key == stored[1]


def test_an_unknown_digest_finds_nothing(world, stored):
    with world.database.read() as session:
        assert keys.find_key(session, "f" * 64) is None


def test_keys_are_listed_oldest_first(world, stored):
    with world.database.read() as session:
        assert keys.list_keys(session) == [stored[1], stored[0]]


def test_keys_are_counted_up_to_one_and_in_all(world, stored):
    with world.database.read() as session:
        counts = [keys.count_keys(session, up_to=f"key_{number}") for number in range(4)]
        assert counts == [0, 1, 2, 2]
        assert keys.count_keys(session) == 2


@pytest.mark.parametrize("database_kind", ["postgresql"])  # SQLite has one writer at a time
def test_of_two_servers_that_start_at_once_one_makes_the_first_key(world):
    held, release = threading.Event(), threading.Event()

    def add_first(session):
        was_first = keys.add_first_admin(session, make_key(1, role=Role.ADMIN))
        held.set()
        assert release.wait(10)
        return was_first

    other = Database(world.database.url.render_as_string(hide_password=False))
    try:
        first = world.database.enqueue(add_first)
        assert held.wait(10)
        second = other.enqueue(lambda s: keys.add_first_admin(s, make_key(2, role=Role.ADMIN)))
        with pytest.raises(TimeoutError):
            second.result(0.3)
        release.set()
        assert (first.result(10), second.result(10)) == (True, False)
    finally:
        release.set()
        other.close()


def test_a_digest_belongs_to_one_key_only(world, stored):
    twin = make_key(3, digest=stored[0].digest)

    with pytest.raises(IntegrityError):
        world.database.write(lambda s: keys.add_key(s, twin))


def test_a_key_of_an_unknown_run_is_refused(world):
    with pytest.raises(IntegrityError):
        world.database.write(lambda s: keys.add_key(s, make_key(4, run_id="run_none")))


def test_revoking_keeps_the_first_time(world, stored):
    world.database.write(lambda s: keys.revoke_key(s, "key_2", NOON))
    again = world.database.write(lambda s: keys.revoke_key(s, "key_2", NOON + timedelta(hours=1)))

    assert again is not None
    assert again.revoked_at == NOON


def test_revoking_leaves_other_keys_alone(world, stored):
    world.database.write(lambda s: keys.revoke_key(s, "key_2", NOON))

    with world.database.read() as session:
        holder = keys.find_key(session, stored[1].digest)
    assert holder is not None
    assert holder.key == stored[1]


def test_revoking_an_unknown_key_says_so(world):
    assert world.database.write(lambda s: keys.revoke_key(s, "key_9", NOON)) is None


def test_a_key_is_archived_with_its_run_its_experiment_or_its_competition(world):
    """The run is of `first` at `bikes`, the other one of `second` at `leaves`."""
    holders = {
        "run": {"role": Role.RUN, "run_id": world.run.id},
        "other run": {"role": Role.RUN, "run_id": world.other_run.id},
        "harness": {"role": Role.HARNESS, "experiment": "first"},
        "other harness": {"role": Role.HARNESS, "experiment": "second"},
        "reader": {},
    }
    made = {name: make_key(at, **over) for at, (name, over) in enumerate(holders.items())}
    for key in made.values():
        world.database.write(lambda s, key=key: keys.add_key(s, key))

    def archived_by(*parts):
        """The keys that are archived while these are: the kind of what is, by the holder."""

        def put_away(session):
            for kind, name in parts:
                new = ArchivalRecord(kind=kind, name=name, archived_at=NOON, reason="old")
                archive.archive(session, new)

        def give_back(session):
            for part in parts:
                archive.restore(session, *part, at=NOON, reason="new", by=None)

        world.database.write(put_away)
        with world.database.read() as session:
            found = {name: keys.get_key(session, key.id).archived for name, key in made.items()}
        world.database.write(give_back)
        return {name: kind for name, kind in found.items() if kind is not None}

    run, experiment, competition = (
        ArchivalKind.RUN, ArchivalKind.EXPERIMENT, ArchivalKind.COMPETITION,
    )  # fmt: skip
    assert archived_by((run, world.run.id)) == {"run": run}
    assert archived_by((experiment, "first")) == {"run": experiment, "harness": experiment}
    assert archived_by((competition, "leaves")) == {"other run": competition}
    assert archived_by((competition, "bikes"), (run, world.run.id)) == {"run": run}
    others = [(competition, "first"), (experiment, "bikes"), (run, "first"), (run, "bikes")]
    assert archived_by(*others, (experiment, world.run.id), (competition, world.run.id)) == {}
