from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from app.domain.states import SubmissionState
from app.storage.database.database import Database
from app.storage.database.records import ClaimRecord, SettledRecord
from app.storage.queries import claims, direct_claims, submissions
from tests.storage.make import NOON, claim_built_in


def claim(database, claimant="me", limit=100):
    return database.write(lambda s: claim_built_in(s, claimant, limit, NOON))


def state(world, submission_id):
    with world.database.read() as session:
        return submissions.get_submission(session, submission_id)[0]


@pytest.fixture
def queue(world):
    claim(world.database, "somebody else")  # takes the other run's
    return [world.submit() for _ in range(5)]


def test_the_oldest_are_claimed_first(world, queue):
    assert [each.id for each in claim(world.database, limit=2)] == [queue[0].id, queue[1].id]


def test_a_claim_says_what_a_grader_needs(world, queue):
    assert claim(world.database, limit=1) == [
        ClaimRecord(
            id=queue[0].id, run_id=world.run.id, version_id=world.version.id,
            competition="bikes", sha256=queue[0].sha256, attempts=1, claimed_by="me",
        )
    ]  # fmt: skip


def test_claimed_rows_say_who_took_them_and_when(world, queue):
    claim(world.database, limit=1)

    taken, left = state(world, queue[0].id), state(world, queue[1].id)
    assert (taken.state, taken.attempts) == (SubmissionState.GRADING, 1)
    assert (taken.claimed_by, taken.claimed_at) == ("me", NOON)
    assert left == queue[1]


def test_nothing_is_claimed_twice(world, queue):
    assert len(claim(world.database)) == 5
    assert claim(world.database) == []


def test_what_a_dead_process_claimed_is_queued_again(world, queue):
    claim(world.database, "dead", limit=2)
    claim(world.database, "alive", limit=1)

    count = world.database.write(lambda s: submissions.requeue_claimed_by(s, "dead"))

    assert count == 2
    assert [state(world, each.id).state.value for each in queue] == [
        "queued", "queued", "grading", "queued", "queued",
    ]  # fmt: skip
    again = claim(world.database, limit=1)[0]
    assert (again.id, again.attempts) == (queue[0].id, 2)


def test_an_attempt_cut_short_need_not_count(world, queue):
    claim(world.database, "dead", limit=1)
    world.database.write(lambda s: submissions.requeue_claimed_by(s, "dead", counts_attempt=False))

    assert state(world, queue[0].id) == queue[0]


def test_one_claim_can_be_given_back(world, queue):
    claim(world.database, limit=2)

    assert world.database.write(lambda s: submissions.requeue_claim(s, queue[0].id))
    assert state(world, queue[0].id).state is SubmissionState.QUEUED
    assert state(world, queue[1].id).state is SubmissionState.GRADING


def test_what_is_settled_is_not_queued_again(world, queue):
    claim(world.database)
    done = SettledRecord(
        id=queue[0].id, state=SubmissionState.GRADED, problem=None, warnings=[], settled_at=NOON
    )
    world.database.write(lambda s: submissions.settle_all(s, [done]))

    assert not world.database.write(lambda s: submissions.requeue_claim(s, queue[0].id))
    assert world.database.write(lambda s: submissions.requeue_claimed_by(s, "me")) == 4


def test_processes_that_claim_at_once_share_without_overlap(world, queue):
    for hours in range(200):
        world.submit(received_at=NOON + timedelta(hours=hours))
    url = world.database.url.render_as_string(hide_password=False)
    taken: list[list[str]] = [[], [], []]

    def work(number):
        database = Database(url)
        try:
            while claimed := claim(database, f"loop {number}", limit=7):
                taken[number] += [each.id for each in claimed]
        finally:
            database.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    everything = [each for part in taken for each in part]
    assert len(everything) == 205
    assert len(set(everything)) == 205


# On SQLite there is one writer at a time: the other waits.
@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
def test_a_row_held_by_another_process_is_passed_over(world, queue):
    held, release = threading.Event(), threading.Event()

    def hold(session):
        claim_built_in(session, "slow", 2, NOON)
        held.set()
        assert release.wait(10), "the other one waited for this claim"

    other = Database(world.database.url.render_as_string(hide_password=False))
    try:
        waiting = other.enqueue(hold)
        assert held.wait(10)
        assert [each.id for each in claim(world.database, limit=2)] == [queue[2].id, queue[3].id]
    finally:
        release.set()
        waiting.result(10)
        other.close()


def deliver(world, submission_id, claimant):
    """Claim what the queue delivers to this claimant, and return what was found before."""

    def take(session):
        (found,) = claims.find_for_claim(session, {submission_id: claimant}).values()
        claims.claim(session, [found.claim])
        return found

    return world.database.write(take)


def test_a_claim_whose_commit_was_not_confirmed_is_one_attempt(world):
    made = world.submit()
    first, again = (deliver(world, made.id, "7:token") for _ in range(2))
    other = deliver(world, made.id, "8:token")

    assert (first.is_made, first.holder, first.claim.attempts) == (False, None, 1)
    assert (again.is_made, again.holder, again.claim.attempts) == (True, 7, 1)
    assert (other.is_made, other.holder) == (False, 7)


def test_the_claim_of_a_server_is_no_job(world):
    made = world.submit()
    world.database.write(lambda s: direct_claims.claim_named(s, "123", [made.id], NOON))

    assert deliver(world, made.id, "7:token").holder is None


def test_what_has_its_outcome_is_no_claim_and_is_not_given_back(world):
    made = world.submit()
    one = deliver(world, made.id, "7:token").claim
    assert world.database.write(lambda s: claims.still_valid(s, [one])) == [True]
    done = SettledRecord(
        id=made.id, state=SubmissionState.GRADED, problem=None, warnings=[], settled_at=NOON
    )
    world.database.write(lambda s: submissions.settle_all(s, [done]))

    assert world.database.write(lambda s: claims.still_valid(s, [one])) == [False]
    world.database.write(lambda s: claims.give_back(s, made.id, "7:token"))
    assert state(world, made.id).state is SubmissionState.GRADED
