from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.domain.states import SubmissionState
from app.storage.database.records import ClaimRecord, SettledRecord
from app.storage.queries import claims, direct_claims, submission_counts, submissions
from tests.storage.make import (
    NOON,
    add_grade,
    add_version,
    claim_built_in,
    make_grade,
    make_submission,
)
from tests.storage.statements import sent_statements


def settle(world, submission, state=SubmissionState.GRADED, **over):
    outcome = {"problem": None, "warnings": [], "settled_at": NOON, **over}
    record = SettledRecord(id=submission.id, state=state, **outcome)
    world.database.write(lambda s: submissions.settle_all(s, [record]))


def get(world, submission):
    with world.database.read() as session:
        return submissions.get_submission(session, submission.id)


def test_a_submission_comes_back_as_it_was_stored(world):
    made = world.submit(
        message="träined\t5 folds", bytes=2**33, run_seconds=1 / 3, idempotency_key="k",
        warnings=[{"code": "blank_lines", "message": "2"}],
    )  # fmt: skip

    assert get(world, made) == (made, None)


def test_an_unknown_submission_is_not_found(world):
    with world.database.read() as session:
        assert submissions.get_submission(session, "sub_none") is None


def test_a_submission_needs_its_run(world):
    with pytest.raises(IntegrityError):
        world.submit(run_id="run_none")


def test_a_submission_comes_with_the_grade_of_its_own_version(world):
    made = world.submit()
    newer = world.database.write(lambda s: add_version(s, "bikes", number=2))
    regrade = make_grade(made, version_id=newer.id, score=0.9)
    world.database.write(lambda s: add_grade(s, regrade))
    assert get(world, made) == (made, None)

    grade = world.database.write(lambda s: add_grade(s, make_grade(made)))

    assert get(world, made) == (made, grade)


def test_an_idempotency_key_is_the_runs_own(world):
    made = world.submit(idempotency_key="same")

    with world.database.read() as session:
        assert submissions.by_idempotency_key(session, world.run.id, "same") == made
        assert submissions.by_idempotency_key(session, world.run.id, "other") is None


def test_an_idempotency_key_is_used_once(world):
    world.submit(idempotency_key="same")

    with pytest.raises(IntegrityError):
        world.submit(idempotency_key="same")


def test_submissions_without_a_key_are_as_many_as_came(world):
    world.submit()
    world.submit()

    with world.database.read() as session:
        assert len(submissions.list_submissions(session, world.run.id, limit=9)) == 2


def test_a_runs_submissions_are_listed_oldest_first_with_their_grades(world):
    made = [world.submit() for _ in range(3)]
    grade = world.database.write(lambda s: add_grade(s, make_grade(made[1])))

    with world.database.read() as session:
        first = submissions.list_submissions(session, world.run.id, limit=2)
        rest = submissions.list_submissions(session, world.run.id, after=made[1].id, limit=2)

    assert first == [(made[0], None), (made[1], grade)]
    assert rest == [(made[2], None)]


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("score", ["score", "public_score"])
def test_graded_submissions_come_best_first_and_the_older_of_equal_ones(
    world, score, higher_is_better
):
    made = [world.submit() for _ in range(5)]
    for one, value in zip(made, (0.5, 0.9, 0.5, 0.1, None), strict=True):
        # the other kind of score, which is always there, must not decide
        fields = {"score": 0.3, "public_score": None} | {score: value}
        if fields["score"] is not None:
            world.database.write(lambda s, of=one, f=fields: add_grade(s, make_grade(of, **f)))

    with world.database.read() as session:
        found = submissions.best_first(
            session, world.run.id, score, higher_is_better=higher_is_better
        )
        places = [made.index(one) for one in found]

    assert places == ([1, 0, 2, 3] if higher_is_better else [3, 0, 2, 1])


@pytest.mark.parametrize(
    ("state", "expected"),
    [("queued", 1), ("grading", 1), ("graded", 1), ("rejected", 0), ("failed", 0)],
)
def test_what_is_graded_or_may_yet_be_counts(world, state, expected):
    world.submit(state=SubmissionState(state))

    with world.database.read() as session:
        assert submission_counts.count_counted(session, world.run.id) == expected


