"""Pages for LaTeX."""

from __future__ import annotations

from app.reports.document.latex import to_latex
from app.reports.document.page import Marked, ReportPage, Table
from app.reports.document.report import Report


def test_a_page_has_tabulars_with_letters_and_their_notes_behind_them() -> None:
    table = Table(
        ["experiment", "any medal"],
        [["a_b", Marked("50.00 ± 5.00 %", ("one is missing",))], ["[c]", Marked("not known", ())]],
    )
    page = ReportPage([table], ["3 seeds"])
    lines = to_latex(Report({}, [], lambda: page), "/v1/results").splitlines()

    assert lines[:-1] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"experiment & any medal \\",
        r"\midrule",
        r"a\_b & 50.00 $\pm$ 5.00 \%\textsuperscript{a} \\",
        r"{}[c] & not known \\",  # after \\ a bracket would be a distance
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"{\footnotesize\textsuperscript{a} one is missing\par}",
        r"{\footnotesize 3 seeds\par}",
    ]
    assert lines[-1].startswith("% ")
    assert "/v1/results" in lines[-1]


def test_a_table_without_rows_has_a_column_for_each_name() -> None:
    page = ReportPage([Table(["experiment", "rate"], [])], [])
    assert r"\begin{tabular}{ll}" in to_latex(Report({}, [], lambda: page), "/v1/results")
