"""Reports of pass@k, of the comparison of two experiments, and of a suite's items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from app.reports.report import Report
from app.reports.result_context import (
    context_columns,
    context_document,
    flag_notes,
    footnotes,
    own_notes,
)
from app.reports.tables import interval_cell, markdown_list, markdown_table, p_cell
from app.services.results.scope import ResultContext, ResultFilter
from app.statistics.comparison import Comparison
from app.statistics.item_analysis import Item
from app.statistics.pass_at_k import PassAtK
from app.statistics.simultaneous import Simultaneous


def pass_at_k_report(context: ResultContext, found: Sequence[PassAtK], rate: str) -> Report:
    """An experiment's pass@k."""
    document = {
        **context_document(context), "rate": rate, "pass_at_k": [asdict(one) for one in found],
    }  # fmt: skip
    rows = [
        {
            "experiment": context.experiment.name,
            "suite": context.filters.suite,
            "rate": rate,
            "k": one.k,
            "mean": one.mean,
            "bootstrap95_low": one.bootstrap95[0] if one.bootstrap95 else None,
            "bootstrap95_high": one.bootstrap95[1] if one.bootstrap95 else None,
            **context_columns(context),
        }
        for one in found
    ]

    def markdown() -> str:
        table = markdown_table(
            ["k", "pass@k (%)", "bootstrap 95 %"],
            [[one.k, f"{one.mean:.2f}", interval_cell(one.bootstrap95)] for one in found],
        )
        return f"{table}\n{markdown_list(footnotes(context))}"

    return Report(document, rows, markdown)


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

    def markdown() -> str:
        names = (a.experiment.name, b.experiment.name)
        least = "not known" if found.detectable is None else f"{found.detectable:.2f}"
        table = markdown_table(
            [f"{names[0]} (%)", f"{names[1]} (%)", "difference", "t 95 %", "t test",
             "bootstrap 95 %", "sign test", "detectable"],
            [[f"{found.a_mean:.2f}", f"{found.b_mean:.2f}", f"{found.difference:+.2f}",
              interval_cell(found.ci95), p_cell(found.p), interval_cell(found.bootstrap95),
              f"{found.sign_test.a_ahead}:{found.sign_test.b_ahead}, {p_cell(found.sign_test.p)}",
              least]],
        )  # fmt: skip
        return f"{table}\n{markdown_list([*footnotes(a), *footnotes(b)])}"

    return Report(document, [row], markdown)


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

    def markdown() -> str:
        ranking = markdown_table(
            ["experiment", f"{rate} (%)", "ranks", "letters"],
            [
                [one.experiment, f"{one.mean:.2f}", f"{one.ranks[0]} to {one.ranks[1]}",
                 one.letters]
                for one in found.experiments
            ],
        )  # fmt: skip
        table = markdown_table(
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
            *(" ".join(own_notes(context)) for context in contexts),
            *flag_notes(dict.fromkeys(flag for one in contexts for flag in one.flags)),
        ]
        return f"{ranking}\n{table}\n{markdown_list(notes)}"

    return Report(document, rows, markdown)


def items_report(
    scope: ResultFilter,
    experiments: Sequence[str],
    found: Sequence[Item],
    absent: Sequence[tuple[str, str]],
    rate: str,
) -> Report:
    """A suite's item table."""
    documents = [asdict(one) for one in found]
    rows = []
    for one in documents:
        low, high = one["discrimination95"] or (None, None)
        flat = {name: value for name, value in one.items() if name != "discrimination95"}
        rows.append({**flat, "discrimination95_low": low, "discrimination95_high": high})
    document = {
        "suite": scope.suite, "padding": scope.padding.value, "rate": rate,
        "exclude_flags": list(scope.exclude_flags), "excluded_as": scope.excluded.value,
        "experiments": list(experiments), "items": documents,
        "absent": [{"experiment": name, "reason": reason} for name, reason in absent],
    }  # fmt: skip

    def markdown() -> str:
        table = markdown_table(
            ["competition", "attempts", f"{rate} (%)", "flips (%)", "discrimination", "95 %", ""],
            [
                [one.competition, one.attempts, f"{one.rate:.2f}", f"{one.flips:.2f}",
                 "" if one.discrimination is None else f"{one.discrimination:.2f}",
                 interval_cell(one.discrimination95), one.verdict or ""]
                for one in found
            ],
        )  # fmt: skip
        lines = [f"{name} is not counted: {reason}" for name, reason in absent]
        return f"{table}\n{markdown_list(lines)}"

    return Report(document, rows, markdown)
