"""Which files of a run a file is compared with."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event, text, update
from sqlalchemy.orm import Session

from app.storage.queries import submissions
from app.storage.queries.reviews import sketches
from tests.storage.make import NOON, World, add_run, make_submission
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


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_that_no_file_waits_is_seen_without_a_reading_of_all(world: World) -> None:
    """Every server and worker looks each two seconds: 160,000 files took 0.2 seconds.

    So it was if some waited when PostgreSQL counted last, until it counted again.
    """
    run = add_run(world.database, world.version, "one")
    sent = [make_submission(run) for _ in range(4000)]
    of_sent = [(one.id, world.version.id, sketch()) for one in sent]
    reviewed = update(sketches.TABLE).values(reviewed_at=NOON)

    def fill(session: Session) -> None:
        submissions.add_submissions(session, sent)
        sketches.add_all(session, of_sent)
        session.execute(reviewed.where(sketches.TABLE.c.submission_id < sent[2000].id))
        session.execute(text("ANALYZE"))

    world.database.write(fill)
    world.database.write(lambda session: session.execute(reviewed))
    executed: list[tuple[str, Any]] = []
    with world.database.read() as session:
        connection = session.connection()
        event.listen(
            connection, "before_cursor_execute", lambda *given: executed.append(given[2:4])
        )
        assert sketches.versions_waiting(session, 100, passed_over=()) == {}
        ((statement, given),) = executed
        plan = connection.exec_driver_sql(f"EXPLAIN {statement}", given).scalars().all()

    assert any("Scan using ix_submission_sketch_reviewed_at" in line for line in plan)
