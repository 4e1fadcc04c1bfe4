"""What each choice of final submissions cost, and which competitions have no places."""

from __future__ import annotations

import pytest

from app.domain.result_choices import Padding
from app.errors import Conflict
from app.reports.selection import selection_report
from app.services.results.choice.selection import selection
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context
from app.statistics.medals_over_time import Choice
from tests.services.results.make import closed_run, import_medals
from tests.services.submissions.conftest import readable_version

BEST = {"score": 0.1, "public_score": 0.2, "medal": "gold", "better": 0, "equal": 0, "worse": 4}
ONLY_LINES = "Percentiles: only medal lines of the leaderboards are here."
LAST = {"score": 0.5, "public_score": 0.4, "medal": None, "better": 3, "equal": 0, "worse": 1}


def test_the_last_file_loses_the_medal_that_the_best_public_score_keeps(context: Context) -> None:
    closed_run(context, readable_version(context, "bikes"), 1, BEST, LAST)
    closed_run(context, readable_version(context, "leaves"), 1, {**BEST, "better": None})

    found = selection(context, "first", ResultFilter())

    assert (found.runs, found.with_choice, found.placed, found.unplaced) == (2, 1, 1, ["leaves"])
    assert [(one.choice, one.medals.choice, one.medals.regret) for one in found.costs] == [
        (Choice.LAST, 50.0, 50.0), (Choice.SELECTED, 50.0, 50.0), (Choice.BEST_PUBLIC, 100.0, 0.0),
    ]  # fmt: skip
    places = [one.percentiles for one in found.costs]
    assert [one and (one.choice, one.regret) for one in places] == [
        (25.0, 75.0), (25.0, 75.0), (100.0, 0.0),
    ]  # fmt: skip
    assert ONLY_LINES not in selection_report(found).markdown()
    assert found.shake_up is not None
    assert (found.shake_up.runs, found.shake_up.left_out) == (1, 1)


def test_where_no_place_is_known_the_regret_has_no_percentiles(context: Context) -> None:
    closed_run(context, readable_version(context, "bikes"), 1, {**BEST, "better": None}, LAST)

    found = selection(context, "first", ResultFilter())

    assert (found.placed, found.unplaced) == (0, ["bikes"])
    assert [one.percentiles for one in found.costs] == [None] * 3
    report = selection_report(found)
    assert [row["statistic"] for row in report.rows][:3] == ["medal_regret"] * 3
    assert report.markdown().count("| any medal (%) |") == 3
    assert ONLY_LINES in report.markdown()
    assert "percentile_regret" not in {row["statistic"] for row in report.rows}


def test_a_run_with_one_file_shows_no_shake_up(context: Context) -> None:
    bikes = readable_version(context, "bikes")
    closed_run(context, bikes, 1, BEST)
    words = "Shake-up: no run has two submissions with a public score."
    assert words in selection_report(selection(context, "first", ResultFilter())).markdown()

    closed_run(context, bikes, 2, BEST, LAST)
    text = selection_report(selection(context, "first", ResultFilter())).markdown()
    assert words not in text
    assert "| shake-up |" in text


def test_imports_alone_chose_nothing(context: Context) -> None:
    import_medals(context, "first", {"bikes": ["gold"]})
    closed_run(context, readable_version(context, "bikes"), 1)

    with pytest.raises(Conflict, match="No counted run of 'first' has a valid submission"):
        selection(context, "first", ResultFilter(padding=Padding.FAIL))
