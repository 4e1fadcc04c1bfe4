"""Reports of pass@k, and of comparisons of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from app.domain.wording import first_few
from app.reports.document.page import Page, Table
from app.reports.medal_rates import ends
from app.reports.report import Report
from app.reports.result_context import (
    context_columns,
    context_document,
    footnotes,
    shared_notes,
)
from app.reports.tables import interval_cell, p_cell
from app.services.results.choice.public_choice import PublicChoice
from app.services.results.scope import ResultContext
from app.statistics.chosen_by_public import ChosenAtK
from app.statistics.comparison import Comparison
from app.statistics.pass_at_k import PassAtK
from app.statistics.simultaneous import Simultaneous

SHOWN = 10  # competitions in a note


def pass_at_k_report(
    context: ResultContext, found: Sequence[PassAtK], rate: str, public: PublicChoice
) -> Report:
    """An experiment's pass@k, beside what the choice by public score gets."""
    document = {
        **context_document(context), "rate": rate, "pass_at_k": [asdict(one) for one in found],
        "chosen_by_public": [asdict(one) for one in public.found],
        "without_public_scores": public.without_public_scores,
    }  # fmt: skip
    chosen = {one.k: one for one in public.found}
    rows = [
        {
            "experiment": context.experiment.name,
            "suite": context.filters.suite,
            "rate": rate,
            "k": one.k,
            "mean": one.mean,
            "bootstrap95_low": one.bootstrap95[0] if one.bootstrap95 else None,
            "bootstrap95_high": one.bootstrap95[1] if one.bootstrap95 else None,
            **_public_columns(chosen.get(one.k)),
            "without_public_scores": len(public.without_public_scores),
            **context_columns(context),
        }
        for one in found
    ]

    def page() -> Page:
        table = Table(
            ["k", "pass@k (%)", "bootstrap 95 %"],
            [[one.k, f"{one.mean:.2f}", interval_cell(one.bootstrap95)] for one in found],
        )
        tables, notes = [table], footnotes(context)
        if public.found:
            tables.append(_public_table(public.found))
            notes.append(
                "Chosen by public score: of k attempts the one with the best public score; pass@k "
                f"beside it is over the same {public.found[0].competitions} competitions."
            )
        if public.without_public_scores:
            notes.append(
                "No choice by public score at competitions without public scores: "
                f"{first_few(public.without_public_scores, SHOWN)}."
            )
        return Page(tables, notes)

    return Report(document, rows, page)


def _public_columns(one: ChosenAtK | None) -> dict[str, float | None]:
    return {
        "public_competitions": one.competitions if one else 0,
        "public_pass_at_k": one.pass_at_k if one else None,
        "chosen_by_public": one.chosen_by_public if one else None,
        **ends("chosen_by_public95", one.chosen_by_public95 if one else None),
        "gap": one.gap if one else None,
        **ends("gap95", one.gap95 if one else None),
    }


def _public_table(found: Sequence[ChosenAtK]) -> Table:
    return Table(
        ["k", "pass@k (%)", "chosen by public score (%)", "bootstrap 95 %", "gap",
         "bootstrap 95 %"],
        [
            [one.k, f"{one.pass_at_k:.2f}", f"{one.chosen_by_public:.2f}",
             interval_cell(one.chosen_by_public95), f"{one.gap:.2f}", interval_cell(one.gap95)]
            for one in found
        ],
    )  # fmt: skip


def comparison_report(a: ResultContext, b: ResultContext, found: Comparison, rate: str) -> Report:
    """The comparison of two experiments."""
    document = {
        "a": context_document(a),
        "b": context_document(b),
        "suite": a.filters.suite,
        "rate": rate,
        **asdict(found),
    }
    flat = asdict(found)
    sign = flat.pop("sign_test")
    for name in ("ci95", "bootstrap95"):
        low, high = flat.pop(name) or (None, None)
        flat |= {f"{name}_low": low, f"{name}_high": high}
    row = {
        "a": a.experiment.name, "b": b.experiment.name, "suite": a.filters.suite, "rate": rate,
        **flat, **{f"sign_test_{name}": value for name, value in sign.items()},
        **{f"a_{name}": value for name, value in context_columns(a).items()},
        **{f"b_{name}": value for name, value in context_columns(b).items()},
    }  # fmt: skip

    def page() -> Page:
        names = (a.experiment.name, b.experiment.name)
        least = "not known" if found.detectable is None else f"{found.detectable:.2f}"
        table = Table(
            [f"{names[0]} (%)", f"{names[1]} (%)", "difference", "t 95 %", "t test",
             "bootstrap 95 %", "sign test", "detectable"],
            [[f"{found.a_mean:.2f}", f"{found.b_mean:.2f}", f"{found.difference:+.2f}",
              interval_cell(found.ci95), p_cell(found.p), interval_cell(found.bootstrap95),
              f"{found.sign_test.a_ahead}:{found.sign_test.b_ahead}, {p_cell(found.sign_test.p)}",
              least]],
        )  # fmt: skip
        return Page([table], [*footnotes(a), *footnotes(b)])

    return Report(document, [row], page)


def simultaneous_report(
    contexts: Sequence[ResultContext], found: Simultaneous, rate: str
) -> Report:
    """All pairs of several experiments."""
    document = {
        "basis": [context_document(context) for context in contexts],
        "suite": contexts[0].filters.suite,
        "rate": rate,
        **asdict(found),
    }
    rows = []
    for pair in found.pairs:
        flat = asdict(pair)
        low, high = flat.pop("simultaneous95") or (None, None)
        rows.append({**flat, "simultaneous95_low": low, "simultaneous95_high": high, "rate": rate})

    def page() -> Page:
        ranking = Table(
            ["experiment", f"{rate} (%)", "ranks", "letters"],
            [
                [one.experiment, f"{one.mean:.2f}", f"{one.ranks[0]} to {one.ranks[1]}",
                 one.letters]
                for one in found.experiments
            ],
        )  # fmt: skip
        table = Table(
            ["a", "b", "a - b", "simultaneous 95 %", "Holm", "ahead"],
            [
                [pair.a, pair.b, f"{pair.difference:+.2f}", interval_cell(pair.simultaneous95),
                 p_cell(pair.p_holm), pair.ahead or ""]
                for pair in found.pairs
            ],
        )  # fmt: skip
        notes = [
            f"Over the same {found.competitions} competitions.",
            "All intervals together hold with 95 %.",
            "Experiments that share a letter cannot be told apart.",
            *shared_notes(contexts),
        ]
        return Page([ranking, table], notes)

    return Report(document, rows, page)
