"""Counts and times over submissions."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.states import OPEN, SubmissionState
from app.storage.queries import submission_counts
from tests.storage.make import NOON, World


def test_open_submissions_are_counted_by_run(world: World) -> None:
    for state in SubmissionState:
        world.submit(state=state)

    with world.database.read() as session:
        none = submission_counts.open_of_runs(session, ["run_0"])
        one = submission_counts.open_of_runs(session, [world.run.id])
        both = submission_counts.open_of_runs(session, [world.run.id, world.other_run.id])
    assert none == {}
    assert one == {world.run.id: len(OPEN)}
    assert both == {world.run.id: len(OPEN), world.other_run.id: 1}


@pytest.mark.parametrize("state", SubmissionState)
def test_rejected_and_failed_submissions_are_uncounted_since_their_outcome(
    world: World, state: SubmissionState
) -> None:
    settled = NOON + timedelta(minutes=1) if state.is_settled else None
    world.submit(state=state, received_at=NOON, settled_at=settled)

    with world.database.read() as session:
        found, none = (
            submission_counts.uncounted_since(session, world.run.id, since)
            for since in (NOON, NOON + timedelta(minutes=1))
        )
    uncounted = state in (SubmissionState.REJECTED, SubmissionState.FAILED)
    assert found == [(NOON, settled)] * uncounted
    assert none == []
