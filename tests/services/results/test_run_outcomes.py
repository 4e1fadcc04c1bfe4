"""The final score of a run: graded before reported, and why there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Failure, ReportedScoreKind, RunState, SubmissionState
from app.errors import NotFound
from app.services.results.inputs.attempts import (
    EXCLUDED,
    ONLY_REPORTED,
    OPEN,
    ExperimentResults,
    add_run,
    attempt_of_run,
)
from app.services.results.run_outcomes import (
    ResultStatus,
    final_score,
    outcomes_of,
    starter_baselines,
)
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt
from app.storage.queries import runs
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.regrades.counted_runs import RunResult
from tests.services.results.make import add_imports, closed_run, import_medals
from tests.services.results.test_competition_results import BASELINE
from tests.services.submissions.conftest import TOML, readable_version
from tests.storage.make import NOON, add_submission, make_submission

GRADED = {
    "final": "sub_1", "final_state": SubmissionState.GRADED, "score": 0.5, "medal": "gold",
    "above_median": True, "sent": 1,
}  # fmt: skip


def run(**over: Any) -> RunResult:
    """A closed run without submissions."""
    fields: dict[str, Any] = {
        **dict.fromkeys(RunResult._fields), "experiment": "e", "competition": "c", "seed": 1,
        "run": "run_1", "state": RunState.CLOSED, "feedback": Feedback.FULL, "version_id": 1,
        "sent": 0, "waiting": 0, "failed": 0, "reported": 0, "imported": False,
        "created_at": NOON, "excluded": False,
    }  # fmt: skip
    return RunResult(**{**fields, **over})


def reported(*scores: float, final: bool = True) -> list[ReportedScoreRecord]:
    return [
        ReportedScoreRecord(
            run_id="run_1", kind=ReportedScoreKind.REPORTED, score=score, final=final,
            evidence={}, reported_at=NOON,
        )
        for score in scores
    ]  # fmt: skip


def test_a_graded_final_submission_is_the_attempt() -> None:
    attempt = attempt_of_run(run(**GRADED))

    assert isinstance(attempt, Attempt)
    assert (attempt.made, attempt.valid, attempt.above_median) == (True, True, True)
    assert attempt.medal is not None
    assert attempt.medal.value == "gold"


@pytest.mark.parametrize(
    ("over", "made"),
    [({}, False), ({"sent": 2, "failed": 0}, True)],
)
def test_a_closed_run_without_a_valid_file_is_an_attempt_that_failed(
    over: dict[str, Any], made: bool
) -> None:
    attempt = attempt_of_run(run(**over))

    assert isinstance(attempt, Attempt)
    assert (attempt.made, attempt.valid, attempt.medal) == (made, False, None)


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"state": RunState.OPEN}, OPEN),
        ({"state": RunState.OPEN, "sent": 3}, OPEN),
        ({"sent": 1, "waiting": 1}, "being graded"),
        ({"state": RunState.OPEN, "waiting": 1}, "being graded"),
        ({"final": "s", "final_state": SubmissionState.QUEUED, "sent": 1}, "being graded"),
        ({"final": "s", "final_state": SubmissionState.GRADING, "sent": 1}, "being graded"),
        ({"final": "s", "final_state": SubmissionState.FAILED, "sent": 1}, "grading failed"),
        ({"sent": 2, "failed": 1}, "grading failed"),
        ({"sent": 2, "failed": 1, "waiting": 1}, "grading failed"),
        ({"reported": 1}, ONLY_REPORTED),
        ({**GRADED, "excluded": True}, EXCLUDED),
    ],
)
def test_why_a_run_has_no_attempt(over: dict[str, Any], reason: str) -> None:
    assert attempt_of_run(run(**over)) == reason
    kind, score, why = final_score(run(**over), [])
    assert (kind, score) == (None, None)
    assert why == ("" if reason == ONLY_REPORTED else reason)


def test_runs_that_failed_are_counted_by_the_kind_of_failure() -> None:
    own = ExperimentResults()
    for failure in (None, *Failure, Failure.CRASH):
        add_run(own, run(failure=failure))

    assert own.failures == {**dict.fromkeys(set(Failure) - {Failure.NONE}, 1), Failure.CRASH: 2}


def test_an_open_run_with_a_graded_file_has_an_attempt() -> None:
    assert isinstance(attempt_of_run(run(**GRADED, state=RunState.OPEN)), Attempt)
    for over, is_open in (
        ({**GRADED, "state": RunState.OPEN}, True),
        (GRADED, False),
        ({"state": RunState.OPEN}, False),
        ({**GRADED, "state": RunState.OPEN, "excluded": True}, True),
    ):  # fmt: skip
        own = ExperimentResults()
        add_run(own, run(**over))
        assert own.open == ({("c", 1)} if is_open else set())
        is_graded, is_excluded = "final" in over, "excluded" in over
        assert own.graded_by == ({1} if is_graded and not is_excluded else set())
        assert own.excluded_by == ({1} if is_excluded else set())


def test_reported_scores_of_a_run_with_files_do_not_count_in_attempts() -> None:
    assert isinstance(attempt_of_run(run(sent=1, reported=3)), Attempt)


def test_a_graded_score_comes_before_a_reported_one() -> None:
    assert final_score(run(**GRADED, reported=1), reported(0.9)) == ("graded", 0.5, "")


def test_the_last_score_marked_final_is_the_reported_one() -> None:
    scores = [*reported(0.1, 0.2), *reported(0.9, final=False)]
    for state in RunState:  # a harness may report before it closes the run
        found = final_score(run(reported=3, state=state), scores)
        assert found == (ReportedScoreKind.REPORTED.value, 0.2, "")
    assert final_score(run(reported=1), reported(0.9, final=False)) == (None, None, "")


def test_nothing_is_reported_for_a_run_whose_file_is_being_graded() -> None:
    waiting = run(sent=1, waiting=1, reported=1)

    assert final_score(waiting, reported(0.9)) == (None, None, "being graded")
    assert final_score(run(excluded=True, reported=1), reported(0.9)) == (None, None, EXCLUDED)


def test_the_score_of_an_imported_result_that_is_not_valid_is_none(context: Context) -> None:
    import_medals(context, "e", {"bikes": ["gold"]})
    add_imports(context, "e", {"bikes": {1: None}}, valid=False)

    valid, invalid = outcomes_of(context, "e", None)

    assert (valid.kind, valid.score, valid.best_score, valid.scores) == ("imported", 0.5, 0.5, 1)
    assert (invalid.kind, invalid.score, invalid.best_score, invalid.scores) == (
        None,
        None,
        None,
        0,
    )


def test_an_open_run_is_said_to_be_open(context: Context) -> None:
    bikes = readable_version(context, "bikes")
    closed_run(context, bikes, 1, {"score": 0.5})
    closed_run(context, bikes, 2, {"score": 0.5}, state=RunState.OPEN, closed_at=None)

    assert [one.is_open for one in outcomes_of(context, "first", None)] == [False, True]


def test_outcomes_are_by_competition_and_seed_whatever_they_were_made_of(context: Context) -> None:
    compared = readable_version(context, "leaves", TOML + BASELINE)
    closed_run(context, compared, 2, {"score": 2.0})
    closed_run(context, compared, 0, {"score": 2.0}, failure=Failure.OUT_OF_MEMORY)
    closed_run(context, readable_version(context, "bikes"), 1, {"score": 2.0})
    add_imports(context, "first", {"leaves": {1: None}, "bikes": {0: None}})

    found = outcomes_of(context, "first", None)
    counted, without = ResultStatus.COUNTED, ResultStatus.NO_BASELINE
    assert [(one.competition, one.seed, one.kind, one.status) for one in found] == [
        ("bikes", 0, "imported", without), ("bikes", 1, "graded", without),
        ("leaves", 0, "graded", ResultStatus.LOST), ("leaves", 1, "imported", counted),
        ("leaves", 2, "graded", counted),
    ]  # fmt: skip
    with pytest.raises(NotFound):
        outcomes_of(context, "frist", None)


def test_the_best_score_of_a_run_is_compared_beside_its_final_one(context: Context) -> None:
    compared = readable_version(context, "leaves", TOML + BASELINE)
    closed_run(context, compared, 1, {"score": 1.0}, {"score": 5.0})

    (one,) = outcomes_of(context, "first", None)
    assert (one.score, one.improvement, one.success) == (5.0, -0.25, False)
    assert (one.best_score, one.best_improvement, one.ever) == (1.0, 0.75, True)
    assert one.scores == 2


def test_scores_of_files_do_not_count_beside_a_reported_one(context: Context) -> None:
    record, _ = closed_run(context, readable_version(context, "bikes"), 1, {"score": 0.5})
    (one,) = outcomes_of(context, "first", None)
    assert (one.kind, one.score, one.best_score, one.scores) == ("graded", 0.5, 0.5, 1)
    bad = make_submission(record, state=SubmissionState.REJECTED, settled_at=NOON)
    context.database.write(lambda session: add_submission(session, bad))
    context.database.write(lambda session: runs.update_run(session, record.id, selected_id=bad.id))

    (one,) = outcomes_of(context, "first", None)
    assert (one.kind, one.score, one.best_score, one.scores, one.other_scores) == (
        None, None, 0.5, 1, 0,
    )  # fmt: skip
    own = replace(reported(9.0)[0], run_id=record.id)
    context.database.write(lambda session: reported_scores.add(session, own))
    (one,) = outcomes_of(context, "first", None)
    assert (one.kind, one.score, one.best_score, one.scores, one.other_scores) == (
        "reported", 9.0, 9.0, 1, 1,
    )  # fmt: skip


@pytest.mark.parametrize("more", ["", BASELINE], ids=["none", "a baseline"])
def test_a_baseline_of_starter_code_is_the_mean_of_what_counts(context: Context, more: str) -> None:
    bikes = readable_version(context, "bikes", TOML + more)
    for seed, score in enumerate((1.7e308, 1.5e308)):
        closed_run(context, bikes, seed, {"score": score})
    closed_run(context, bikes, 2)  # without a score
    closed_run(context, bikes, 3, {"score": 1.0}, failure=Failure.OUT_OF_MEMORY)

    (baseline,) = starter_baselines(context, "first").values()
    assert baseline.score == pytest.approx(1.6e308)
    assert baseline.source == "mean of 2 runs of the experiment first"
    (first, *_) = outcomes_of(context, "first", None, {"bikes": baseline})
    assert first.status is ResultStatus.COUNTED
