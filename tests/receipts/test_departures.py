"""Each way in which an experiment leaves its signed plan has a code, and nothing else has one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.receipts.departures import FrozenPlan, RunMade, departures

FROZEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAN = FrozenPlan(
    suite="main", competitions=("bikes", "leaves"), seeds=(0,), policy="public",
    selection="selected", padding="fail", limits={"hours": 24.0}, agent="an-agent",
    model="a-model", resources=None,
)  # fmt: skip
BIKES = RunMade(
    "run_1", "bikes", 0, "public", {"hours": 24.0}, is_selected=True, is_graded=True,
    is_archived=False, created_at=FROZEN,
)  # fmt: skip
LEAVES = replace(BIKES, id="run_2", competition="leaves")


def codes(run: RunMade = BIKES, plan: FrozenPlan = PLAN, **over) -> list[str]:
    given = {"frozen_at": FROZEN, "present": PLAN, "imported": 0, "archived": (), **over}
    return [one["code"] for one in departures(plan, [run, LEAVES], **given)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"policy": "full"}, ["policy"]),
        ({"limits": {}}, ["limits"]),
        ({"policy": "full", "limits": {}, "is_imported": True}, []),  # of these nothing is known
        ({"competition": "birds"}, ["competition", "missing_run"]),
        ({"seed": 1}, ["seed", "missing_run"]),
        ({"is_selected": False}, ["selection"]),
        ({"is_graded": False}, []),  # a selected file is final, valid or not
        ({"is_selected": False, "is_graded": False}, []),  # no file is final
        ({"is_archived": True}, ["archived"]),
        ({"is_excluded": True}, ["excluded"]),
        ({"created_at": FROZEN - timedelta(microseconds=1)}, ["early_run"]),
    ],
)
def test_a_run_that_was_not_made_as_planned(change: dict, expected: list[str]) -> None:
    assert codes(replace(BIKES, **change)) == expected


def test_a_selected_file_is_a_departure_where_the_last_valid_one_was_to_be_final() -> None:
    plan = replace(PLAN, selection="last_valid")

    assert codes(plan=plan, present=plan) == ["selection", "selection"]
    invalid = replace(BIKES, is_graded=False)
    assert codes(invalid, plan=plan, present=plan) == ["selection", "selection"]


@pytest.mark.parametrize(
    ("is_selected", "text"),
    [
        (True, "its final submission was selected; planned: last_valid"),
        (False, "its final submission is the last valid one; planned: selected"),
    ],
)
def test_the_choice_of_a_final_submission_is_told_as_it_was(is_selected: bool, text: str) -> None:
    plan = replace(PLAN, selection="last_valid" if is_selected else "selected", seeds=(0,))
    run = replace(BIKES, is_selected=is_selected)
    found = departures(
        replace(plan, competitions=("bikes",)), [run], frozen_at=FROZEN, present=plan, imported=0,
        archived=(),
    )  # fmt: skip
    assert f"bikes, seed 0 (run_1): {text}" in [one["text"] for one in found]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"agent": "another"}, ["agent_amended"]),
        ({"model": "another"}, ["model_amended"]),
        ({"resources": {"gpus": 8.0}}, ["resources_amended"]),
        ({"competitions": ("leaves", "bikes")}, []),  # a suite has no order
        ({"competitions": ("bikes",)}, ["suite_changed"]),
        ({"competitions": ("bikes", "leaves", "birds")}, ["suite_changed"]),
        ({"padding": "skip"}, ["padding"]),
    ],
)
def test_what_was_changed_after_the_freeze(change: dict, expected: list[str]) -> None:
    assert codes(present=replace(PLAN, **change)) == expected


def test_a_plan_without_a_suite_has_no_suite_that_could_change() -> None:
    plan = replace(PLAN, suite=None)

    assert codes(plan=plan, present=replace(plan, competitions=())) == []


def test_archived_competitions_and_imported_results_are_told() -> None:
    assert codes(archived={"leaves", "bikes"}, imported=2) == [
        "archived_competition", "archived_competition", "imported",
    ]  # fmt: skip
    (one,) = departures(
        PLAN, [BIKES, LEAVES], frozen_at=FROZEN, present=PLAN, imported=1, archived=()
    )
    assert one["text"] == "1 result was imported"
