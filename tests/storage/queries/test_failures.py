"""Failures are failed submissions with a fault that a file can bring about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, get_args

import pytest
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.graders.messages.results import GraderFaultKind
from app.storage.database.database import Database
from app.storage.queries import failures, submission_counts, submissions
from app.storage.queries.failures import RecentOutcome
from app.storage.queries.operation import faults
from tests.storage.make import NOON, World, make_submission

NOT_BY_FILE = {"competition", "internal", "isolation", "not_started", "storage"}
LATER = NOON + timedelta(minutes=1)


def fail(world: World, *kinds: str, state: SubmissionState = SubmissionState.FAILED) -> str:
    """A submission with a fault of each kind."""
    settled = LATER if state.is_settled else None
    made = world.submit(state=state, received_at=NOON, settled_at=settled)

    def add(session: Session) -> None:
        for attempt, kind in enumerate(kinds, 1):
            faults.add_fault(session, made.id, attempt, kind, "", NOON)

    world.database.write(add)
    return made.id


def test_every_kind_of_fault_is_the_files_or_not() -> None:
    assert set(get_args(GraderFaultKind)) == faults.BY_FILE | NOT_BY_FILE
    assert not faults.BY_FILE & NOT_BY_FILE


@pytest.mark.parametrize("kind", get_args(GraderFaultKind))
def test_a_failed_submission_is_a_failure_if_its_file_can_be_the_cause(
    world: World, kind: str
) -> None:
    failed = fail(world, kind)
    mixed = fail(world, "storage", "metric", "storage")
    graded = fail(world, kind, state=SubmissionState.GRADED)  # at a second attempt
    waiting = fail(world, kind, state=SubmissionState.QUEUED)

    with world.database.read() as session:
        found = failures.among(session, [failed, mixed, graded, waiting, "sub_0"])
        counts = failures.by_run(session, [world.run.id, world.other_run.id])
        recent = failures.settled_since(session, world.run.id, NOON)
        none = failures.settled_since(session, world.run.id, LATER)
        of_run = failures.of_run(session, world.run.id)
        times = failures.times_by_run(session, [world.run.id, world.other_run.id])
        still_open = submission_counts.open_of_runs(session, [world.run.id])

    is_failure = kind in faults.BY_FILE
    assert found == ({failed, mixed} if is_failure else {mixed})
    assert counts == {world.run.id: 1 + is_failure}
    assert sorted(of_run) == sorted((one, NOON, LATER) for one in found)
    assert times == [(world.run.id, NOON, LATER)] * len(found)
    assert recent.count(RecentOutcome(NOON, LATER, is_failure=True)) == 1 + is_failure
    assert (len(recent), none, still_open) == (3, [], {world.run.id: 1})


def steps(database: Database, ask: Callable[[Session], object]) -> int:
    """How many instructions SQLite carries out for a question."""
    count = 0

    def counted() -> int:
        nonlocal count
        count += 1
        return 0

    with database.read() as session:
        connection: Any = session.connection().connection.dbapi_connection
        connection.set_progress_handler(counted, 1)
        try:
            ask(session)
        finally:
            connection.set_progress_handler(None, 0)
    return count


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_long_history_costs_no_step_more(world: World, database_kind: str) -> None:
    rows = [
        make_submission(world.run, state=state, received_at=NOON, settled_at=NOON)
        for state in (SubmissionState.GRADED, SubmissionState.REJECTED)
        for _ in range(1000)
    ]
    questions: list[Callable[[Session], object]] = [
        lambda session: failures.by_run(session, [world.run.id]),
        lambda session: submission_counts.open_of_runs(session, [world.run.id]),
        lambda session: submission_counts.uncounted_since(session, world.run.id, LATER),
        lambda session: failures.settled_since(session, world.run.id, LATER),
    ]
    new = [steps(world.database, ask) for ask in questions]
    world.database.write(lambda session: submissions.add_submissions(session, rows))

    assert min(new) > 10
    for ask, before in zip(questions, new, strict=True):
        # One more where the index had ended, and has a row of another state now.
        assert steps(world.database, ask) <= before + 1
