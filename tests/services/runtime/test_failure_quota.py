"""How many files of a run may fail, and which files count before their outcome is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import SubmissionState
from app.errors import TooManyFailures
from app.services.runtime.failure_quota import FailureQuota, FailuresOfRun
from app.services.runtime.insert_submissions import InsertedSubmission, insert_submissions
from app.services.runtime.own_metrics import OwnMetrics
from app.storage.database.records import VersionFileRecord
from app.storage.queries import version_files
from app.storage.queries.operation import faults
from tests.storage.make import NOON, World, make_submission

STEP = 4.0
CAME = NOON - timedelta(seconds=5)


def fail(world: World, *, at: float = 0.2, came: datetime = CAME, kind: str = "metric") -> None:
    made = world.submit(
        state=SubmissionState.FAILED, received_at=came, settled_at=came + timedelta(seconds=at)
    )
    world.database.write(lambda s: faults.add_fault(s, made.id, 1, kind, "", came))


def has_own_metric(world: World) -> None:
    own = VersionFileRecord(path="metric.py", sha256="a" * 64, bytes=1)
    world.database.write(lambda s: version_files.add_files(s, world.version.id, [own]))


def refusal(
    world: World, limit: int, *, step: float = 0.0, accepted: int = 0, feedback: str = "validity"
) -> TooManyFailures | None:
    run = replace(world.run, feedback=Feedback(feedback))
    with world.database.read() as session:
        try:
            FailureQuota(limit, step, OwnMetrics()).refuse(session, run, NOON, accepted=accepted)
        except TooManyFailures as refused:
            return refused
    return None


def test_a_run_whose_failures_are_used_up_is_refused_for_good(world: World) -> None:
    fail(world)
    fail(world)

    assert refusal(world, 3) is None
    refused = refusal(world, 2)
    assert refused is not None
    assert refused.detail.startswith(f"Grading failed for 2 files of run {world.run.id}, because")
    assert "waiting does not change that" in refused.detail
    assert refused.headers["Retry-After"] == "86400"


def test_other_faults_and_other_runs_do_not_count(world: World) -> None:
    fail(world, kind="storage")
    fail(replace(world, run=world.other_run))

    assert refusal(world, 1) is None


@pytest.mark.parametrize("feedback", ["search", "public", "full"])
def test_it_holds_under_every_policy_that_shows_the_state(world: World, feedback: str) -> None:
    fail(world)

    assert refusal(world, 1, feedback=feedback) is not None
    assert refusal(world, 1, feedback="none") is None


@pytest.mark.parametrize("prepare", [has_own_metric, fail])
def test_files_without_an_outcome_count_where_failures_are_likely(
    world: World, prepare: Callable[[World], None]
) -> None:
    prepare(world)
    failed = int(prepare is fail)
    world.submit(state=SubmissionState.QUEUED)
    world.submit(state=SubmissionState.GRADING)

    assert refusal(world, failed + 3) is None
    assert refusal(world, failed + 1, accepted=9, feedback="full") is None  # it sees all grades
    for refused in (refusal(world, failed + 2), refusal(world, failed + 3, accepted=1)):
        assert refused is not None
        assert "Wait for outcomes" in refused.detail
        assert refused.headers["Retry-After"] == "1"


def test_files_without_an_outcome_do_not_count_for_a_built_in_metric(world: World) -> None:
    for _ in range(5):
        world.submit(state=SubmissionState.QUEUED)

    assert refusal(world, 1) is None


@pytest.mark.parametrize("feedback", ["validity", "search", "public"])
def test_a_failure_that_the_runs_key_may_not_know_of_changes_no_answer(
    world: World, feedback: str
) -> None:
    """At a built-in metric, where it decides whether files without an outcome count."""
    fail(world)  # shown a second ago with a step of 4, in three with one of 8
    for _ in range(5):
        world.submit(state=SubmissionState.QUEUED)

    assert refusal(world, 3, step=8.0, feedback=feedback) is None
    refused = refusal(world, 3, step=4.0, feedback=feedback)
    assert refused is not None
    assert "Grading failed for 1 file of" in refused.detail


def test_an_outcome_counts_as_waiting_until_the_runs_key_may_see_it(world: World) -> None:
    """Whatever the outcome is: the refusal must not tell it."""
    has_own_metric(world)
    fail(world)  # shown a second ago with a step of 4, in three with one of 8
    world.submit(
        state=SubmissionState.GRADED, received_at=CAME, settled_at=CAME + timedelta(seconds=0.2)
    )
    quotas = {step: FailureQuota(9, step, OwnMetrics()) for step in (0.0, 4.0, 8.0)}

    with world.database.read() as session:
        found = {step: quota.of_run(session, world.run, NOON) for step, quota in quotas.items()}
        full = quotas[8.0].of_run(session, replace(world.run, feedback=Feedback.FULL), NOON)

    assert found[0.0] == found[4.0] == full == FailuresOfRun(known=1, waiting=0)
    assert found[8.0] == FailuresOfRun(known=0, waiting=2)


def test_files_that_are_inserted_together_count(world: World) -> None:
    has_own_metric(world)
    quota = FailureQuota(2, STEP, OwnMetrics())
    sent = [make_submission(world.run, received_at=NOON) for _ in range(4)]
    others = [make_submission(world.other_run, received_at=NOON) for _ in range(4)]

    def insert(session: Session) -> list[InsertedSubmission | Exception]:
        return insert_submissions(session, [*sent, *others], failures=quota)

    kinds = [type(one) for one in world.database.write(insert)]

    assert kinds == [InsertedSubmission] * 2 + [TooManyFailures] * 2 + [InsertedSubmission] * 4


def test_a_run_is_asked_about_once_a_minute_until_it_has_a_failure(world: World) -> None:
    quota = FailureQuota(2, STEP, OwnMetrics())
    assert not quota.may_refuse(world.database, world.run)
    fail(world)

    assert not quota.may_refuse(world.database, world.run)  # known since the last minute
    assert FailureQuota(2, STEP, OwnMetrics()).may_refuse(world.database, world.run)
    assert not quota.may_refuse(world.database, replace(world.run, feedback=Feedback.NONE))
    has_own_metric(replace(world, version=replace(world.version, id=world.other_run.version_id)))
    assert quota.may_refuse(world.database, world.other_run)
