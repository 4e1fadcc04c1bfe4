"""The report of success rates against baselines."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from math import isfinite
from typing import Any

from app.domain.result_choices import Padding
from app.domain.wording import are, counted
from app.reports.document.footnotes import exclusion_notes, flag_notes, regrade_note
from app.reports.document.page import Marked, ReportPage, Table
from app.reports.document.report import Report
from app.reports.document.tables import QUESTIONS, cell, interval_cell
from app.services.results.missing_results import ALL_LOST, Missing
from app.services.results.success_rates import SuccessResults
from app.statistics.efficiency import COSTS
from app.statistics.rates import ALL
from app.statistics.success import KINDS, GroupSuccess, Improvement, Rate, all_last

RATES = ("success_rate", "ever_success_rate")


def success_report(found: SuccessResults) -> Report:
    """An experiment's success rates."""
    return Report(_success_document(found), _success_rows(found), lambda: _success_page(found))


def _success_page(found: SuccessResults) -> ReportPage:
    """A line for each group, and footnotes."""
    table = Table(_SUCCESS_HEADER, _success_cells(found))
    return ReportPage([table], _success_footnotes(found))


def _success_document(found: SuccessResults) -> dict[str, Any]:
    """Success rates for JSON."""
    scope = found.scope.filters
    return {
        "experiment": found.experiment.name,
        "agent": found.experiment.agent,
        "model": found.experiment.model,
        "suite": scope.suite,
        "threshold": found.scope.threshold,
        "padding": scope.padding.value,
        "baselines": found.scope.baselines.value,
        "starter": found.scope.starter,
        "exclude_flags": list(scope.exclude_flags),
        "excluded_as": scope.excluded.value,
        "excluded": list(found.excluded),
        "competitions": len(found.competitions),
        "runs": found.groups[ALL].runs,
        "results": found.groups[ALL].results,
        "missing": [asdict(one) for one in found.missing],
        "missing_baseline": [
            {"competition": slug, "runs": runs} for slug, runs in found.missing_baseline.items()
        ],
        "lost": found.lost[ALL],
        "failures": dict(sorted(found.failures.items())),
        "open_runs": found.open,
        "uncounted_beside": found.other_scores,
        "baselines_used": [asdict(one) for one in found.baselines],
        "flags": [
            {"competition": slug, "code": code, "note": note} for slug, code, note in found.flags
        ],
        "regrades": [asdict(one) for one in found.regrades],
        "archived_competitions": list(found.archived_competitions),
        "groups": {
            name: {**asdict(group), "lost": found.lost[name]}
            for name, group in found.groups.items()
        },
    }


def _success_rows(found: SuccessResults) -> list[dict[str, Any]]:
    """Success rates as flat rows: one for each group."""
    return [
        {
            "experiment": found.experiment.name,
            "agent": found.experiment.agent,
            "model": found.experiment.model,
            "suite": found.scope.filters.suite,
            "threshold": found.scope.threshold,
            "group": name,
            "competitions": group.competitions,
            "runs": group.runs,
            **{kind: group.results[kind] for kind in KINDS},
            "without_score": group.without_score,
            "lost": sum(found.lost[name].values()),
            **_rate_columns(group),
            "average_improvement": group.average_improvement.mean,
            "average_improvement_sem": group.average_improvement.sem,
            "median_improvement": group.average_improvement.median,
            "improvement_runs": group.average_improvement.runs,
            **_cost_columns(group),
            "missing": len(found.missing),
            "missing_baseline": ",".join(found.missing_baseline),
            "flags": ",".join(sorted({code for _, code, _ in found.flags})),
            "excluded": ",".join(found.excluded),
            "regrades": ",".join(one.id for one in found.regrades),
            "archived_competitions": ",".join(found.archived_competitions),
        }
        for name, group in found.groups.items()
    ]


def _rate_columns(group: GroupSuccess) -> dict[str, float | None]:
    columns: dict[str, float | None] = {}
    for name in RATES:
        rate: Rate | None = getattr(group, name)
        columns |= {name: rate.mean if rate else None, f"{name}_sem": rate.sem if rate else None}
        for kind in ("wilson95", "bootstrap95", "runs95", "competitions95"):
            low, high = (getattr(rate, kind) if rate else None) or (None, None)
            columns |= {f"{name}_{kind}_low": low, f"{name}_{kind}_high": high}
    return columns


def _cost_columns(group: GroupSuccess) -> dict[str, float | None]:
    columns: dict[str, float | None] = {}
    for cost in COSTS:
        average = group.efficiency.averages[cost]
        columns |= {f"average_{cost}": average.mean, f"{cost}_runs": average.runs}
    for unit, value in group.efficiency.successes_per.items():
        columns[f"successes_per_{unit}"] = value
    return columns


_SUCCESS_HEADER = [
    "group", "runs", "graded / reported / imported", "success (%)",
    *QUESTIONS, "at any step (%)",
    "improvement", "lost", "tokens", "hours", "dollars", "successes per dollar",
]  # fmt: skip


