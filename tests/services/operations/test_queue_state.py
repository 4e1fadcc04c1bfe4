"""The queue at this moment, as an admin sees it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.states import SubmissionState
from app.services.operations.queue_state import queue_state
from app.services.runtime.context import Context
from tests.storage.make import World, add_run, add_submission, add_version, make_submission


def test_open_submissions_are_counted_and_settled_ones_are_not(
    context: Context, here: World
) -> None:
    now = datetime.now(UTC)
    before = queue_state(context)
    here.submit(received_at=now, state=SubmissionState.GRADING)
    here.submit(received_at=now, state=SubmissionState.GRADED, settled_at=now)
    here.submit(received_at=now, state=SubmissionState.QUEUED)

    found = queue_state(context)

    assert (found.queued - before.queued, found.grading - before.grading) == (1, 1)
    assert 0 < found.disk_free <= found.disk_total
    assert (found.graders, found.consumers) == (0, 0)


@pytest.mark.parametrize(("ago", "waited"), [(60, 60), (-60, 0)])
def test_the_oldest_has_waited_since_it_came_and_never_less_than_nothing(
    context: Context, ago: int, waited: int
) -> None:
    assert queue_state(context).oldest_seconds is None
    version = context.database.write(lambda session: add_version(session, "bikes"))
    run = add_run(context.database, version, "first")
    received_at = datetime.now(UTC) - timedelta(seconds=ago)
    sent = make_submission(run, received_at=received_at)
    context.database.write(lambda session: add_submission(session, sent))

    assert queue_state(context).oldest_seconds == pytest.approx(waited, abs=30)
