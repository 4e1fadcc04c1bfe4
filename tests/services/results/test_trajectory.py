"""A run's scores in order, graded ones and those of a harness."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.states import ReportedScoreKind, RunState, SubmissionState
from app.errors import NotFound
from app.services.results.run_outcomes import outcomes_of
from app.services.results.trajectory import trajectory
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries import runs
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from tests.services.results.test_competition_results import BASELINE
from tests.services.submissions.conftest import TOML, readable_version
from tests.storage.make import (
    NOON,
    add_grade,
    add_run,
    add_submission,
    make_grade,
    make_submission,
)


@pytest.fixture
def run(context: Context) -> RunRecord:
    """A run at a competition whose lowest score is the best."""
    return add_run(context.database, readable_version(context, "bikes"), "first")


def grade(context: Context, run: RunRecord, *scores: float) -> list[str]:
    """Store graded submissions, a minute apart."""
    sent = []
    for minute, score in enumerate(scores, start=1):
        at = NOON + timedelta(minutes=minute)
        submission = make_submission(
            run,
            state=SubmissionState.GRADED,
            received_at=at,
            settled_at=at,
            run_seconds=60.0 * minute,
        )
        context.database.write(lambda session, one=submission: add_submission(session, one))
        row = make_grade(submission, score=score)
        context.database.write(lambda session, one=row: add_grade(session, one))
        sent.append(submission.id)
    return sent


def report(context: Context, run: RunRecord, score: float, **over: object) -> None:
    fields = {
        "run_id": run.id, "kind": ReportedScoreKind.REPORTED, "score": score, "step": None,
        "run_seconds": None, "final": False, "evidence": {}, "reported_by": None,
        "reported_at": NOON,
    }  # fmt: skip
    record = ReportedScoreRecord(**{**fields, **over})
    context.database.write(lambda session: reported_scores.add(session, record))


def test_the_best_score_so_far_and_the_final_one(context: Context, run: RunRecord) -> None:
    sent = grade(context, run, 3.0, 1.0, 2.0)

    found = trajectory(context, run.id, None)

    assert [one.submission for one in found.steps] == sent
    assert [one.best_so_far for one in found.steps] == [3.0, 1.0, 1.0]
    assert found.best is found.steps[1]
    assert found.final is found.steps[2]
    assert [one.run_seconds for one in found.steps] == [60.0, 120.0, 180.0]
    assert (found.threshold, found.first_success) == (None, None)


def test_reported_scores_are_a_curve_of_their_own_by_step(context: Context, run: RunRecord) -> None:
    grade(context, run, 3.0)
    report(context, run, 2.0, run_seconds=5.0)
    report(context, run, 1.0, step=2)
    report(context, run, 4.0, step=1)

    found = trajectory(context, run.id, None)

    assert [one.score for one in found.steps] == [3.0, 4.0, 1.0, 2.0]
    assert [one.best_so_far for one in found.steps] == [3.0, 4.0, 1.0, 1.0]
    assert found.best is found.final is found.steps[0]


def test_a_reported_final_score_decides_where_nothing_was_graded(
    context: Context, run: RunRecord
) -> None:
    report(context, run, 1.0, step=1)
    report(context, run, 2.0, step=2, final=True)

    found = trajectory(context, run.id, None)

    assert found.kind == "reported"
    assert (found.final, found.best) == (found.steps[1], found.steps[0])


def test_a_success_is_by_the_threshold_asked_for_or_by_the_baselines(context: Context) -> None:
    version = readable_version(context, "leaves", TOML + BASELINE)
    run = add_run(context.database, version, "first")
    grade(context, run, 3.0)

    declared, asked = (trajectory(context, run.id, threshold) for threshold in (None, 0.5))
    assert (declared.threshold, asked.threshold) == (0.1, 0.5)
    assert [one.steps[0].success for one in (declared, asked)] == [True, False]


def test_a_run_without_a_score_has_no_steps(context: Context, run: RunRecord) -> None:
    found = trajectory(context, run.id, None)

    assert (found.steps, found.best, found.final, found.first_success) == ((), None, None, None)


def test_a_run_that_does_not_exist_is_not_found(context: Context) -> None:
    with pytest.raises(NotFound):
        trajectory(context, "run_of_nobody", None)


def test_reported_scores_without_steps_go_by_their_time(context: Context, run: RunRecord) -> None:
    report(context, run, 3.0)
    report(context, run, 2.0, run_seconds=9.0)
    report(context, run, 1.0, run_seconds=5.0)

    assert [one.score for one in trajectory(context, run.id, None).steps] == [1.0, 2.0, 3.0]


def test_a_run_that_selected_a_rejected_file_keeps_its_best_score(
    context: Context, run: RunRecord
) -> None:
    grade(context, run, 1.0, 3.0)
    report(context, run, 0.5)
    rejected = make_submission(run, state=SubmissionState.REJECTED)
    context.database.write(lambda session: add_submission(session, rejected))
    chosen = {"state": RunState.CLOSED, "selected_id": rejected.id}
    context.database.write(lambda session: runs.update_run(session, run.id, **chosen))

    found, (outcome,) = trajectory(context, run.id, None), outcomes_of(context, "first", None)

    assert (found.kind, found.final) == (None, None)
    assert found.best is not None
    assert (found.best.sort, found.best.score) == ("graded", 1.0)
    assert (outcome.score, outcome.best_score) == (None, 1.0)
    assert (outcome.scores, outcome.other_scores) == (2, 1)
