"""The report of a suite's competitions as items of a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from app.reports.document.footnotes import marked, shared_notes
from app.reports.document.page import ReportPage, Table
from app.reports.document.report import NamedRows, Report, ends
from app.reports.document.tables import interval_cell
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.statistics.item_analysis import Item, ItemTable
from app.statistics.rasch import FEWEST

INTERVALS = ("slope95", "discrimination95")


def items_report(
    scope: ResultFilter,
    contexts: Sequence[ResultContext],
    found: ItemTable,
    absent: Sequence[tuple[str, str]],
    rate: str,
) -> Report:
    """A suite's item table over these experiments, with every result that is missing."""
    documents = [asdict(one) for one in found.items]
    rows = []
    for one in documents:
        flat = dict(one)
        for name in INTERVALS:
            flat |= ends(name, flat.pop(name))
        rows.append(flat)
    document = {
        "suite": scope.suite, "padding": scope.padding.value, "rate": rate,
        "exclude_flags": list(scope.exclude_flags), "excluded_as": scope.excluded.value,
        "experiments": [one.experiment.name for one in contexts], "items": documents,
        "missing": [
            {"experiment": one.experiment.name, "competition": slug, "seed": seed, "reason": reason}
            for one in contexts
            for slug, seed, reason in one.missing
        ],
        "abilities": [asdict(one) for one in found.abilities], "dispersion": found.dispersion,
        "absent": [{"experiment": name, "reason": reason} for name, reason in absent],
        "archived_competitions": list(contexts[0].archived_competitions) if contexts else [],
    }  # fmt: skip

    def page() -> ReportPage:
        table = Table(
            ["competition", "attempts", f"{rate} (%)", "flips (%)", "difficulty", "slope",
             "slope 95 %", "correlation", "95 %", ""],
            [
                [one.competition, one.attempts,
                 marked(f"{one.rate:.2f}", one.missing, scope.padding), f"{one.flips:.2f}",
                 f"{one.difficulty:+.2f} ± {one.difficulty_error:.2f}", _number(one.slope),
                 interval_cell(one.slope95), _number(one.discrimination),
                 interval_cell(one.discrimination95), one.verdict or ""]
                for one in found.items
            ],
        )  # fmt: skip
        abilities = Table(
            ["experiment", "ability"],
            [
                [
                    one.experiment,
                    marked(
                        f"{one.ability:+.2f} ± {one.error:.2f}", len(context.missing), scope.padding
                    ),
                ]
                for context, one in zip(contexts, found.abilities, strict=True)
            ],
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
        if len(contexts) < FEWEST:
            notes.append(f"Slopes need at least {FEWEST} experiments.")
        notes += shared_notes(contexts)
        notes += [f"{name} is not counted: {reason}" for name, reason in absent]
        return ReportPage([table, abilities], notes)

    columns = [each.name for each in fields(Item) if each.name not in INTERVALS]
    columns += [name for each in INTERVALS for name in ends(each, None)]
    return Report(document, NamedRows(columns, rows), page)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
