"""Reports of pass@k, of the comparison of two experiments, and of a suite's items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from app.reports.report import Report
from app.reports.result_context import context_columns, context_document, footnotes
from app.reports.tables import interval_cell, markdown_list, markdown_table
from app.services.results.experiment_results import ResultContext, ResultFilter
from app.statistics.comparison import Comparison
from app.statistics.item_analysis import Item
from app.statistics.pass_at_k import PassAtK


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
            [f"{names[0]} (%)", f"{names[1]} (%)", "difference", "t 95 %", "bootstrap 95 %",
             "sign test", "detectable"],
            [[f"{found.a_mean:.2f}", f"{found.b_mean:.2f}", f"{found.difference:+.2f}",
              interval_cell(found.ci95), interval_cell(found.bootstrap95),
              f"{found.sign_test.a_ahead}:{found.sign_test.b_ahead}, p = {found.sign_test.p:.3f}",
              least]],
        )  # fmt: skip
        return f"{table}\n{markdown_list([*footnotes(a), *footnotes(b)])}"

    return Report(document, [row], markdown)


def items_report(
    scope: ResultFilter,
    experiments: Sequence[str],
    found: Sequence[Item],
    rate: str,
) -> Report:
    """A suite's item table."""
    rows = [asdict(one) for one in found]
    document = {
        "suite": scope.suite, "padding": scope.padding.value, "rate": rate,
        "experiments": list(experiments), "items": rows,
    }  # fmt: skip

    def markdown() -> str:
        return markdown_table(
            ["competition", "attempts", f"{rate} (%)", "flips (%)", "discrimination", ""],
            [
                [one.competition, one.attempts, f"{one.rate:.2f}", f"{one.flips:.2f}",
                 "" if one.discrimination is None else f"{one.discrimination:.2f}",
                 one.verdict or ""]
                for one in found
            ],
        )  # fmt: skip

    return Report(document, rows, markdown)
