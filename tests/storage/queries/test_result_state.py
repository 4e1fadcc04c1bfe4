"""Which results may still change, so that nobody keeps them."""

from __future__ import annotations

from app.domain.states import RunState, SubmissionState
from app.storage.queries import runs
from app.storage.queries.result_state import result_state
from tests.storage.make import NOON, World, add_submission, make_submission


def close(world: World, *run_ids: str) -> None:
    for run_id in run_ids:
        world.database.write(
            lambda session, one=run_id: runs.update_run(
                session, one, state=RunState.CLOSED, closed_at=NOON
            )
        )


def test_a_closed_run_waits_for_the_grades_of_its_own_files(world: World) -> None:
    done = make_submission(world.run, state=SubmissionState.GRADED, settled_at=NOON)
    world.database.write(lambda session: add_submission(session, done))
    with world.database.read() as session:
        both_open = result_state(session)
    assert (both_open.open, both_open.waiting) == ({"first", "second"}, ())

    close(world, world.run.id, world.other_run.id)  # a file of the other one is queued
    with world.database.read() as session:
        closed = result_state(session)

    assert (closed.open, closed.waiting) == ({"second"}, (world.other_run.id,))
    assert closed.experiments["first"].waiting == ()
    assert closed.experiments["second"].waiting == (world.other_run.id,)
    assert closed.experiments != both_open.experiments
