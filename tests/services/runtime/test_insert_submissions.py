"""Submissions of several runs that two servers store at the same moment."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.domain.states import SubmissionState
from app.services.runtime.context import Context
from app.services.runtime.insert_submissions import InsertedSubmission, insert_submissions
from app.storage.database.records import RunRecord, SettledRecord, SubmissionRecord
from app.storage.queries import runs, submission_counts, submissions
from app.storage.queries.regrades.counted_grades import count_states
from tests.services.conftest import Meanwhile
from tests.storage.make import NOON, World, add_run, add_submission, make_submission


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_servers_lock_runs_in_one_order(
    servers: tuple[Context, Context],
    world: World,
    meanwhile: Meanwhile,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each waited for the other, until PostgreSQL ended one of them after a second."""
    one, other = servers
    first, second = (add_run(one.database, world.version, "third", seed=seed) for seed in (1, 2))

    def insert(context: Context, *sending: RunRecord) -> None:
        rows = [make_submission(run) for run in sending]
        context.database.write(lambda session: insert_submissions(session, rows))

    ended = meanwhile(runs, "lock_runs", lambda: insert(other, second, first))
    with caplog.at_level(logging.WARNING):
        insert(one, first, second)
        ended()
    assert not caplog.records
    with one.database.read() as session:
        sent = count_states(session, [first.id, second.id])
    assert [sum(each.values()) for each in sent.values()] == [2, 2]


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_file_that_is_rejected_while_the_quota_is_counted_counts_once(
    servers: tuple[Context, Context], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counted as queued and as rejected, and the next was refused: nothing renews that limit."""
    one, other = servers
    run = add_run(one.database, world.version, "limited", limits={"submissions_total": 2})
    came = NOON - timedelta(minutes=1)
    rejected, queued = (make_submission(run, received_at=came) for _ in range(2))
    for sent in (rejected, queued):
        one.database.write(lambda session, sent=sent: add_submission(session, sent))

    def reject(sent: SubmissionRecord, at: datetime) -> None:
        outcome = SettledRecord(
            id=sent.id, state=SubmissionState.REJECTED, problem=None, warnings=[], settled_at=at
        )
        other.database.write(lambda session: submissions.settle_all(session, [outcome]))

    reject(rejected, came)  # the run's key knows
    count, found = submission_counts.count_counted, list[int]()

    def count_slowly(*given: Any, **options: Any) -> int:
        found.append(count(*given, **options))
        if len(found) == 1:
            reject(queued, NOON)
        return found[-1]

    monkeypatch.setattr(submission_counts, "count_counted", count_slowly)
    new = make_submission(run, received_at=NOON)
    inserted = one.database.write(lambda session: insert_submissions(session, [new], step=32.0))

    assert found == [1, 0]
    assert isinstance(inserted[0], InsertedSubmission)
