"""The columns that a reader of a report chooses."""

from __future__ import annotations

import csv
import io

import pytest

from app.errors import Invalid
from app.reports.document.page import ReportPage
from app.reports.document.report import Report
from app.reports.document.tables import to_csv

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
