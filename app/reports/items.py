"""The report of a suite's competitions as items of a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from app.reports.document.page import Page, Table
from app.reports.medal_rates import ends
from app.reports.report import Report
from app.reports.tables import interval_cell
from app.services.results.scope import ResultFilter
from app.statistics.item_analysis import ItemTable
from app.statistics.rasch import FEWEST


def items_report(
    scope: ResultFilter,
    experiments: Sequence[str],
    found: ItemTable,
    absent: Sequence[tuple[str, str]],
    rate: str,
) -> Report:
    """A suite's item table."""
    documents = [asdict(one) for one in found.items]
    rows = []
    for one in documents:
        flat = dict(one)
        for name in ("slope95", "discrimination95"):
            flat |= ends(name, flat.pop(name))
        rows.append(flat)
    document = {
        "suite": scope.suite, "padding": scope.padding.value, "rate": rate,
        "exclude_flags": list(scope.exclude_flags), "excluded_as": scope.excluded.value,
        "experiments": list(experiments), "items": documents,
        "abilities": [asdict(one) for one in found.abilities], "dispersion": found.dispersion,
        "absent": [{"experiment": name, "reason": reason} for name, reason in absent],
    }  # fmt: skip

    def page() -> Page:
        table = Table(
            ["competition", "attempts", f"{rate} (%)", "flips (%)", "difficulty", "slope",
             "slope 95 %", "correlation", "95 %", ""],
            [
                [one.competition, one.attempts, f"{one.rate:.2f}", f"{one.flips:.2f}",
                 f"{one.difficulty:+.2f} ± {one.difficulty_error:.2f}", _number(one.slope),
                 interval_cell(one.slope95), _number(one.discrimination),
                 interval_cell(one.discrimination95), one.verdict or ""]
                for one in found.items
            ],
        )  # fmt: skip
        abilities = Table(
            ["experiment", "ability"],
            [[one.experiment, f"{one.ability:+.2f} ± {one.error:.2f}"] for one in found.abilities],
        )
        notes = [
            (
                "Difficulty and ability by the Rasch model, in logits from the mean ability, ± "
                "standard error. A penalty keeps them finite where nobody or everybody succeeded."
            ),
            (
                "Slope: by how much the logit of success rises with the ability at the other "
                "competitions; inverted only where its interval is below 0, after correction for "
                "all competitions."
            ),
            (
                f"Attempts vary {found.dispersion:.2f} times as much as the model says; errors "
                "have the root of it."
            ),
        ]
        if len(experiments) < FEWEST:
            notes.append(f"Slopes need at least {FEWEST} experiments.")
        notes += [f"{name} is not counted: {reason}" for name, reason in absent]
        return Page([table, abilities], notes)

    return Report(document, rows, page)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
