"""The tables of what the choice of final submissions cost."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Padding
from app.reports.document.page import Marked
from app.reports.selection import selection_report
from app.services.results.choice.selection import ChoiceCost, ChoiceCosts
from app.services.results.inputs.scope import ResultFilter
from app.statistics.medals_over_time import Choice
from app.statistics.selection import Difference, Regret, ShakeUp, Share
from tests.reports.make import PLAIN

LOST = Regret(25.0, 50.0, 25.25, (1.0, 60.0), None, 1)
PLACES = Difference(70.0, 80.5, 10.5, None, (2.0, 30.0))
FOUND = ChoiceCosts(
    context=replace(PLAIN, filters=ResultFilter("tiny", Padding.FAIL)),
    convention="midrank",
    runs=3,
    with_choice=2,
    placed=1,
    unplaced=["owls", "yaks"],
    costs=[ChoiceCost(Choice.LAST, LOST, PLACES)],
    shake_up=ShakeUp(2, 1, 1, Share(25.0, (10.0, 40.0), None), Share(50.0, None, (1.0, 99.0))),
)
CANNOT = "not known"


def test_costs_and_the_shake_up_have_a_table_each() -> None:
    page = selection_report(FOUND).page()

    costs, shaken = page.tables
    where = "over 1 competition; places of submissions are not known at owls, yaks"
    assert costs.rows == [
        ["last", "any medal (%)", "25.00", "50.00", "25.25", "1.00 to 60.00", CANNOT],
        ["last", Marked("percentile", (where,)), "70.00", "80.50", "10.50", CANNOT,
         "2.00 to 30.00"],
    ]  # fmt: skip
    assert shaken.rows == [
        ["shake-up", "25.00", "10.00 to 40.00", CANNOT],
        ["the best by public score is the best", "50.00", CANNOT, "1.00 to 99.00"],
    ]
    assert page.notes[:2] == [
        "2 of 3 runs have two or more valid submissions; the others have no regret.",
        (
            "Shake-up: the mean change of rank from public to private score, as a share of a run's "
            "files; over 2 runs at 1 competition. Left out: 1 run with fewer than two public "
            "scores."
        ),
    ]


def test_what_is_not_known_is_said_and_what_is_missing_is_marked() -> None:
    asked = replace(FOUND.context, missing=(("bikes", 2, "no run"),))
    found = replace(FOUND, context=asked, with_choice=1, placed=0, shake_up=None,
                    costs=[ChoiceCost(Choice.LAST, LOST, None)])  # fmt: skip
    page = selection_report(found).page()

    ((_, _, chosen, *_),) = page.tables[0].rows
    notes = ("1 missing: such results count as failures (padding=fail)",)
    assert chosen == Marked("25.00", notes)
    assert page.notes[:3] == [
        "1 of 3 runs has two or more valid submissions; the others have no regret.",
        "Percentiles: only medal lines of the leaderboards are here.",
        "Shake-up: no run has two submissions with a public score.",
    ]
    known = replace(found, placed=2, unplaced=[], costs=[ChoiceCost(Choice.LAST, LOST, PLACES)])
    page = selection_report(known).page()
    assert page.tables[0].rows[1][1] == "percentile"
    assert page.notes[1].startswith("Shake-up")


def test_each_cost_and_share_is_a_row() -> None:
    report = selection_report(FOUND)

    names = ("statistic", "choice", "chosen", "oracle", "value", "runs95_high", "unplaced")
    assert [tuple(row[name] for name in names) for row in report.rows] == [
        ("medal_regret", "last", 25.0, 50.0, 25.25, 60.0, "owls,yaks"),
        ("percentile_regret", "last", 70.0, 80.5, 10.5, None, "owls,yaks"),
        ("shake_up", None, None, None, 25.0, 40.0, "owls,yaks"),
        ("best_kept", None, None, None, 50.0, None, "owls,yaks"),
    ]
    shared = ("experiment", "suite", "padding", "runs", "with_choice", "competitions95_low")
    assert [report.rows[1][name] for name in shared] == ["first", "tiny", "fail", 3, 2, 2.0]
    document = report.document
    assert document["placed_competitions"] == 1
    assert document["choices"][0]["medals"]["runs_that_lost_a_medal"] == 1
    assert document["shake_up"]["left_out"] == 1
    without = replace(FOUND, shake_up=None, costs=[ChoiceCost(Choice.LAST, LOST, None)])
    report = selection_report(without)
    assert (report.document["shake_up"], len(report.rows)) == (None, 1)
