"""A success rate as text."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Padding
from app.reports.document.page import Marked
from app.reports.document.tables import interval_cell
from app.reports.success_rates import rate_cell, success_report
from app.services.results.inputs.scope import ResultFilter
from app.services.results.missing_results import ALL_LOST, NO_RUN, Missing
from app.services.results.success_rates import SuccessResults, SuccessScope, UsedBaseline
from app.statistics.efficiency import Usage
from app.statistics.success import Rate, SuccessOutcome, success_rates
from tests.reports.make import PLAIN

OUTCOMES = [
    SuccessOutcome("bikes", "graded", 0.5, True, True, Usage(seconds=7200.0, cost_usd=2.0)),
    SuccessOutcome("bikes", "reported", 0.0, False, True, Usage(seconds=3600.0, cost_usd=2.0)),
    SuccessOutcome("owls", None, None, False, False),
]
FOUND = SuccessResults(
    experiment=PLAIN.experiment,
    scope=SuccessScope(ResultFilter(padding=Padding.FAIL)),
    competitions=("bikes", "owls", "yaks"),
    groups=success_rates(OUTCOMES, {"bikes": ("bikes",)}),
    members={"bikes": ("bikes",), "all": ("bikes", "owls", "yaks")},
    lost={"bikes": {"connection": 1}, "all": {"connection": 2, "out_of_memory": 1}},
    missing=(Missing("owls", 3, "the run is open"), Missing("yaks", None, ALL_LOST)),
    missing_baseline={"cats": 1, "dogs": 2},
    baselines=(
        UsedBaseline("bikes", 0.7, "a paper", 0.1, True),
        UsedBaseline("owls", 12.5, "ten runs", 0.25, False),
    ),
    excluded=(),
    open=1,
    other_scores=1,
    failures={},
    flags=(("bikes", "easy", ""),),
)


def test_a_rate_has_its_standard_error_where_it_is_known() -> None:
    assert rate_cell(Rate(50.0, 12.34, None, None)) == "50.0 ± 12.3"
    assert rate_cell(Rate(50.0, 0.0, None, None)) == "50.0 ± 0.0"
    assert rate_cell(Rate(100 / 3, None, None, None)) == "33.3"
    assert rate_cell(None) == "no run"


def test_lines_of_groups_end_with_all_and_mark_what_is_missing() -> None:
    (table,) = success_report(FOUND).page().tables

    assert table.header[:4] == ["group", "runs", "graded / reported / imported", "success (%)"]
    bikes, everything = table.rows
    assert bikes[:3] == ["bikes", "2", "1 / 1 / 0"]
    rate = FOUND.groups["bikes"].success_rate
    assert rate is not None
    assert rate.runs95 is not None
    assert bikes[3:5] == ["50.0 ± 50.0", interval_cell(rate.runs95)]
    assert bikes[6:] == ["100.0 ± 0.0", "+25 %", "1", "", "1.5", "2", "0.25"]
    notes = (
        "1 missing: such results count as failures (padding=fail)",
        "1 missing: such results are left out (padding=fail)",
    )
    assert everything[:4] == ["all", "3", "1 / 1 / 0", Marked("25.0", notes)]
    assert everything[8] == "3"


def test_footnotes_of_success_rates() -> None:
    assert success_report(FOUND).page().notes == [
        (
            "first: all its competitions, 2 of 3 competitions, 3 runs. A success improves on the "
            "baseline by more than each baseline's own threshold; rates are means over "
            "competitions ± SEM."
        ),
        "Final scores: 1 graded, 1 reported, 0 imported; failures without one: 1.",
        "Left out, because they were lost to infrastructure: 2 connection, 1 out_of_memory.",
        "Left out, because no baseline is known: cats (1 run), dogs (2 runs).",
        "Missing results count as failures: owls seed 3 (the run is open).",
        "Missing results are left out: yaks (all its runs were lost to infrastructure).",
        "1 run is still open: the last score counts.",
        "1 score of another kind, not counted.",
        "Baseline of bikes: 0.7 (a paper), higher is better, more than 10 %.",
        "Baseline of owls: 12.5 (ten runs), lower is better, more than 25 %.",
        "Flag easy: bikes.",
    ]
    scope = SuccessScope(ResultFilter("tiny", Padding.AVAILABLE), threshold=0.2)
    other = replace(FOUND, scope=scope, lost={"bikes": {}, "all": {}}, missing_baseline={},
                    missing=(Missing("yaks", None, NO_RUN),), baselines=(), open=0,
                    other_scores=0)  # fmt: skip
    assert success_report(other).page().notes == [
        (
            "first: suite tiny, 2 of 3 competitions, 3 runs. A success improves on the baseline by "
            "more than 20 %; rates are means over competitions ± SEM."
        ),
        "Final scores: 1 graded, 1 reported, 0 imported; failures without one: 1.",
        "Missing results are left out: yaks (no run).",
        "Flag easy: bikes.",
    ]


def test_rows_have_the_numbers_unrounded() -> None:
    rows = {row["group"]: row for row in success_report(FOUND).rows}

    bikes = rows["bikes"]
    assert (bikes["success_rate"], bikes["ever_success_rate"]) == (50.0, 100.0)
    assert (bikes["success_rate_sem"], bikes["average_seconds"]) == (50.0, 5400.0)
    assert (bikes["lost"], bikes["graded"], bikes["reported"]) == (1, 1, 1)
    rate = FOUND.groups["bikes"].success_rate
    assert rate is not None
    for kind in ("wilson95", "bootstrap95", "runs95", "competitions95"):
        ends = (bikes[f"success_rate_{kind}_low"], bikes[f"success_rate_{kind}_high"])
        assert ends == (getattr(rate, kind) or (None, None))
    assert (rows["all"]["missing_baseline"], rows["all"]["missing"]) == ("cats,dogs", 2)


def test_the_document_has_groups_and_what_they_rest_on() -> None:
    found = replace(FOUND, failures={"crash": 2, "agent_error": 1})
    document = success_report(found).document

    assert list(document["failures"]) == ["agent_error", "crash"]
    assert (document["experiment"], document["padding"], document["runs"]) == ("first", "fail", 3)
    assert document["lost"] == {"connection": 2, "out_of_memory": 1}
    assert document["groups"]["bikes"]["lost"] == {"connection": 1}
    assert document["groups"]["bikes"]["success_rate"]["mean"] == 50.0
    assert document["missing_baseline"][1] == {"competition": "dogs", "runs": 2}
    assert document["baselines_used"][0]["source"] == "a paper"
