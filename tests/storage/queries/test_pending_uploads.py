"""Uploads that are not submitted yet: which a run keeps, and which have expired."""

from __future__ import annotations

from datetime import timedelta

from app.storage.database.records import RunRecord
from app.storage.queries import pending_uploads
from app.storage.queries.pending_uploads import PendingUploadRecord
from tests.storage.make import NOON, World

HOUR = timedelta(hours=1)


def upload(world: World, run: RunRecord, nonce: str, hour: int) -> None:
    came = NOON + hour * HOUR
    new = PendingUploadRecord(
        nonce=nonce, run_id=run.id, name=f"file-{nonce}", sha256="", bytes=1, came_at=came,
        until=came + 24 * HOUR,
    )  # fmt: skip
    world.database.write(lambda session: pending_uploads.add(session, new))


def test_a_run_keeps_its_newest_uploads_and_those_of_others_stay(world: World) -> None:
    for nonce, hour in (("b", 1), ("c", 3), ("d", 9), ("a", 1), ("newest", 2)):
        upload(world, world.run, nonce, hour)
    upload(world, world.other_run, "other", 0)

    def beyond(kept: int) -> list[str]:
        with world.database.read() as session:
            found = pending_uploads.beyond_limit(session, world.run.id, kept, "newest")
            return [one.nonce for one in found]

    assert beyond(1) == ["d", "c", "a", "b"]
    assert beyond(3) == ["a", "b"]
    assert beyond(5) == []


def test_uploads_expire_after_their_time(world: World) -> None:
    for nonce, hour in (("a", 0), ("b", 1), ("c", 2)):
        upload(world, world.run, nonce, hour)
    with world.database.read() as session:
        then = NOON + 26 * HOUR  # the last one's time
        expired = pending_uploads.expired(session, then, 9)
        assert {one.nonce for one in expired} == {"a", "b"}
        assert len(pending_uploads.expired(session, then, 1)) == 1
        assert pending_uploads.names(session, NOON + 25 * HOUR) == {"file-b", "file-c"}
    world.database.write(lambda session: pending_uploads.remove(session, ["a", "b"]))
    with world.database.read() as session:
        assert pending_uploads.get(session, "a") is None
        kept = pending_uploads.get(session, "c")
    assert kept is not None
    assert kept.name == "file-c"
