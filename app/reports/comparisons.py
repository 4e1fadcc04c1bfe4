"""Reports of pass@k, and of comparisons of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from app.domain.wording import counted, first_few
from app.reports.document.footnotes import footnotes, marked, marked_mean, marks_of, shared_notes
from app.reports.document.page import Marked, ReportPage, Table
from app.reports.document.report import Report, ends
from app.reports.document.result_context import context_columns, context_document
from app.reports.document.tables import QUESTIONS, interval_cell, interval_cells, p_cell
from app.services.results.choice.public_choice import PublicChoice
from app.services.results.inputs.scope import ResultContext
from app.statistics.chosen_by_public import ChosenAtK
from app.statistics.comparison import Comparison
from app.statistics.estimates import Interval
from app.statistics.pass_at_k import PassAtK
from app.statistics.simultaneous import Simultaneous

SHOWN = 10  # competitions in a note


def pass_at_k_report(
    context: ResultContext, found: Sequence[PassAtK], rate: str, public: PublicChoice
) -> Report:
    """An experiment's pass@k, and the success of the choice by public score."""
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
            **ends("runs95", one.runs95),
            **ends("competitions95", one.competitions95),
            **ends("bootstrap95", one.bootstrap95),
            **_public_columns(chosen.get(one.k)),
            "without_public_scores": len(public.without_public_scores),
            **context_columns(context),
            **_public_intervals(chosen.get(one.k)),
        }
        for one in found
    ]

    def page() -> ReportPage:
        table = Table(
            ["k", "pass@k (%)", *QUESTIONS],
            [[one.k, marked_mean(context, one.mean), *interval_cells(one)] for one in found],
        )
        tables, notes = [table], footnotes(context)
        if public.found:
            tables.append(_public_table(context, public))
            same = counted(public.found[0].competitions, "competition")
            notes.append(
                "Chosen by public score: of k attempts the one with the best public score; pass@k "
                f"beside it is over the same {same}."
            )
        if public.without_public_scores:
            notes.append(
                "No choice by public score at competitions without public scores: "
                f"{first_few(public.without_public_scores, SHOWN)}."
            )
        return ReportPage(tables, notes)

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


def _public_intervals(one: ChosenAtK | None) -> dict[str, float | None]:
    return {
        **ends("chosen_by_public_runs95", one.chosen_by_public_runs95 if one else None),
        **ends(
            "chosen_by_public_competitions95", one.chosen_by_public_competitions95 if one else None
        ),
        **ends("gap_runs95", one.gap_runs95 if one else None),
        **ends("gap_competitions95", one.gap_competitions95 if one else None),
    }


def _public_table(context: ResultContext, public: PublicChoice) -> Table:
    missing = sum(slug not in public.without_public_scores for slug, _, _ in context.missing)

    def number(value: float) -> str | Marked:
        return marked(f"{value:.2f}", missing, context.filters.padding)

    def gap95(one: ChosenAtK, interval: Interval | None) -> str:
        return "nothing to choose" if one.k == 1 else interval_cell(interval)

    return Table(
        ["k", "pass@k (%)", "chosen by public score (%)",
         *(f"chosen: {each}" for each in QUESTIONS), "gap",
         *(f"gap: {each}" for each in QUESTIONS)],
        [
            [one.k, number(one.pass_at_k), number(one.chosen_by_public),
             interval_cell(one.chosen_by_public_runs95),
             interval_cell(one.chosen_by_public_competitions95),
             number(one.gap), gap95(one, one.gap_runs95), gap95(one, one.gap_competitions95)]
            for one in public.found
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
    for name in ("ci95", "bootstrap95", "runs95", "competitions95"):
        low, high = flat.pop(name) or (None, None)
        flat |= {f"{name}_low": low, f"{name}_high": high}
    row = {
        "a": a.experiment.name, "b": b.experiment.name, "suite": a.filters.suite, "rate": rate,
        **flat, **{f"sign_test_{name}": value for name, value in sign.items()},
        **{f"a_{name}": value for name, value in context_columns(a).items()},
        **{f"b_{name}": value for name, value in context_columns(b).items()},
        "padding": a.filters.padding.value,
    }  # fmt: skip

    def page() -> ReportPage:
        names = (a.experiment.name, b.experiment.name)
        mark, sign_test = marks_of(a, b), found.sign_test
        least = "not known" if found.detectable is None else f"{found.detectable:.2f}"
        table = Table(
            [f"{names[0]} (%)", f"{names[1]} (%)", "difference", *QUESTIONS, "t test",
             "bootstrap 95 %", "sign test", "detectable"],
            [[marked_mean(a, found.a_mean), marked_mean(b, found.b_mean),
              *map(mark, [
                  f"{found.difference:+.2f}",
                  *interval_cells(found), p_cell(found.p), interval_cell(found.bootstrap95),
                  f"{sign_test.a_ahead}:{sign_test.b_ahead}, {p_cell(sign_test.p)}", least,
              ])]],
        )  # fmt: skip
        return ReportPage([table], shared_notes([a, b]))

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
    of = {context.experiment.name: context for context in contexts}
    rows = []
    for pair in found.pairs:
        flat = asdict(pair)
        low, high = flat.pop("simultaneous95") or (None, None)
        rows.append(
            {
                **flat, "simultaneous95_low": low, "simultaneous95_high": high, "rate": rate,
                "suite": contexts[0].filters.suite,
                **{f"a_{name}": value for name, value in context_columns(of[pair.a]).items()},
                **{f"b_{name}": value for name, value in context_columns(of[pair.b]).items()},
                "padding": contexts[0].filters.padding.value,
            }
        )  # fmt: skip

    def page() -> ReportPage:
        ranking = Table(
            ["experiment", f"{rate} (%)", "ranks", "letters"],
            [
                [one.experiment, marked_mean(of[one.experiment], one.mean),
                 f"{one.ranks[0]} to {one.ranks[1]}",
                 one.letters]
                for one in found.experiments
            ],
        )  # fmt: skip
        table = Table(
            ["a", "b", "a - b", "simultaneous 95 %", "Holm", "ahead"],
            [
                [pair.a, pair.b,
                 *map(marks_of(of[pair.a], of[pair.b]), [
                     f"{pair.difference:+.2f}", interval_cell(pair.simultaneous95),
                     p_cell(pair.p_holm),
                 ]), pair.ahead or ""]
                for pair in found.pairs
            ],
        )  # fmt: skip
        notes = [
            f"Over the same {counted(found.competitions, 'competition')}.",
            "All intervals together hold with 95 %.",
            "Experiments that share a letter cannot be told apart.",
            *shared_notes(contexts),
        ]
        return ReportPage([ranking, table], notes)

    return Report(document, rows, page)
