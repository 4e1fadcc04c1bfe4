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
