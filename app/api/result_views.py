"""Results in the four forms they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import Request

from app.api.tables import answer, markdown_table
from app.reports import medal_rates as report
from app.services.results.attempts import CompetitionInfo
from app.services.results.competition_results import CompetitionResult
from app.services.results.experiment_results import ResultContext, ResultFilter
from app.services.results.medals_over_time import Curves
from app.statistics.attempts import RATES
from app.statistics.comparison import Comparison
from app.statistics.item_analysis import Item
from app.statistics.pass_at_k import PassAtK
from app.statistics.percentiles import PERCENTILES
from app.statistics.rates import GroupRates

Rates = Mapping[str, GroupRates]


def medal_rates(request: Request, basis: ResultContext, groups: Rates) -> Any:
    """An experiment's medal rates."""

    def markdown() -> str:
        return rates_markdown(basis, groups)

    document = report.rates_document(basis, groups)
    return answer(request, document, report.rates_rows(basis, groups), markdown)


def rates_markdown(basis: ResultContext, groups: Rates) -> str:
    """The row as MLE-bench's README prints it, all rates below, and what one has to know."""
    row = markdown_table(
        report.board_header(list(groups)), [report.board_row(basis, groups, list(groups))]
    )
    titles = [name.replace("_", " ") for name in RATES]
    table = markdown_table(
        ["group", "competitions", *titles],
        [
            [name, group.competitions, *(report.plus_minus(group.rates[r]) for r in RATES)]
            for name, group in groups.items()
        ],
    )
    return f"{row}\n{table}\n{_notes(report.footnotes(basis))}"


def board(
    request: Request, rows: Sequence[tuple[ResultContext, Rates]], absent: Sequence[tuple[str, str]]
) -> Any:
    """All experiments' medal rates."""
    document = {
        "items": [report.rates_document(*row) for row in rows],
        "absent": [{"experiment": name, "reason": reason} for name, reason in absent],
    }

    def markdown() -> str:
        columns = list(dict.fromkeys(name for _, groups in rows for name in groups))
        table = markdown_table(
            report.board_header(columns),
            [report.board_row(basis, groups, columns) for basis, groups in rows],
        )
        lines = [line for basis, _ in rows for line in report.footnotes(basis)]
        lines += [f"{name} is not counted: {reason}" for name, reason in absent]
        return f"{table}\n{_notes(lines)}"

    flat = [line for row in rows for line in report.rates_rows(*row)]
    return answer(request, document, flat, markdown)


def pass_at_k(request: Request, basis: ResultContext, found: Sequence[PassAtK], rate: str) -> Any:
    """An experiment's pass@k."""
    document = {
        **report.basis_document(basis), "rate": rate, "pass_at_k": [asdict(one) for one in found],
    }  # fmt: skip
    rows = [
        {
            "experiment": basis.experiment.name,
            "suite": basis.scope.suite,
            "rate": rate,
            "k": one.k,
            "mean": one.mean,
            "bootstrap95_low": one.bootstrap95[0] if one.bootstrap95 else None,
            "bootstrap95_high": one.bootstrap95[1] if one.bootstrap95 else None,
            **report.basis_columns(basis),
        }
        for one in found
    ]

    def markdown() -> str:
        table = markdown_table(
            ["k", "pass@k (%)", "bootstrap 95 %"],
            [[one.k, f"{one.mean:.2f}", _interval(one.bootstrap95)] for one in found],
        )
        return f"{table}\n{_notes(report.footnotes(basis))}"

    return answer(request, document, rows, markdown)


def comparison(
    request: Request, a: ResultContext, b: ResultContext, found: Comparison, rate: str
) -> Any:
    """Two experiments side by side."""
    document = {
        "a": report.basis_document(a),
        "b": report.basis_document(b),
        "suite": a.scope.suite,
        "rate": rate,
        **asdict(found),
    }
    flat = asdict(found)
    sign = flat.pop("sign_test")
    for name in ("ci95", "bootstrap95"):
        low, high = flat.pop(name) or (None, None)
        flat |= {f"{name}_low": low, f"{name}_high": high}
    row = {
        "a": a.experiment.name, "b": b.experiment.name, "suite": a.scope.suite, "rate": rate,
        **flat, **{f"sign_test_{name}": value for name, value in sign.items()},
        **{f"a_{name}": value for name, value in report.basis_columns(a).items()},
        **{f"b_{name}": value for name, value in report.basis_columns(b).items()},
    }  # fmt: skip

    def markdown() -> str:
        names = (a.experiment.name, b.experiment.name)
        least = "not known" if found.detectable is None else f"{found.detectable:.2f}"
        table = markdown_table(
            [f"{names[0]} (%)", f"{names[1]} (%)", "difference", "t 95 %", "bootstrap 95 %",
             "sign test", "detectable"],
            [[f"{found.a_mean:.2f}", f"{found.b_mean:.2f}", f"{found.difference:+.2f}",
              _interval(found.ci95), _interval(found.bootstrap95),
              f"{found.sign_test.a_ahead}:{found.sign_test.b_ahead}, p = {found.sign_test.p:.3f}",
              least]],
        )  # fmt: skip
        return f"{table}\n{_notes([*report.footnotes(a), *report.footnotes(b)])}"

    return answer(request, document, [row], markdown)


def items(
    request: Request,
    scope: ResultFilter,
    experiments: Sequence[str],
    found: Sequence[Item],
    rate: str,
) -> Any:
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

    return answer(request, document, rows, markdown)


def curves(request: Request, name: str, found: Curves) -> Any:
    """Medals over time, and the regret."""
    document = {"experiment": name, **asdict(found)}
    rows = [
        {"experiment": name, "axis": found.axis.value, "choice": choice.value, **asdict(point)}
        for choice, points in found.points.items()
        for point in points
    ]

    def markdown() -> str:
        moments = [point.at for point in next(iter(found.points.values()))]
        table = markdown_table(
            [found.axis.value, *(choice.value for choice in found.points)],
            [
                [f"{at:g}", *(f"{points[n].any_medal:.2f}" for points in found.points.values())]
                for n, at in enumerate(moments)
            ],
        )
        lines = [
            f"{choice.value}: {cost.regret:.2f} points below the oracle at the end."
            for choice, cost in found.regret.items()
        ]
        return f"{table}\n{_notes(lines)}"

    return answer(request, document, rows, markdown)


def competition(
    request: Request,
    slug: str,
    convention: str,
    facts: CompetitionInfo,
    lines: Sequence[CompetitionResult],
) -> Any:
    """All attempts at a competition."""
    rows = [asdict(line) for line in lines]
    document = {
        "competition": slug,
        "complexity": facts.complexity,
        "flags": [{"competition": slug, "code": code, "note": note} for code, note in facts.flags],
        "percentile_convention": convention,
        "percentile_source": PERCENTILES[convention].source,
        "items": rows,
    }

    def markdown() -> str:
        table = markdown_table(
            ["experiment", "seed", "score", "medal", "percentile", "improvement", "state",
             "reported"],
            [
                [one.experiment, one.seed, _plain(one.score), one.medal or "",
                 _plain(one.percentile), _plain(one.improvement), one.state,
                 f"{_plain(one.reported_score)} {one.reported_sort or ''}".strip()]
                for one in lines
            ],
        )  # fmt: skip
        return f"{table}\n{_notes([f'{code}: {note}' for code, note in facts.flags])}"

    return answer(request, document, rows, markdown)


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def _interval(pair: tuple[float, float] | None) -> str:
    return "not known" if pair is None else f"{pair[0]:.2f} to {pair[1]:.2f}"


def _notes(lines: Sequence[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)
