"""Which results are missing from rates, and how the errors list them."""

from __future__ import annotations

from app.services.results.missing_results import (
    ALL_LOST,
    NO_RUN,
    Missing,
    find_missing,
    incomplete,
    no_baseline,
)
from app.services.results.run_outcomes import ResultStatus, RunOutcome
from app.statistics.efficiency import Usage


def outcome(slug: str, seed: int, status: ResultStatus, reason: str = "") -> RunOutcome:
    return RunOutcome(
        competition=slug, seed=seed, run=f"run_{seed}", status=status, reason=reason, failure=None,
        is_open=False, kind=None, score=None, best_score=None, scores=0, other_scores=0,
        baseline=None, threshold=None, higher_is_better=None, improvement=None, success=False,
        best_improvement=None, ever=False, usage=Usage(),
    )  # fmt: skip


def test_counted_results_are_not_missing() -> None:
    runs = [outcome("a", 1, ResultStatus.COUNTED), outcome("a", 2, ResultStatus.NO_BASELINE)]

    assert find_missing(runs, ["a"]) == ()


def test_pending_runs_and_competitions_without_a_run_are_listed_in_order() -> None:
    runs = [
        outcome("b", 2, ResultStatus.PENDING, "being graded"),
        outcome("b", 1, ResultStatus.PENDING, "the run is open"),
        outcome("c", 1, ResultStatus.LOST),
        outcome("c", 2, ResultStatus.LOST),
        outcome("d", 1, ResultStatus.LOST),
        outcome("d", 2, ResultStatus.COUNTED),
    ]

    assert find_missing(runs, ["d", "c", "b", "a"]) == (
        Missing("a", None, NO_RUN),
        Missing("b", 1, "the run is open"),
        Missing("b", 2, "being graded"),
        Missing("c", None, ALL_LOST),
    )


def test_the_error_names_the_first_three_and_lists_all() -> None:
    missing = [Missing(f"c{n}", None if n == 0 else n, "why") for n in range(5)]

    error = incomplete(missing)

    assert "c0: why; c1 seed 1: why; c2 seed 2: why" in error.detail
    assert "c3" not in error.detail
    assert [one["seed"] for one in error.extensions["missing"]] == [None, 1, 2, 3, 4]
    baseline = no_baseline({"b": 2, "a": 1})
    assert "No baseline is known for a" in baseline.detail
    assert baseline.extensions["missing_baseline"] == [
        {"competition": "a", "runs": 1},
        {"competition": "b", "runs": 2},
    ]


def test_the_error_says_which_of_them_padding_does_not_count() -> None:
    lost, other = Missing("a", None, ALL_LOST), Missing("b", 1, "being graded")
    spared = "but not those of competitions whose runs were all lost"

    assert spared in incomplete([lost, other]).detail
    assert spared not in incomplete([other]).detail
