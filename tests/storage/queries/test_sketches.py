"""Which files of a run a file is compared with."""

from __future__ import annotations

from app.storage.queries.reviews import sketches
from tests.storage.make import World
from tests.storage.sketches import graded, sketch


def test_a_file_is_compared_with_the_last_ones_that_its_run_sent_before(world: World) -> None:
    made = [sketch(), sketch(0.5), sketch(0.9), sketch(0.7)]
    sent = graded(world, "one", *made)
    graded(world, "two", sketch(0.3))
    with world.database.read() as session:
        (run,) = {one.run for one in sketches.not_reviewed(session, 9) if one.submission in sent}
        found = [
            sketches.of_run(session, run, until=one, limit=limit)
            for one, limit in ((sent[0], 9), (sent[2], 9), (sent[2], 2), (sent[3], 2))
        ]

    assert found == [made[:1], made[:3], made[1:3], made[2:]]  # itself, and the oldest first
