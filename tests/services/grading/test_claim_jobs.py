"""Deliveries of the queue: each claims its submission once, whatever happened to the last one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from app.domain.states import SubmissionState
from app.graders.messages.results import GraderFault
from app.grading_version import grading_version
from app.queue import jobs
from app.services.grading.claim_jobs import DeliveredJob, claim_jobs
from app.services.grading.write_outcomes import FinishedGrading, write_outcomes
from app.services.runtime import environment
from app.storage.queries import claims, submissions
from app.storage.queries.operation import environments, faults
from app.storage.queries.operation.environments import Environment
from tests.storage.make import World, make_world

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)


@pytest.fixture
def world(database) -> World:
    made = make_world(database)
    environment.agree(database)
    return made


def deliver(world, submission, job=1, token="a", attempts=3):
    given = [DeliveredJob(job, submission.id, token)]
    (taken,) = world.database.write(lambda s: claim_jobs(s, given, max_attempts=attempts))
    if isinstance(taken, Exception):
        raise taken
    return taken


def now_in(world, submission):
    with world.database.read() as session:
        return submissions.get_submission(session, submission.id)[0]


def finish(world, claim, outcome):
    done = FinishedGrading(claim, outcome, "m", datetime.now(UTC))
    return world.database.write(lambda s: write_outcomes(s, [done], max_attempts=3))[0]


def test_a_delivery_claims_a_submission_once(world):
    made = world.submit()
    taken = deliver(world, made, job=7)

    assert taken.claim.attempts == 1
    row = now_in(world, made)
    assert (row.state, row.claimed_by) == (SubmissionState.GRADING, "7:a")


def test_another_living_jobs_submission_is_left_alone(world):
    made = world.submit()
    world.database.write(lambda s: jobs.defer(s, [(made.id, 1, 0)]))
    with world.database.read() as session:
        alive = session.execute(text("SELECT id FROM procrastinate_jobs")).scalar_one()
    deliver(world, made, job=alive)

    other = deliver(world, made, job=alive + 1, token="b")

    assert (other.claim, other.state) == (None, None)
    assert now_in(world, made).claimed_by == f"{alive}:a"


def test_a_job_that_is_gone_does_not_keep_its_submission(world):
    made = world.submit()
    deliver(world, made, job=1)

    assert deliver(world, made, job=2, token="b").claim.attempts == 2


def test_outcomes_of_a_worker_presumed_dead_are_dropped(world):
    made = world.submit()
    first = deliver(world, made, token="a").claim
    second = deliver(world, made, token="b").claim

    assert finish(world, first, GraderFault("crashed")) is None
    assert now_in(world, made).claimed_by == "1:b"
    assert finish(world, second, GraderFault("crashed")) is SubmissionState.QUEUED
    with world.database.read() as session:
        found = faults.list_faults(session, submission_id=made.id, limit=9)
    assert [each.kind for each in found] == ["crashed", "worker_lost"]


def test_what_kills_every_worker_fails_in_the_end(world):
    made = world.submit()
    for token in "abc":
        assert deliver(world, made, token=token).claim is not None

    last = deliver(world, made, token="d")

    assert (last.claim, last.state) == (None, SubmissionState.FAILED)
    assert now_in(world, made).state is SubmissionState.FAILED
    assert deliver(world, made, token="e").state is SubmissionState.FAILED


def test_what_is_handed_back_costs_no_attempt(world):
    made = world.submit()
    claim = deliver(world, made).claim
    world.database.write(lambda s: claims.give_back(s, claim.id, claim.claimed_by))

    assert now_in(world, made) == made


def test_only_the_holder_can_hand_back(world):
    made = world.submit()
    first = deliver(world, made, token="a").claim
    deliver(world, made, token="b")
    world.database.write(lambda s: claims.give_back(s, first.id, first.claimed_by))

    assert now_in(world, made).claimed_by == "1:b"


def test_a_worker_of_another_environment_is_refused_with_the_reason(world):
    other = Environment(
        "0.0.9", environment.this_environment().environment.replace("numpy-", "numpy-9.")
    )
    world.database.write(lambda s: environments.replace(s, other, datetime.now(UTC)))
    made = world.submit()

    with pytest.raises(environment.OtherEnvironment) as refused:
        deliver(world, made)
    with pytest.raises(environment.OtherEnvironment):
        environment.agree(world.database)

    assert f"podium is {grading_version()}, not 0.0.9; numpy is " in refused.value.detail
    assert "podium worker --adopt" in refused.value.detail
    assert now_in(world, made) == made
    environment.agree(world.database, adopt=True)
    assert deliver(world, made).claim is not None
