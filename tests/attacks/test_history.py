"""A run with a long history is served like a new one, and /readyz is right however many ask.

PODIUM_TEST_READY=100000 asks /readyz so many times in place of 800.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import time
from datetime import timedelta

import pytest

from app.domain.states import SubmissionState
from app.errors import QuotaExceeded
from app.services.runtime.failure_quota import FailureQuota, FailuresOfRun
from app.services.runtime.run_limits import refuse_over_quota
from app.storage.database.database import Database
from app.storage.database.records import RunRecord, VersionFileRecord, VersionRecord
from app.storage.queries import submissions, version_files
from tests.api.conftest import Podium
from tests.storage.make import NOON, add_run, make_submission, make_world

HISTORY = 4000
ASKING = 8
QUESTIONS = int(os.environ.get("PODIUM_TEST_READY", "800"))


def test_readyz_is_right_when_eight_ask_at_once(podium: Podium) -> None:
    def ask(client: object) -> list[int]:
        each = range(QUESTIONS // ASKING)
        return [client.get("/readyz").status_code for _ in each]  # type: ignore[attr-defined]

    clients = [podium.client() for _ in range(ASKING)]
    with concurrent.futures.ThreadPoolExecutor(ASKING) as threads:
        codes = [code for found in threads.map(ask, clients) for code in found]
    assert codes == [200] * QUESTIONS


def filled(database: Database, version: VersionRecord, count: int, **limits: int) -> RunRecord:
    """A run with so many submissions, one a second, of which each fifth was rejected."""
    run = add_run(database, version, f"long-{count}", limits=limits)
    states = [SubmissionState.REJECTED, *[SubmissionState.GRADED] * 4]
    added = [
        make_submission(
            run,
            received_at=NOON + timedelta(seconds=number),
            settled_at=NOON + timedelta(seconds=number),
            state=states[number % 5],
        )
        for number in range(count)
    ]
    database.write(lambda session: submissions.add_submissions(session, added))
    return run


def test_the_quota_of_a_long_history_is_counted_as_fast_as_that_of_a_new_run(
    database: Database,
) -> None:
    limits = {"submissions_total": 100_000, "submissions_per_day": 50_000}
    now = NOON + timedelta(hours=2)
    spent = []
    version = make_world(database).version
    run = filled(database, version, HISTORY, **limits)
    new = filled(database, version, 1, **limits)
    with database.read() as session:
        for one in (new, run, new, run):
            started = time.process_time()
            for _ in range(50):
                refuse_over_quota(session, one, now)
            spent.append(time.process_time() - started)
    assert spent[3] < 4 * spent[2] + 0.02


def test_the_failures_of_a_long_history_are_counted_as_fast_as_those_of_a_new_run(
    database: Database,
) -> None:
    """Where a competition has a metric.py, so that each file is counted."""
    now = NOON + timedelta(hours=2)
    version = make_world(database).version
    own = VersionFileRecord(path="metric.py", sha256="a" * 64, bytes=1)
    database.write(lambda session: version_files.add_files(session, version.id, [own]))
    run, new = filled(database, version, HISTORY), filled(database, version, 1)
    quota = FailureQuota(20, 1.0)
    spent = []
    with database.read() as session:
        for one in (new, run, new, run):
            started = time.process_time()
            for _ in range(50):
                quota.refuse(session, one, now)
            spent.append(time.process_time() - started)
        assert quota.of_run(session, run, now) == FailuresOfRun(0, 0)
    assert spent[3] < 4 * spent[2] + 0.02


@pytest.mark.parametrize("allowed", [100, 1000, 3199])
def test_a_quota_that_a_long_history_has_used_names_the_time_of_the_next(
    database: Database, allowed: int
) -> None:
    run = filled(database, make_world(database).version, HISTORY, submissions_per_day=allowed)
    now = NOON + timedelta(hours=2)
    counted = [number for number in range(HISTORY) if number % 5]
    free_at = NOON + timedelta(seconds=counted[-allowed], days=1)
    with database.read() as session, pytest.raises(QuotaExceeded) as caught:
        refuse_over_quota(session, run, now)
    assert free_at.isoformat(timespec="seconds") in str(caught.value)


@pytest.mark.parametrize(("allowed", "is_refused"), [(3200, True), (3201, False)])
def test_rejected_submissions_of_a_long_history_do_not_count(
    database: Database, allowed: int, is_refused: bool
) -> None:
    run = filled(database, make_world(database).version, HISTORY, submissions_total=allowed)
    now = NOON + timedelta(hours=2)
    with database.read() as session, contextlib.ExitStack() as stack:
        if is_refused:
            stack.enter_context(pytest.raises(QuotaExceeded))
        refuse_over_quota(session, run, now)
        refuse_over_quota(session, run, now + timedelta(days=2), accepted=0)
