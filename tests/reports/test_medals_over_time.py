"""The table of medals over time, and the lines below it."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Axis, Padding
from app.reports.document.page import Marked
from app.reports.medals_over_time import curves_report
from app.services.results.choice.histories import MissingResult
from app.services.results.inputs.scope import ResultFilter
from app.services.results.medals_over_time import Curves
from app.statistics.medals_over_time import Choice, Point
from app.statistics.selection import Regret
from tests.reports.make import PLAIN

LAST = [Point(0.5, 0.0, 0.0, None, None, None, None),
        Point(12.0, 50.0, 25.0, (10.0, 90.0), (5.0, 95.0), (1.0, 80.0), None)]  # fmt: skip
BEST = [Point(0.5, 25.0, 0.0, None, (5.0, 60.0), None, None),
        Point(12.0, 75.0, 25.0, None, None, None, None)]  # fmt: skip
FOUND = Curves(
    axis=Axis.HOURS,
    padding=Padding.FAIL,
    runs=3,
    seeds=1,  # of the runs that are shown
    left_out=0,
    missing=[],
    points={Choice.LAST: LAST, Choice.ORACLE: BEST},
    regret={Choice.LAST: Regret(50.0, 75.0, 25.0, (1.0, 40.0), None, 1)},
    context=replace(PLAIN, filters=ResultFilter("tiny", Padding.FAIL)),
)


def test_each_moment_is_a_line_with_the_band_that_is_known() -> None:
    page = curves_report("first", FOUND).page()

    (table,) = page.tables
    assert table.header == ["hours", "last", "oracle"]
    assert table.rows == [
        ["0.5", "0.00", "25.00 (5.00 to 60.00)"],
        ["12", "50.00 (10.00 to 90.00)", "75.00"],
    ]
    assert page.notes[1:3] == [
        (
            "last: 25.00 points below the oracle at the end; 95 %, these competitions, run again: "
            "1.00 to 40.00; competitions like these: not known."
        ),
        "first: suite tiny, 1 competition, 2 seeds.",
    ]


def test_what_is_missing_is_marked_and_its_reasons_are_counted() -> None:
    missing = tuple(("bikes", seed, why) for seed, why in enumerate(["open", "no run", "no run"]))
    context = replace(FOUND.context, missing=missing)
    found = replace(FOUND, left_out=1, context=context, missing=[MissingResult(*missing[0])])
    page = curves_report("first", found).page()

    notes = ("1 missing: such results count as failures (padding=fail)",)
    assert page.tables[0].rows[0][1] == Marked("0.00", notes)
    assert page.notes[2:4] == [
        "1 run is left out, with no hours reported.",
        "Why results are missing: 2 × no run; 1 × open.",
    ]
    all_missing = "Every result is missing, so nothing here is measured."
    assert all_missing not in page.notes
    nothing = replace(found, context=replace(context, missing=missing[:2]))
    assert curves_report("first", nothing).page().notes[4] == all_missing


def test_each_moment_of_each_choice_is_a_row() -> None:
    report = curves_report("first", FOUND)

    rows = report.rows
    names = ("choice", "at", "any_medal", "gold", "any_medal_runs95_high", "gold_runs95_low")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("last", 0.5, 0.0, 0.0, None, None), ("last", 12.0, 50.0, 25.0, 90.0, 1.0),
        ("oracle", 0.5, 25.0, 0.0, None, None), ("oracle", 12.0, 75.0, 25.0, None, None),
    ]  # fmt: skip
    shared = ("experiment", "axis", "suite", "padding", "runs", "left_out", "missing")
    assert [rows[0][name] for name in shared] == ["first", "hours", "tiny", "fail", 3, 0, 0]
    document = report.document
    assert (document["axis"], document["seeds"], document["missing"]) == ("hours", 1, [])
    assert document["points"]["oracle"][1]["any_medal"] == 75.0
    assert document["regret"]["last"]["runs_that_lost_a_medal"] == 1
    assert document["suite"] == "tiny"
