"""The policy of a run decides which fields of a grade its key sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.competition import parse_competition
from app.domain.feedback import Feedback
from app.domain.states import SubmissionState
from app.services.runtime.catalogue import CatalogueEntry
from app.services.submissions.disclose import FAULT_PROBLEM, Disclosed, _visible
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import World, make_grade, make_submission

FLAGS = [{"code": "a_code", "note": ""}]
PRIVATE = ("score", "medal", "better", "equal", "worse", "teams", "percentile", "above_median")


def visible(
    world: World, policy: Feedback, state: SubmissionState = SubmissionState.GRADED
) -> Disclosed:
    submission = replace(make_submission(world.run), state=state)
    entry = CatalogueEntry(world.version, parse_competition("bikes", TOML), None, None)
    graded = state is SubmissionState.GRADED
    grade = make_grade(submission, score=0.25, public_score=0.5) if graded else None
    return _visible(policy, world.run, entry, entry, FLAGS, submission, grade, None)


def test_none_shows_that_the_file_arrived(world: World) -> None:
    shown = visible(world, Feedback.NONE)

    assert (shown.state, shown.settled_at, shown.problem) == ("received", None, None)
    assert (shown.warnings, shown.grade) == ([], None)


def test_validity_shows_the_state_and_no_number(world: World) -> None:
    shown = visible(world, Feedback.VALIDITY)

    assert (shown.state, shown.grade) == ("graded", None)


def test_public_shows_the_public_score_alone(world: World) -> None:
    grade = visible(world, Feedback.PUBLIC).grade

    assert grade is not None
    assert grade["public_score"] == 0.5
    assert [grade[name] for name in PRIVATE] == [None] * len(PRIVATE)
    assert (grade["improvement"], grade["success"]) == (None, None)


def test_full_shows_everything(world: World) -> None:
    grade = visible(world, Feedback.FULL).grade

    assert grade is not None
    assert (grade["score"], grade["public_score"], grade["flags"]) == (0.25, 0.5, FLAGS)


@pytest.mark.parametrize("policy", [Feedback.VALIDITY, Feedback.PUBLIC, Feedback.FULL])
def test_a_fault_is_shown_without_its_place(world: World, policy: Feedback) -> None:
    shown = visible(world, policy, SubmissionState.FAILED)

    assert (shown.state, shown.problem, shown.grade) == ("failed", FAULT_PROBLEM, None)
