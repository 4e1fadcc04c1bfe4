"""The table of a plan."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Padding
from app.reports.document.page import Marked
from app.reports.planning import plan_report
from app.services.results.inputs.scope import ResultFilter
from app.services.results.planning import SeedPlan
from app.statistics.planning import PlannedSize, Spread
from tests.reports.make import PLAIN

SIZES = [
    PlannedSize(10, 1, None, 45.678, 12.5),
    PlannedSize(2, 3, None, 88.0, None, these_too_few=True),
    PlannedSize(2, 4, 90.0, None, None, like_these_too_few=True),
]


def test_what_cannot_be_detected_and_what_is_not_known_differ() -> None:
    page = plan_report(SeedPlan(Spread(0.3, 0.456), [], 0.8, "any_medal", SIZES)).page()

    assert page.tables[0].header == [
        "competitions", "seeds", "detectable: these competitions, run again",
        "detectable: competitions like these", "share of runs in the error (%)",
    ]  # fmt: skip
    assert page.tables[0].rows == [
        [10, 1, "not known", "45.68", "12.50"],
        [2, 3, "more than 100", "88.00", "not known"],
        [2, 4, "90.00", "more than 100", "not known"],
    ]
    assert page.notes == [
        "Differences in points, found by a t test at 5 % with a chance of 80 %.",
        "Spread over competitions 0.30, of an attempt 0.46.",
        "Where the share of runs is large, more seeds help; otherwise only competitions do.",
        "More than 100: no difference of two rates is so large, so such a size finds none.",
    ]


def test_a_plan_rests_on_the_missing_results_of_its_experiments() -> None:
    gap = replace(
        PLAIN, filters=ResultFilter(padding=Padding.FAIL), missing=(("bikes", 1, "no run"),)
    )
    found = SeedPlan(Spread(0.3, 0.4), [PLAIN, gap], 0.8, "any_medal", SIZES[:1])

    page = plan_report(found).page()

    note = "1 missing: such results count as failures (padding=fail)"
    assert page.tables[0].rows[0][3] == Marked("45.68", (note,))
    assert not [each for each in page.notes if "More than 100" in each]
    assert page.notes[-1].endswith(f"2 seeds. {note}.")


def test_each_size_is_a_row_with_what_it_rests_on() -> None:
    second = replace(PLAIN, experiment=replace(PLAIN.experiment, name="second"))
    found = SeedPlan(Spread(0.3, 0.456), [PLAIN, second], 0.8, "any_medal", SIZES)
    report = plan_report(found)

    names = ("competitions", "seeds", "these_competitions", "competitions_like_these",
             "these_too_few", "like_these_too_few", "between", "a", "b")  # fmt: skip
    shared = (0.3, "first", "second")
    assert [tuple(row[name] for name in names) for row in report.rows] == [
        (10, 1, None, 45.678, False, False, *shared),
        (2, 3, None, 88.0, True, False, *shared), (2, 4, 90.0, None, False, True, *shared),
    ]  # fmt: skip
    row = report.rows[0]
    assert (row["rate"], row["power"], row["padding"]) == ("any_medal", 0.8, "none")
    assert (row["a_missing"], row["b_missing"]) == (0, 0)
    assert "a" not in plan_report(replace(found, basis=[])).rows[0]
    for size, is_said in zip(SIZES, (False, True, True), strict=True):
        notes = plan_report(replace(found, sizes=[size])).page().notes
        assert any(note.startswith("More than 100") for note in notes) == is_said
