import pytest

from app.domain.feedback import Feedback
from app.domain.states import COUNTED, LARGEST_SEED, LEAST_SEED, SETTLED, SubmissionState


@pytest.mark.parametrize("state", SubmissionState)
def test_a_submission_is_settled_once_it_was_graded_rejected_or_failed(state):
    assert state.is_settled == (state.value in {"graded", "rejected", "failed"})


def test_seeds_fill_a_column_of_four_bytes():
    assert (LEAST_SEED, LARGEST_SEED) == (-2_147_483_648, 2_147_483_647)


def test_what_is_refused_or_failed_costs_no_quota():
    assert not COUNTED & {SubmissionState.REJECTED, SubmissionState.FAILED}


def test_what_may_yet_be_graded_counts_against_the_quota():
    assert {SubmissionState.QUEUED, SubmissionState.GRADING} < COUNTED
    assert SETTLED.intersection(COUNTED) == {SubmissionState.GRADED}


@pytest.mark.parametrize(
    ("policy", "state", "public_score", "everything"),
    [
        (Feedback.NONE, False, False, False),
        (Feedback.VALIDITY, True, False, False),
        (Feedback.PUBLIC, True, True, False),
        (Feedback.FULL, True, True, True),
    ],
)
def test_a_policy_shows_what_it_says_and_no_more(policy, state, public_score, everything):
    assert policy.shows_state is state
    assert policy.shows_public_score is public_score
    assert policy.shows_everything is everything
