"""Exactly one outcome is written for each claim, and what of it counts as an attempt."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.states import SubmissionState
from app.domain.verdict import Verdict, Violation, ViolationCode
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.grading.graded import Graded
from app.services.grading.write_outcomes import FinishedGrading, grade_record, write_outcomes
from app.storage.database.records import ClaimRecord, GradeRecord, SubmissionRecord
from app.storage.queries import submissions
from app.storage.queries.operation import faults
from tests.storage.make import NOON, World, claim_built_in

LATER = NOON + timedelta(minutes=1)


def graded(score: float) -> Graded:
    return Graded(score=score, public_score=None, standing=None, warnings=())


def claim(world: World, claimant: str = "server") -> ClaimRecord:
    (claimed,) = world.database.write(lambda session: claim_built_in(session, claimant, 1, NOON))
    return claimed


def write(
    world: World, *outcomes: tuple[ClaimRecord, GradingResult], attempts: int = 3
) -> list[SubmissionState | None]:
    finished = [FinishedGrading(claimed, one, "m", LATER) for claimed, one in outcomes]
    return world.database.write(lambda s: write_outcomes(s, finished, max_attempts=attempts))


def row(world: World, claimed: ClaimRecord) -> tuple[SubmissionRecord, GradeRecord | None]:
    with world.database.read() as session:
        found = submissions.get_submission(session, claimed.id)
    assert found is not None
    return found


@pytest.fixture
def claimed(world: World) -> ClaimRecord:
    """The claim on the only submission that waits."""
    claim(world)  # that of the other run, which came first
    world.submit()
    return claim(world)


def test_a_grade_settles_the_submission(world: World, claimed: ClaimRecord) -> None:
    assert write(world, (claimed, graded(0.5))) == [SubmissionState.GRADED]

    submission, grade = row(world, claimed)
    assert (submission.state, submission.settled_at) == (SubmissionState.GRADED, LATER)
    assert grade is not None
    assert (grade.score, grade.medal, grade.grader["metric"]) == (0.5, None, "m")


def test_a_rejection_keeps_every_violation(world: World, claimed: ClaimRecord) -> None:
    verdict = Verdict(violations=(Violation(ViolationCode.MISSING_ID, "2 ids are missing"),))

    assert write(world, (claimed, Rejected(verdict))) == [SubmissionState.REJECTED]

    submission, grade = row(world, claimed)
    assert grade is None
    assert submission.problem is not None
    assert "missing_id" in str(submission.problem)


def test_a_fault_is_tried_again_until_the_attempts_are_used_up(
    world: World, claimed: ClaimRecord
) -> None:
    fault = GraderFault("crashed", "metric")
    assert write(world, (claimed, fault), attempts=2) == [SubmissionState.QUEUED]
    assert row(world, claimed)[0].attempts == 1
    second = claim(world)
    assert (second.id, second.attempts) == (claimed.id, 2)

    assert write(world, (second, fault), attempts=2) == [SubmissionState.FAILED]
    with world.database.read() as session:
        kept = faults.list_faults(session, submission_id=claimed.id, limit=9)
    assert [(one.attempt, one.kind, one.place) for one in kept] == [
        (2, "crashed", "metric"),
        (1, "crashed", "metric"),
    ]
    assert row(world, claimed)[0].problem is None  # a fault is not the file's mistake


def test_an_outcome_of_a_lost_claim_is_dropped(world: World, claimed: ClaimRecord) -> None:
    stale = replace(claimed, attempts=claimed.attempts - 1)
    stranger = replace(claimed, claimed_by="another")

    assert write(world, (stale, graded(0.1)), (stranger, GraderFault("crashed"))) == [None, None]
    assert row(world, claimed)[0].state is SubmissionState.GRADING
    assert write(world, (claimed, graded(0.5))) == [SubmissionState.GRADED]
    assert write(world, (claimed, graded(0.9))) == [None]  # settled
    submission, grade = row(world, claimed)
    assert grade is not None
    assert grade.score == 0.5
    assert submission.settled_at == LATER


def test_one_transaction_writes_outcomes_of_all_kinds(world: World, claimed: ClaimRecord) -> None:
    claims = [claimed]
    for _ in range(2):
        world.submit()
        claims.append(claim(world))
    given = [graded(0.5), GraderFault("crashed"), Rejected(Verdict())]

    states = write(world, *zip(claims, given, strict=True))

    assert states == [SubmissionState.GRADED, SubmissionState.QUEUED, SubmissionState.REJECTED]
    assert [row(world, one)[0].state for one in claims] == states


def test_a_grade_without_a_board_has_no_place() -> None:
    record = grade_record("sub_1", 7, graded(0.25), "accuracy_score", NOON)

    assert (record.better, record.teams, record.medal, record.above_median) == (None,) * 4
    assert (record.version_id, record.graded_at) == (7, NOON)
    assert (record.grader["decimals"], record.grader["borderline"]) == (None, False)