def test_submissions_up_to_one_are_counted_and_the_last_is_found(world):
    sent = [world.submit().id for _ in range(3)]

    with world.database.read() as session, sent_statements() as executed:
        found = [
            submissions.count_up_to(session, world.run.id, last)
            for last in ("", sent[0], sent[1] + "0", "sub_z")
        ]

    assert found == [(0, ""), (1, sent[0]), (2, sent[1]), (3, sent[2])]
    # With both in one query SQLite took three times as long for 100,000 submissions.
    assert executed[-1].count("FROM submission") == 2


def test_counting_can_begin_at_a_time(world):
    for hours in (3, 1, 2):
        world.submit(received_at=NOON + timedelta(hours=hours))
    since = NOON + timedelta(hours=1)

    with world.database.read() as session:
        assert submission_counts.count_counted(session, world.run.id, since) == 2
        assert submission_counts.count_counted(session, world.run.id) == 3
        latest = [
            submission_counts.counted_time(session, world.run.id, since, later=later)
            for later in (0, 1, 2)
        ]
    assert latest == [NOON + timedelta(hours=3), NOON + timedelta(hours=2), None]


def test_settling_writes_the_outcome(world):
    made = world.submit()

    settle(world, made, SubmissionState.REJECTED, problem={"status": 422})

    found, _ = get(world, made)
    assert found.state is SubmissionState.REJECTED
    assert (found.problem, found.settled_at) == ({"status": 422}, NOON)


def test_the_first_outcome_is_kept(world):
    made = world.submit()
    settle(world, made)

    settle(world, made, SubmissionState.FAILED, settled_at=NOON + timedelta(hours=1))

    assert get(world, made)[0].state is SubmissionState.GRADED


def test_only_an_outcome_settles(world):
    with pytest.raises(ValueError, match="queued"):
        settle(world, world.submit(), SubmissionState.QUEUED)


def test_settling_leaves_other_submissions_alone(world):
    made, other = world.submit(), world.submit()
    settle(world, made)

    assert get(world, other) == (other, None)


def test_the_time_of_the_oldest_queued_submission(world):
    world.submit(received_at=NOON + timedelta(hours=9))

    with world.database.read() as session:
        assert submission_counts.oldest_queued(session) == NOON

    world.database.write(lambda s: claim_built_in(s, "me", 9, NOON))
    with world.database.read() as session:
        assert submission_counts.oldest_queued(session) is None


def test_a_word_that_is_no_state_is_refused(world):
    odd = make_submission(world.run, state="lost")

    with pytest.raises(Exception, match="lost"):
        world.database.write(lambda s: submissions.add_submissions(s, [odd]))


def test_servers_that_grade_are_found_without_the_claims_of_a_queue(world):
    other = world.submit()
    world.database.write(lambda s: claim_built_in(s, "a-server", 1, NOON))  # the other run's
    claim = ClaimRecord(
        id=other.id, run_id=other.run_id, version_id=other.version_id, competition="bikes",
        sha256=other.sha256, attempts=1, claimed_by="7:token",
    )  # fmt: skip
    world.database.write(lambda s: claims.claim(s, [claim]))

    with world.database.read() as session:
        assert submissions.claimants(session) == ["a-server"]
    assert get(world, other)[0].state is SubmissionState.GRADING


def test_of_several_submissions_those_that_are_settled_or_queued_are_found(world):
    done, taken, waiting = (world.submit() for _ in range(3))
    world.database.write(lambda s: direct_claims.claim_named(s, "me", [taken.id], NOON))
    settle(world, done)
    ids = [done.id, taken.id, waiting.id]

    with world.database.read() as session:
        assert submissions.settled_among(session, ids) == [done.id]
        named = select(submissions.TABLE.c.id).where(submissions.TABLE.c.id.in_(ids))
        assert submissions.queued_among(session, named) == [waiting.id]
