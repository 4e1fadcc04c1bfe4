"""Which decision about a run holds, now and at an earlier time."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select

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


def test_a_decision_holds_from_its_time_until_the_next_ones(world: World) -> None:
    times = [NOON + timedelta(hours=hour) for hour in range(3)]
    for decision, at in zip(DECISIONS, times, strict=True):
        new = ReviewRecord(
            run_id=world.run.id, decision=decision, reason="x", decided_by=None, at=at
        )
        world.database.write(lambda session, new=new: decisions.add(session, new))

    def excluded(as_of: datetime | None) -> list[str]:
        query = select(decisions.RUN.c.id).where(decisions.is_excluded(as_of))
        with world.database.read() as session:
            return list(session.execute(query).scalars())

    moment = timedelta(microseconds=1)
    asked = [each + by for each in times for by in (-moment, timedelta(0))]
    run = [world.run.id]
    assert [excluded(as_of) for as_of in asked] == [[], run, run, [], [], run]
    assert excluded(None) == run
