from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.states import Role
from app.storage.database.records import KeyRecord
from app.storage.queries import keys
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
