"""The report of how much a rate depends on single choices."""

from __future__ import annotations

from dataclasses import asdict

from app.domain.result_choices import Padding
from app.reports.document.footnotes import footnotes, marked, marks_of
from app.reports.document.page import Marked, ReportPage, Table
from app.reports.document.report import Report, ends
from app.reports.document.result_context import context_columns, context_document
from app.reports.document.tables import QUESTIONS, interval_cells
from app.services.results.sensitivity import Sensitivity, SensitivityChoice

WORDS = {
    SensitivityChoice.FLAG: "without the flag {}",
    SensitivityChoice.COMPETITION: "without {}",
    SensitivityChoice.PADDING: "padding={}",
}
SHOWN = 10  # competitions in Markdown, those that change most


def sensitivity_report(found: Sensitivity) -> Report:
    """The requested rate, and that under each other choice."""
    context = found.context
    document = {
        **context_document(context), "rate": found.rate, "mean": found.mean,
        "competitions95": found.competitions95, "runs95": found.runs95,
        "variants": [asdict(one) for one in found.variants],
    }  # fmt: skip
    rows = []
    for one in found.variants:
        flat = asdict(one)
        del flat["competitions95"], flat["runs95"], flat["missing"]
        rows.append(
            {
                "experiment": context.experiment.name, "rate": found.rate, "asked": found.mean,
                **flat, **ends("runs95", one.runs95), **ends("competitions95", one.competitions95),
                "suite": context.filters.suite, "padding": context.filters.padding.value,
                "missing_in_variant": one.missing, **context_columns(context),
            }
        )  # fmt: skip

    def page() -> ReportPage:
        one_out = [one for one in found.variants if one.choice is SensitivityChoice.COMPETITION]
        hidden = one_out[SHOWN:]
        mark = marks_of(context)
        lines = [["as asked", len(context.grid.competitions), mark(f"{found.mean:.2f}"), "",
                  *map(mark, interval_cells(found))]]  # fmt: skip
        for one in found.variants:
            if one in hidden:
                continue
            words = WORDS[one.choice].format(one.name)
            if one.mean is None or one.change is None:
                # The reason may have hundreds of letters, which would widen the table.
                reason = (one.refused,) if one.refused else ()
                lines.append([words, "", Marked("not known", reason), "", "", ""])
            else:
                padding = (
                    Padding(one.name)
                    if one.choice is SensitivityChoice.PADDING
                    else context.filters.padding
                )
                count = one.missing or 0
                change = f"{one.change:+.2f}"
                lines.append([
                    words, str(one.competitions), marked(f"{one.mean:.2f}", count, padding),
                    # The change is from the requested rate, which may have padded results too.
                    marked(change, count, padding) if count else mark(change),
                    *(marked(cell, count, padding) for cell in interval_cells(one)),
                ])  # fmt: skip
        table = Table(["", "competitions", f"{found.rate} (%)", "change", *QUESTIONS], lines)
        notes = footnotes(context)
        if hidden:
            largest = max(abs(one.change or 0.0) for one in hidden)
            which, most = f"one of the other {len(hidden)} competitions", "at most "
            if len(hidden) == 1:
                which, most = "the other competition", ""
            notes.insert(0, f"Leaving out {which} changes the rate by {most}{largest:.2f} points.")
        return ReportPage([table], notes)

    return Report(document, rows, page)
