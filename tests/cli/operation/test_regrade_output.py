"""What `podium regrade` prints of a long difference."""

from __future__ import annotations

from typing import Any

import pytest

from app.cli.operation.regrade_output import print_difference, print_verification
from app.domain.states import SubmissionState

NUMBERS = {"score": 0.5, "better": 1, "medal": None}
CHANGE = {
    "submission": "sub_1", "experiment": "first", "seed": 0, "before": NUMBERS, "after": NUMBERS,
    "state_before": SubmissionState.GRADED, "state_after": SubmissionState.GRADED,
}  # fmt: skip
FINAL = {"run": "run_1", "experiment": "first", "seed": 0, "before": None, "after": None}


def difference(differ: int, finals: int) -> dict[str, Any]:
    names = ("scores", "places", "medals", "medals_won", "medals_lost", "newly_graded",
             "newly_rejected", "newly_failed")  # fmt: skip
    counts = {"submissions": differ + 7, "equal": 7, **dict.fromkeys(names, 0)}
    return {
        "id": "rgr_1", "competition": "bikes", "version": 2,
        "difference": {
            "submissions": counts, "experiments": [], "finals_changed": finals,
            "finals": [FINAL] * min(finals, 1000),
        },
        "changes": [CHANGE] * min(differ, 1000),
    }  # fmt: skip


def test_what_json_lists_is_not_more_than_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    print_difference(difference(1200, 1100))
    printed = capsys.readouterr().out
    assert "and 1050 more runs; --json lists the first 1,000" in printed
    assert "and 1150 more submissions; --json lists the first 1,000" in printed


def test_what_json_has_is_said_to_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    print_difference(difference(51, 60))
    printed = capsys.readouterr().out
    assert "and 10 more runs; --json lists them" in printed
    assert "and 1 more submission; --json lists them" in printed
    print_difference(difference(50, 0))
    assert "more" not in capsys.readouterr().out


def test_a_verification_counts_all_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"compared": 2000, "equal": 500, "different": 1500, "other_environment": 0,
             "submissions": [CHANGE] * 1000}  # fmt: skip
    print_verification({"competition": "bikes", "verification": found})
    assert "and 1450 more submissions; --json lists the first 1,000" in capsys.readouterr().out
