"""How much of a run's quotas is used, and what is left now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.domain.feedback import Feedback
from app.domain.states import Role, SubmissionState
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions.quotas import Quota, quota
from tests.storage.make import World


def submit(here: World, hours: float, state: SubmissionState = SubmissionState.GRADED) -> None:
    came = datetime.now(UTC) - timedelta(hours=hours)
    here.submit(state=state, received_at=came, settled_at=came + timedelta(seconds=1))


def used(context: Context, here: World, policy: Feedback = Feedback.FULL, **limits: int) -> Quota:
    agent = Caller(Role.RUN, "k", run_id=here.run.id)
    return quota(context, agent, replace(here.run, limits=limits, feedback=policy))


def test_a_run_without_limits_may_send_any_number(context: Context, here: World) -> None:
    submit(here, 1)

    assert used(context, here) == Quota(1, 1, None, is_limited_by_total=False)


def test_the_tighter_limit_decides(context: Context, here: World) -> None:
    for hours in (30, 23, 1):
        submit(here, hours)

    day = used(context, here, submissions_per_day=3, submissions_total=9)
    total = used(context, here, submissions_per_day=9, submissions_total=4)
    equal = used(context, here, submissions_per_day=3, submissions_total=4)

    assert day == Quota(2, 3, 1, is_limited_by_total=False)
    assert total == Quota(2, 3, 1, is_limited_by_total=True)
    assert equal.is_limited_by_total  # waiting does not help


def test_nothing_is_left_of_a_limit_that_was_lowered(context: Context, here: World) -> None:
    for hours in (3, 2, 1):
        submit(here, hours)

    assert used(context, here, submissions_total=2).allowed_now == 0


def test_rejected_files_count_where_the_state_is_not_shown(context: Context, here: World) -> None:
    submit(here, 1, SubmissionState.REJECTED)
    submit(here, 1, SubmissionState.FAILED)

    assert used(context, here, submissions_total=5).total == 0
    assert used(context, here, Feedback.NONE, submissions_total=5).total == 2


def test_a_hidden_outcome_counts_until_the_run_may_know_it(context: Context, here: World) -> None:
    """A number that fell with the rejection would tell when the file was graded."""
    settings = context.settings.model_copy(update={"outcome_step_seconds": 3600.0})
    context, rejected = replace(context, settings=settings), SubmissionState.REJECTED
    for hours in (25, 3):
        now = datetime.now(UTC)
        received, settled = now - timedelta(hours=hours), now - timedelta(seconds=1)
        here.submit(state=rejected, received_at=received, settled_at=settled)

    told = used(context, here, Feedback.PUBLIC, submissions_per_day=9, submissions_total=9)

    assert told == Quota(1, 2, 7, is_limited_by_total=True)
