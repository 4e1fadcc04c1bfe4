"""Pages with footnotes."""

from __future__ import annotations

from app.reports.document.page import Marked, ReportPage, Table, to_markdown


def test_a_page_has_a_letter_for_each_of_a_thousand_footnotes() -> None:
    """A board of many experiments by category: each cell may miss another number of results."""
    rows = [[Marked(str(k), (f"{k} missing",))] for k in range(1000)]
    page = ReportPage([Table(["rate"], rows)], [])
    assert len(set(page.letters().values())) == 1000
    text = to_markdown(page)
    lines = ("| 701 [zz] |", "- [zz] 701 missing", "| 702 [aaa] |", "- [aaa] 702 missing")
    assert [line for line in lines if line not in text.splitlines()] == []
