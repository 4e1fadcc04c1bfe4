"""The columns of a board."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.result_choices import GroupBy, Padding
from app.errors import Invalid
from app.reports.board_columns import chosen_columns, default_columns
from app.reports.document.page import Marked
from app.services.results.inputs.scope import ResultFilter
from app.statistics.attempts import make_grid
from app.statistics.rates import medal_rates
from tests.reports.make import GRID, PLAIN
from tests.statistics.make import attempt


def test_columns_of_a_board_say_what_is_not_known_and_mark_what_is_flagged() -> None:
    groups = medal_rates(GRID)
    flagged = replace(PLAIN, flags=(("bikes", "leaky", ""), ("whales", "easy", "")))
    names = ["all", "all.sem", "all.bounds", "all.gold", "hours", "seeds"]

    columns = chosen_columns(names, list(groups), None, (flagged, groups))

    note = ("with flagged competitions: leaky",)
    titles = ("All (%)", "All: seed SEM", "All: bounds", "All: gold (%)")
    assert [one.heading for one in columns] == [
        *(Marked(text, note) for text in titles), "Running Time (hours)", "Seeds"
    ]  # fmt: skip
    assert [one.cell(flagged, groups) for one in columns] == [
        "0.00 ± 0.00", "0.00", "nothing is missing", "0.00 ± 0.00", "not known", "2"
    ]  # fmt: skip
    single = medal_rates(make_grid([attempt("bikes", 0)], {"bikes"}))
    assert columns[1].cell(flagged, single) == "not known"
    timed = replace(PLAIN, experiment=replace(PLAIN.experiment, resources={"hours": 24.0}))
    assert columns[4].cell(timed, groups) == "24"


def test_titles_of_complexities_stand_for_complexities_alone() -> None:
    groups = medal_rates(GRID, {"low": ["bikes"]})
    flags = (("bikes", "leaky", ""), ("bikes", "easy", ""))
    for by, title in ((GroupBy.COMPLEXITY, "Low == Lite (%)"), (GroupBy.TAG, "low (%)")):
        columns = default_columns(list(groups), by, (PLAIN, groups))
        assert [one.heading for one in columns[3:5]] == [title, "All (%)"]
        flagged = default_columns(list(groups), by, (replace(PLAIN, flags=flags), groups))
        note = "with flagged competitions: easy, leaky"
        assert flagged[3].heading == Marked(title, (note,))
    (column,) = chosen_columns(["low"], list(groups), None, (PLAIN, {}))
    assert (column.heading, column.cell(PLAIN, {})) == ("low (%)", "not known")


def test_bounds_are_those_of_the_missing_results() -> None:
    grid = make_grid([attempt("bikes", 0, "gold")], {"bikes"}, seeds=(1,), padding=Padding.FAIL)
    groups = medal_rates(grid)
    asked = replace(PLAIN, filters=ResultFilter(padding=Padding.FAIL))
    (column,) = chosen_columns(["all.bounds"], ["all"], None, None)

    marks = ("1 missing: such results count as failures (padding=fail)",)
    assert column.cell(asked, groups) == Marked("50.00 to 100.00", marks)


def test_an_unknown_column_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(Invalid) as refused:
        chosen_columns(["low.gold", "low.medals"], ["all", "low"], None, None)
    assert refused.value.detail == (
        "columns: there is no column 'low.medals'; there are experiment, agent, model, hours, "
        "seeds, and low, all, these alone or with one of .any_medal, .sem, .runs95, "
        ".competitions95, .bounds, .gold, .silver, .bronze, .above_median, .valid_submission, "
        ".made_submission."
    )
