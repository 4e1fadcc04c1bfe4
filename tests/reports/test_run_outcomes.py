"""The outcomes of runs and the scores of one run, as documents, rows and tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.domain.baseline import Baseline
from app.domain.competition import parse_competition
from app.domain.feedback import Feedback
from app.reports.run_outcomes import OUTCOME, outcomes_report, trajectory_report
from app.services.results.inputs.attempts import EXCLUDED, OPEN
from app.services.results.run_outcomes import ResultStatus, RunOutcome
from app.services.results.trajectory import Step, Trajectory
from app.statistics.efficiency import Usage
from app.storage.database.records import RunRecord
from tests.reports.make import NOON
from tests.services.results.test_competition_results import BASELINE
from tests.services.submissions.test_run_events import TOML

RUN = RunOutcome(
    "bikes", 3, "run_1", ResultStatus.COUNTED, "", None, False, "graded", 0.25, 0.123456789, 4, 2,
    Baseline(score=0.5, source="a paper"), 0.1, False, 0.5, True, 0.75, True,
    Usage(seconds=60.0, cost_usd=2.5), "gold", True, 1, NOON,
)  # fmt: skip


def test_an_outcome_is_a_row_and_a_line() -> None:
    report = outcomes_report("first", 0.1, [RUN])

    (row,) = report.rows
    assert list(row) == ["experiment", *OUTCOME]
    known = {
        "experiment": "first", "competition": "bikes", "seed": 3, "run": "run_1",
        "standing": "counted", "sort": "graded", "score": 0.25, "medal": "gold",
        "above_median": True, "better": 1, "best_score": 0.123456789, "scores": 4,
        "uncounted_beside": 2, "baseline": 0.5, "threshold": 0.1, "improvement": 0.5,
        "success": True, "best_improvement": 0.75, "ever_success": True, "seconds": 60.0,
        "cost_usd": 2.5, "created_at": NOON,
    }  # fmt: skip
    assert {name: value for name, value in row.items() if value is not None} == known
    (table,) = report.page().tables
    assert table.rows == [["bikes", "3", "counted", "graded", "0.25", "gold", "0.123457", "0.5",
                           "True", "True", ""]]  # fmt: skip
    assert (report.document["experiment"], report.document["threshold"]) == ("first", 0.1)
    assert report.document["items"][0]["run"] == "run_1"
    assert list(outcomes_report("first", None, []).rows) == []


@pytest.mark.parametrize(
    ("changed", "success", "ever"),
    [
        ({"success": False, "ever": False}, False, False),
        ({"reason": OPEN}, None, True),  # the best of its scores so far stays
        ({"reason": EXCLUDED}, None, None),
        ({"baseline": None}, None, None),
    ],
)
def test_an_outcome_that_is_not_known_is_no_failure(
    changed: dict[str, Any], success: bool | None, ever: bool | None
) -> None:
    (row,) = outcomes_report("first", None, [replace(RUN, **changed)]).rows
    assert (row["success"], row["ever_success"]) == (success, ever)
    assert row["why"] == changed.get("reason")


STEP = Step("graded", "sub_1", None, None, 30.0, 0.25, 0.25, 0.5, True, True)
FOUND = Trajectory(
    run=RunRecord(
        id="run_1", experiment="first", version_id=1, competition="bikes", seed=3,
        feedback=Feedback.VALIDITY, created_at=NOON,
    ),
    competition=parse_competition("bikes", TOML + BASELINE),
    threshold=0.1, kind="graded", pending="", steps=(STEP,), final=STEP, best=STEP,
    first_success=STEP,
)  # fmt: skip


def test_a_trajectory_has_its_steps_and_what_follows_from_them() -> None:
    report = trajectory_report(FOUND)

    document = report.document
    names = ("run", "experiment", "competition", "seed", "higher_is_better", "threshold", "sort",
             "pending", "success", "ever_success")  # fmt: skip
    assert [document[name] for name in names] == [
        "run_1", "first", "bikes", 3, False, 0.1, "graded", None, True, True,
    ]  # fmt: skip
    assert FOUND.competition.baseline is not None
    assert document["baseline"] == FOUND.competition.baseline.score
    for name in ("final", "best", "first_success"):
        assert document[name]["submission"] == "sub_1"
    assert report.rows[0] == {"run": "run_1", **document["items"][0]}
    (table,) = report.page().tables
    assert table.rows == [["graded", "", "30", "0.25", "0.25", "0.5", "True", "True"]]


@pytest.mark.parametrize(
    ("changed", "success", "ever"),
    [
        ({"first_success": None, "final": replace(STEP, success=False)}, False, False),
        ({"first_success": None, "final": None}, False, False),
        ({"pending": OPEN, "final": None}, None, True),
        ({"competition": parse_competition("bikes", TOML)}, None, None),
    ],
)
def test_the_success_of_a_run_is_known_at_its_end(
    changed: dict[str, Any], success: bool | None, ever: bool | None
) -> None:
    document = trajectory_report(replace(FOUND, **changed)).document
    assert (document["success"], document["ever_success"]) == (success, ever)
    assert document["pending"] == changed.get("pending")
    assert (document["final"] is None) == (changed.get("final", STEP) is None)


def test_a_run_without_scores_has_a_document() -> None:
    found = replace(FOUND, steps=(), kind=None, final=None, best=None, first_success=None)
    report = trajectory_report(found)
    assert (report.document["best"], report.document["first_success"]) == (None, None)
    assert report.document["items"] == report.rows == []