def _success_cells(found: SuccessResults) -> list[list[str | Marked]]:
    """The lines of the Markdown table: one for each group, the group "all" last."""
    padding = found.scope.filters.padding
    lines: list[list[str | Marked]] = []
    for name, group in all_last(found.groups):
        rate = group.success_rate
        average = {cost: group.efficiency.averages[cost].mean for cost in COSTS}
        seconds = average["seconds"]
        ends = (rate.runs95, rate.competitions95) if rate else (None, None)
        rates = [rate_cell(rate), *map(interval_cell, ends), rate_cell(group.ever_success_rate)]
        missing = _missing(found, name).items()
        notes = [f"{len(them)} missing: such results {how} ({padding=!s})" for how, them in missing]
        lines.append(
            [
                name,
                str(group.runs),
                " / ".join(str(group.results[kind]) for kind in KINDS),
                *(Marked(text, tuple(notes)) if notes else text for text in rates),
                _improvement(group.average_improvement),
                str(sum(found.lost[name].values())),
                cell(average["tokens"]),
                cell(None if seconds is None else seconds / 3600),
                cell(average["cost_usd"]),
                cell(group.efficiency.successes_per["dollar"]),
            ]
        )
    return lines


def _missing(found: SuccessResults, group: str) -> dict[str, list[Missing]]:
    """The missing results of a group, by how they count."""
    by: dict[str, list[Missing]] = {}
    for one in found.missing:
        if one.competition in found.members[group]:
            fails = found.scope.filters.padding is Padding.FAIL and one.reason != ALL_LOST
            by.setdefault("count as failures" if fails else "are left out", []).append(one)
    return by


def _success_footnotes(found: SuccessResults) -> list[str]:
    """Footnotes for readers of the rates, one line each."""
    scope, everything, threshold = found.scope.filters, found.groups[ALL], found.scope.threshold
    where = f"suite {scope.suite}" if scope.suite else "all its competitions"
    limit = "each baseline's own threshold" if threshold is None else f"{100 * threshold:g} %"
    kinds = ", ".join(f"{everything.results[kind]} {kind}" for kind in KINDS)
    lines = [
        (
            f"{found.experiment.name}: {where}, {everything.competitions} of "
            f"{counted(len(found.competitions), 'competition')}, "
            f"{counted(everything.runs, 'run')}. A success improves "
            f"on the baseline by more than {limit}; rates are means over competitions ± SEM."
        ),
        f"Final scores: {kinds}; failures without one: {everything.without_score}.",
    ]
    if found.lost[ALL]:
        lost = ", ".join(f"{count} {kind}" for kind, count in found.lost[ALL].items())
        lines.append(f"Left out, because they were lost to infrastructure: {lost}.")
    if found.missing_baseline:
        skipped = ", ".join(
            f"{slug} ({counted(runs, 'run')})" for slug, runs in found.missing_baseline.items()
        )
        lines.append(f"Left out, because no baseline is known: {skipped}.")
    for how, them in _missing(found, ALL).items():
        missing = ", ".join(
            one.competition + ("" if one.seed is None else f" seed {one.seed}") + f" ({one.reason})"
            for one in them
        )
        lines.append(f"Missing results {how}: {missing}.")
    lines += exclusion_notes(scope, found.excluded, found.archived_competitions)
    if found.open:
        lines.append(f"{are(found.open, 'run')} still open: the last score counts.")
    if found.other_scores:
        lines.append(f"{counted(found.other_scores, 'score')} of another kind, not counted.")
    lines += [
        f"Baseline of {one.competition}: {one.score:g} ({one.source}), "
        + ("higher" if one.higher_is_better else "lower")
        + f" is better, more than {threshold_in_percent(one.threshold)} %."
        for one in found.baselines
    ]
    lines += [regrade_note(one) for one in found.regrades]
    return lines + flag_notes(found.flags)


def rate_cell(rate: Rate | None) -> str:
    """A rate with its standard error, for a table."""
    if rate is None:
        return "no run"
    return f"{rate.mean:.1f}" + ("" if rate.sem is None else f" ± {rate.sem:.1f}")


def _improvement(found: Improvement) -> str:
    return "not known" if found.mean is None else f"{improvement_in_percent(found.mean)} %"


def improvement_in_percent(share: float) -> str:
    """An improvement with its sign and four digits, also where its percent is no double.

    >>> improvement_in_percent(0.1), improvement_in_percent(-1.7e308)
    ('+10', '-1.700e+310')
    """
    percent = 100 * share
    return f"{percent:+.4g}" if isfinite(percent) else f"{100 * Decimal(share):+.4g}".lower()


def threshold_in_percent(share: float) -> str:
    """A threshold with at most six digits, also where its percent is no double.

    >>> threshold_in_percent(0.1), threshold_in_percent(1.7e308)
    ('10', '1.70000e+310')
    """
    percent = 100 * share
    return f"{percent:g}" if isfinite(percent) else f"{100 * Decimal(share):.6g}".lower()
