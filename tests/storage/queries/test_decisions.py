"""Which decision about a run holds, now and at an earlier time."""

from __future__ import annotations

from datetime import timedelta

from app.domain.states import ReviewDecision
from app.storage.queries.reviews import decisions
from app.storage.queries.reviews.decisions import ReviewRecord
from tests.storage.make import NOON, World

DECISIONS = (ReviewDecision.EXCLUDE, ReviewDecision.ACCEPT, ReviewDecision.EXCLUDE)


def test_a_decision_ends_when_the_next_one_about_its_run_is_made(world: World) -> None:
    times = [NOON + timedelta(hours=hour) for hour in range(3)]
    for run in (world.run, world.other_run):
        for decision, at in zip(DECISIONS, times, strict=True):
            new = ReviewRecord(run_id=run.id, decision=decision, reason="x", decided_by=None, at=at)
            world.database.write(lambda session, new=new: decisions.add(session, new))

    with world.database.read() as session:
        made = decisions.of_run(session, world.run.id)
        now = decisions.current(session, world.run.id)

    assert [one.superseded_at for one in made] == [times[1], times[2], None]  # accepted for an hour
    assert now == made[2]
