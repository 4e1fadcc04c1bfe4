"""Counts and times over submissions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.domain.states import OPEN, SubmissionState
from app.storage.database.database import Database
from app.storage.queries import submission_counts
from tests.storage.make import NOON, World, add_submission, make_submission
from tests.storage.statements import sqlite_plan


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
    other = make_submission(world.other_run, state=state, received_at=NOON, settled_at=settled)
    world.database.write(lambda session: add_submission(session, other))

    with world.database.read() as session:
        found, none = (
            submission_counts.uncounted_since(session, world.run.id, since)
            for since in (NOON, NOON + timedelta(minutes=1))
        )
    uncounted = state in (SubmissionState.REJECTED, SubmissionState.FAILED)
    assert found == [(NOON, settled)] * uncounted
    assert none == []


def test_what_counts_after_a_time_was_not_received_days_later(world: World) -> None:
    def hours(*numbers: float) -> list[datetime]:
        return [NOON + timedelta(hours=number) for number in numbers]

    for at in hours(0, 1, 2, 48, 49):
        world.submit(state=SubmissionState.GRADED, received_at=at)
    world.submit(state=SubmissionState.REJECTED, received_at=hours(3)[0])

    with world.database.read() as session:
        counts = [
            submission_counts.count_counted(session, world.run.id, since, everything=everything)
            for since in (NOON, None)
            for everything in (False, True)
        ]
        assert counts == [3, 4, 5, 6]

        def times(**given: Any) -> list[datetime | None]:
            of_run = (session, world.run.id, NOON)
            return [submission_counts.counted_time(*of_run, later=n, **given) for n in range(5)]

        assert times() == [*hours(48, 2, 1), None, None]
        assert times(everything=True) == [*hours(48, 3, 2, 1), None]
        assert times(others=hours(0, 1.5)) == [*hours(48, 2, 1.5, 1), None]


def test_the_gauges_count_what_is_queued_or_graded_by_size(world: World) -> None:
    first = make_submission(world.run, id="sub_0", state=SubmissionState.GRADED)
    world.database.write(lambda session: add_submission(session, first))
    world.submit(state=SubmissionState.GRADING, bytes=11_999)
    world.submit(bytes=13_000)

    with world.database.read() as session:
        found = submission_counts.count_open(session, [12_000, 13_000])
        assert submission_counts.oldest_queued(session) == NOON  # that of the other run
    queued, grading = SubmissionState.QUEUED, SubmissionState.GRADING
    assert found == {(grading, 0): 1, (queued, 1): 1, (queued, 2): 1}


@pytest.mark.parametrize("database_kind", ["sqlite"])
@pytest.mark.parametrize(
    "count",
    [
        lambda session, run_id: submission_counts.count_counted(session, run_id),
        lambda session, run_id: submission_counts.count_counted(session, run_id, NOON),
        lambda session, run_id: submission_counts.counted_time(session, run_id, NOON, later=0),
    ],
    ids=["ever", "since", "latest"],
)
def test_files_that_count_nothing_are_not_read(
    database: Database, count: Callable[[Session, str], object]
) -> None:
    """Each of 100,000 rejected files of a run with a limit made the next one slower."""
    plan = sqlite_plan(database, lambda session: count(session, "run_1"))

    details = [step for step in plan if " submission " in step]
    found = [detail.partition("ix_submission_")[2].partition(" ")[0] for detail in details]
    assert found == ["graded", "queued", "state_id"]
    assert "(state=? AND run_id=?" in details[1]


def test_as_many_submissions_are_counted_as_matter(world: World) -> None:
    for state in SubmissionState:
        world.submit(state=state)

    with world.database.read() as session:
        counts = [submission_counts.count_at_most(session, world.run.id, n) for n in (0, 4, 9)]
    assert counts == [0, 4, len(SubmissionState)]
