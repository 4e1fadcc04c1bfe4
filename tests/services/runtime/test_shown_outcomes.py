"""When a run's key may see an outcome: at set moments, so that times tell no scores."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.feedback import Feedback
from app.domain.states import SubmissionState
from app.services.runtime.shown_outcomes import received_without_outcome, shown_outcome
from app.storage.database.records import RunRecord, SubmissionRecord
from tests.storage.make import NOON, World, make_grade, make_submission

SECOND = timedelta(seconds=1)
HIDING = [Feedback.VALIDITY, Feedback.PUBLIC]


def graded(run: RunRecord, seconds: float = 2.5) -> SubmissionRecord:
    return make_submission(
        run,
        state=SubmissionState.GRADED,
        received_at=NOON,
        settled_at=NOON + seconds * SECOND,
        warnings=[{"code": "x"}],
    )


@pytest.fixture
def run() -> RunRecord:
    return RunRecord(
        id="run_1", experiment="e", version_id=1, competition="c", seed=0,
        feedback=Feedback.PUBLIC, created_at=NOON,
    )  # fmt: skip


@pytest.mark.parametrize("policy", HIDING)
def test_an_outcome_is_hidden_until_its_moment(run: RunRecord, policy: Feedback) -> None:
    sent = graded(run)
    grade = make_grade(sent)

    before = shown_outcome(policy, sent, grade, now=NOON + 3.99 * SECOND, step=1.0)
    at = shown_outcome(policy, sent, grade, now=NOON + 4 * SECOND, step=1.0)

    hidden = replace(sent, state=SubmissionState.QUEUED, settled_at=None, warnings=[])
    assert before == (hidden, None)
    assert at == (
        replace(sent, settled_at=NOON + 4 * SECOND),
        replace(grade, graded_at=NOON + 4 * SECOND),
    )


def test_two_gradings_of_different_length_look_alike(run: RunRecord) -> None:
    fast, slow = graded(run, 2.1), graded(run, 3.9)
    for seconds in (2.2, 3.95, 4.0, 10.0):
        now = NOON + seconds * SECOND
        shown = [
            shown_outcome(Feedback.PUBLIC, one, None, now=now, step=1.0)[0] for one in (fast, slow)
        ]
        assert replace(shown[0], id="") == replace(shown[1], id="")


def test_other_policies_and_no_step_hide_nothing(run: RunRecord) -> None:
    sent = graded(run)
    for policy, step in ((Feedback.FULL, 1.0), (Feedback.VALIDITY, 0.0)):
        assert shown_outcome(policy, sent, None, now=NOON, step=step) == (sent, None)


def test_a_file_that_is_being_graded_is_shown_as_queued(run: RunRecord) -> None:
    sent = make_submission(run, state=SubmissionState.GRADING)

    shown, _ = shown_outcome(Feedback.VALIDITY, sent, None, now=NOON + 100 * SECOND, step=1.0)

    assert shown.state is SubmissionState.QUEUED


def test_rejected_files_count_until_they_may_be_known(world: World) -> None:
    for seconds, state in (
        (10, SubmissionState.REJECTED),
        (3, SubmissionState.FAILED),
        (3, SubmissionState.GRADED),
    ):
        world.submit(
            state=state,
            received_at=NOON - seconds * SECOND,
            settled_at=NOON - (seconds - 2.5) * SECOND,
        )

    def received(policy: Feedback, step: float) -> list[float]:
        run = replace(world.run, feedback=policy)
        with world.database.read() as session:
            found = received_without_outcome(session, run, NOON, step)
        return [(NOON - one).total_seconds() for one in found]

    assert received(Feedback.VALIDITY, 1.0) == [3.0]  # shown at second 4
    assert sorted(received(Feedback.VALIDITY, 8.0)) == [3.0]  # the other one was shown at 8
    assert sorted(received(Feedback.VALIDITY, 16.0)) == [3.0, 10.0]
    assert received(Feedback.VALIDITY, 0.0) == received(Feedback.FULL, 16.0) == []
