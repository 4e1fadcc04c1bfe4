"""The columns of a board."""

from __future__ import annotations

from dataclasses import replace

from app.reports.board_columns import chosen_columns
from app.reports.document.page import Marked
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
