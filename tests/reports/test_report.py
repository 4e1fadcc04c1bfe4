"""The columns that a reader of a report chooses."""

from __future__ import annotations

import csv
import io

import pyarrow.parquet as pq
import pytest

from app.domain.result_choices import GroupBy
from app.errors import Invalid
from app.reports.board_columns import chosen_columns
from app.reports.competition_results import competition_report
from app.reports.document.page import ReportPage
from app.reports.document.report import NamedRows, Report
from app.reports.document.tables import to_csv, to_parquet, to_spreadsheet_csv
from app.reports.items import items_report
from app.reports.medal_rates import board_report
from app.reports.run_outcomes import outcomes_report
from app.reports.uncertainty import noise_report
from app.services.results.board import Board
from app.services.results.inputs.competition_info import CompetitionInfo
from app.services.results.inputs.scope import ResultFilter
from app.statistics.item_analysis import ItemTable

ROWS = [{"seed": 0, "score": 0.5, "medal": None}, {"seed": 1, "score": 0.7, "medal": "gold"}]


def report(*columns: str) -> Report:
    return Report({"items": ROWS}, ROWS, lambda: ReportPage([], []), columns)


def test_rows_have_the_chosen_columns_in_the_chosen_order():
    chosen = report("medal,seed").chosen_rows()

    assert [list(row.items()) for row in chosen] == [
        [("medal", None), ("seed", 0)], [("medal", "gold"), ("seed", 1)]
    ]  # fmt: skip


def test_without_a_choice_rows_have_all_columns():
    assert report().chosen_rows() == ROWS


def test_an_unknown_column_is_refused_with_the_names_of_the_others():
    with pytest.raises(Invalid, match="no column 'place'; there are seed, score, medal"):
        report("place").chosen_rows()


def test_a_document_has_no_columns_to_choose():
    assert report().whole_document() == {"items": ROWS}
    with pytest.raises(Invalid, match="JSON has none to choose"):
        report("seed").whole_document()


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "a\nb", 'a"b', "a,b", "\r", "\n\r", ""])
def test_a_text_with_any_end_of_a_line_is_one_cell_of_a_csv(text: str) -> None:
    """Authors of competitions write tags and categories, which may have any character."""
    written = to_csv([{"group": text, "rate": 1.5}, {"group": "b", "rate": None}])

    read = list(csv.reader(io.StringIO(written, newline="")))
    assert read == [["group", "rate"], [text, "1.5"], ["b", ""]]
    assert written.startswith("group,rate\n")
    assert written.endswith("\nb,\n")


EMPTY = {
    "results": competition_report("bikes", "mid-rank", CompetitionInfo(), []),
    "items": items_report(ResultFilter(), [], ItemTable([], [], 1.0), [], "any_medal"),
    "board": board_report(Board((), [], [], 0), None),
    "outcomes": outcomes_report("trial", None, []),
    "noise": noise_report("trial", []),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_table_without_rows_has_its_header(name: str) -> None:
    """Programs that read it by its columns took an empty line for a broken answer."""
    (header,) = to_csv(EMPTY[name].chosen_rows()).splitlines()

    assert {"results": "experiment,agent,", "items": "competition,attempts,missing,rate,",
            "board": "experiment,agent,model,suite,", "outcomes": "experiment,competition,seed,",
            "noise": "experiment,competition,seed,"}[name] in header  # fmt: skip


def test_a_group_that_is_called_like_a_column_can_be_chosen() -> None:
    """`seeds` and `hours` are columns of every board, and tags may have these names."""
    groups, names = ["seeds", "hours"], ["seeds,seeds.any_medal,hours.any_medal", "seeds.gold"]
    chosen = [one.heading for one in chosen_columns(names, groups, GroupBy.TAG, None)]

    assert chosen == ["Seeds", "seeds (%)", "hours (%)", "seeds: gold (%)"]


def test_chosen_columns_of_a_table_without_rows_are_its_header() -> None:
    empty = NamedRows(["seed", "score"], [])
    chosen = Report({}, empty, lambda: ReportPage([], []), ("score",)).chosen_rows()

    assert to_csv(chosen) == "score\n"
    assert to_spreadsheet_csv(empty) == "seed,score\n"
    assert pq.read_table(io.BytesIO(to_parquet(empty))).column_names == ["seed", "score"]


def test_rows_have_the_columns_that_they_are_named_by() -> None:
    with pytest.raises(ValueError, match=r"columns \['seed'\] are named \['score'\]"):
        NamedRows(["score"], [{"seed": 1}])
