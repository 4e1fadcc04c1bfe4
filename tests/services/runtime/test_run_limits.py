"""The limits of a run: closed, out of time, out of submissions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.feedback import Feedback
from app.domain.states import RunState, SubmissionState
from app.errors import QuotaExceeded, RunClosed
from app.services.runtime.run_limits import refuse_closed, refuse_over_quota
from tests.storage.make import NOON, World


def check_quota(world: World, accepted: int = 0, **limits: float) -> None:
    run = replace(world.run, limits=limits)
    with world.database.read() as session:
        refuse_over_quota(session, run, NOON, accepted=accepted)


def test_an_open_run_without_limits_accepts(world: World) -> None:
    refuse_closed(world.run, NOON + timedelta(days=1000))
    check_quota(world)


def test_a_closed_run_accepts_nothing(world: World) -> None:
    with pytest.raises(RunClosed, match="is closed"):
        refuse_closed(replace(world.run, state=RunState.CLOSED), NOON)


@pytest.mark.parametrize(("hours", "over"), [(2, False), (1, True), (0.5, True)])
def test_a_run_ends_after_its_hours(world: World, hours: float, over: bool) -> None:
    run = replace(world.run, started_at=NOON - timedelta(hours=1), limits={"hours": hours})

    if over:
        with pytest.raises(RunClosed, match="are over"):
            refuse_closed(run, NOON)
    else:
        refuse_closed(run, NOON)


def test_the_hours_of_a_run_that_has_not_started_do_not_pass(world: World) -> None:
    run = replace(world.run, created_at=NOON - timedelta(days=9), limits={"hours": 1})

    refuse_closed(run, NOON)


@pytest.mark.parametrize(
    ("state", "counts"),
    [
        (SubmissionState.QUEUED, True),
        (SubmissionState.GRADING, True),
        (SubmissionState.GRADED, True),
        (SubmissionState.REJECTED, False),
        (SubmissionState.FAILED, False),
    ],
)
def test_rejected_and_failed_files_cost_nothing(
    world: World, state: SubmissionState, counts: bool
) -> None:
    world.submit(state=state, received_at=NOON - timedelta(hours=1))

    if counts:
        with pytest.raises(QuotaExceeded, match="all of its 1 submissions"):
            check_quota(world, submissions_total=1)
        with pytest.raises(QuotaExceeded, match="may send 1 submissions in 24 hours"):
            check_quota(world, submissions_per_day=1)
    else:
        check_quota(world, submissions_total=1, submissions_per_day=1)


def test_what_was_accepted_in_the_same_batch_counts(world: World) -> None:
    check_quota(world, accepted=1, submissions_total=2)
    with pytest.raises(QuotaExceeded):
        check_quota(world, accepted=2, submissions_total=2)


def test_the_daily_quota_is_free_again_24_hours_after_the_submission_that_fills_it(
    world: World,
) -> None:
    for hours in (30, 20, 10):
        world.submit(state=SubmissionState.GRADED, received_at=NOON - timedelta(hours=hours))

    check_quota(world, submissions_per_day=3)
    with pytest.raises(QuotaExceeded) as refused:
        check_quota(world, submissions_per_day=2)

    assert int(refused.value.headers["Retry-After"]) == 4 * 3600 + 1


def test_a_rejected_file_counts_until_the_run_may_know_it(world: World) -> None:
    came = NOON - timedelta(seconds=5)
    world.submit(
        state=SubmissionState.REJECTED, received_at=came, settled_at=came + timedelta(seconds=0.2)
    )
    run = replace(world.run, limits={"submissions_total": 1})

    with world.database.read() as session:
        refuse_over_quota(session, run, NOON, step=4.0)  # shown since a second
        refuse_over_quota(session, run, NOON, step=0.0)
        refuse_over_quota(session, replace(run, feedback=Feedback.FULL), NOON, step=8.0)
        with pytest.raises(QuotaExceeded):
            refuse_over_quota(session, run, NOON, step=8.0)


@pytest.mark.parametrize("seconds", [(45, 1), (1, 18)])  # of gradings: shown after 64, and 32
@pytest.mark.parametrize(
    "outcome", [SubmissionState.GRADED, SubmissionState.REJECTED, SubmissionState.FAILED]
)
def test_the_time_of_the_next_free_place_tells_nothing_of_a_hidden_outcome(
    world: World, seconds: tuple[int, int], outcome: SubmissionState
) -> None:
    """A slow file that came before one whose outcome is known was taken for the latest."""
    for ago, took in zip((50, 20), seconds, strict=True):
        at = NOON - timedelta(seconds=ago)
        state = SubmissionState.GRADED if took == 1 else outcome
        world.submit(state=state, received_at=at, settled_at=at + timedelta(seconds=took))
    run = replace(world.run, limits={"submissions_per_day": 2})

    with world.database.read() as session, pytest.raises(QuotaExceeded) as refused:
        refuse_over_quota(session, run, NOON, step=1.0)

    assert int(refused.value.headers["Retry-After"]) == 24 * 3600 - 50 + 1


@pytest.mark.parametrize(
    "outcome", [SubmissionState.QUEUED, SubmissionState.REJECTED, SubmissionState.FAILED]
)
def test_a_file_of_the_day_before_counts_no_more_whatever_its_hidden_outcome(
    world: World, outcome: SubmissionState
) -> None:
    """It waited for a grader for more than a day, and was then taken for one of today."""
    settled_at = NOON - timedelta(seconds=5) if outcome.is_settled else None
    world.submit(state=outcome, received_at=NOON - timedelta(hours=25), settled_at=settled_at)
    run = replace(world.run, limits={"submissions_per_day": 1})

    with world.database.read() as session:
        refuse_over_quota(session, run, NOON, step=1.0)
