"""Results as documents, as flat rows, and as the Markdown that goes into papers and READMEs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.services.results.experiment_results import ResultContext
from app.statistics.attempts import RATES
from app.statistics.estimates import Estimate
from app.statistics.rates import ALL, GroupRates

HEADINGS = {
    "low": "Low == Lite (%)", "medium": "Medium (%)", "high": "High (%)", ALL: "All (%)",
}  # fmt: skip
NOT_KNOWN = "not known"


def basis_document(basis: ResultContext) -> dict[str, Any]:
    """What the numbers rest on."""
    disclosed = basis.disclosed
    return {
        "experiment": basis.experiment.name,
        "agent": basis.experiment.agent,
        "model": basis.experiment.model,
        "suite": basis.scope.suite,
        "padding": basis.scope.padding.value,
        "exclude_flags": list(basis.scope.exclude_flags),
        "excluded_as": basis.scope.excluded.value,
        "excluded": list(basis.excluded),
        "seeds": len(basis.grid.seeds),
        "seed_numbers": list(basis.grid.seeds),
        "competitions": len(basis.grid.competitions),
        "missing": [
            {"competition": slug, "seed": seed, "reason": reason}
            for slug, seed, reason in basis.missing
        ],
        "open_runs": basis.open,
        "imported": basis.imported,
        "failures": dict(basis.failures),
        "exposure": {
            "policies": dict(basis.policies),
            "totals": {
                f"{kind}s": disclosed.get(kind, 0)
                for kind in ("validation", "public_score", "private_score")
            },
            "unknown": basis.imported,
        },
        "flags": [
            {"competition": slug, "code": code, "note": note} for slug, code, note in basis.flags
        ],
    }


def basis_columns(basis: ResultContext) -> dict[str, Any]:
    """What flat rows say of that: how much was told to the agents, and the flags, with commas."""
    disclosed = basis.disclosed
    return {
        "missing": len(basis.missing),
        "policies": ",".join(sorted(basis.policies)),
        "validations": disclosed.get("validation", 0),
        "public_scores": disclosed.get("public_score", 0),
        "private_scores": disclosed.get("private_score", 0),
        "exposure_unknown": basis.imported,
        "flags": ",".join(sorted({code for _, code, _ in basis.flags})),
        "excluded": ",".join(basis.excluded),
    }


def rates_document(basis: ResultContext, groups: Mapping[str, GroupRates]) -> dict[str, Any]:
    """Medal rates as JSON has them."""
    shown = {
        name: {
            "competitions": group.competitions,
            "seeds": group.seeds,
            **{rate: asdict(group.rates[rate]) for rate in RATES},
        }
        for name, group in groups.items()
    }
    return {**basis_document(basis), "groups": shown}


def rates_rows(basis: ResultContext, groups: Mapping[str, GroupRates]) -> list[dict[str, Any]]:
    """Medal rates as flat rows: one for each group and rate."""
    rows = []
    for name, group in groups.items():
        for rate in RATES:
            one = group.rates[rate]
            rows.append(
                {
                    "experiment": basis.experiment.name,
                    "agent": basis.experiment.agent,
                    "model": basis.experiment.model,
                    "suite": basis.scope.suite,
                    "padding": basis.scope.padding.value,
                    "group": name,
                    "competitions": group.competitions,
                    "seeds": group.seeds,
                    "rate": rate,
                    "mean": one.mean,
                    "sem": one.sem,
                    "ci95_low": one.ci95[0] if one.ci95 else None,
                    "ci95_high": one.ci95[1] if one.ci95 else None,
                    "bootstrap95_low": one.bootstrap95[0] if one.bootstrap95 else None,
                    "bootstrap95_high": one.bootstrap95[1] if one.bootstrap95 else None,
                    **basis_columns(basis),
                }
            )
    return rows


def plus_minus(one: Estimate) -> str:
    """The mean and its SEM as boards print them.

    >>> plus_minus(Estimate(62.1212, 1.5151, None, None, ()))
    '62.12 ± 1.52'
    """
    spread = "" if one.sem is None else f" ± {one.sem:.2f}"
    return f"{one.mean:.2f}{spread}"


def board_columns(groups: Sequence[str]) -> list[str]:
    """A board's groups in the order of MLE-bench's README: all of them last."""
    return [*(name for name in groups if name != ALL), ALL]


def board_header(groups: Sequence[str]) -> list[str]:
    """The heading of a board with these groups."""
    columns = [HEADINGS.get(name, f"{name} (%)") for name in board_columns(groups)]
    return ["Agent", "LLM(s) used", *columns, "Running Time (hours)", "Seeds"]


def board_row(
    basis: ResultContext, groups: Mapping[str, GroupRates], columns: Sequence[str]
) -> list[str]:
    """An experiment's row: any-medal rate ± SEM in each column."""
    cells = [
        plus_minus(groups[name].rates["any_medal"]) if name in groups else NOT_KNOWN
        for name in board_columns(columns)
    ]
    hours = (basis.experiment.resources or {}).get("hours")
    told = NOT_KNOWN if hours is None else f"{hours:g}"
    return [
        basis.experiment.agent,
        basis.experiment.model,
        *cells,
        told,
        str(len(basis.grid.seeds)),
    ]


def footnotes(basis: ResultContext) -> list[str]:
    """What a reader of the numbers has to know, a line each."""
    scope, totals = basis.scope, basis.disclosed
    where = f"suite {scope.suite}" if scope.suite else "all its competitions"
    count, seeds = len(basis.grid.competitions), len(basis.grid.seeds)
    about = f"{where}, {count} competitions, {seeds} seeds"
    lines = [f"{basis.experiment.name}: {about}; any medal, mean ± SEM over seeds (ddof = 1)."]
    if len(basis.grid.seeds) == 1:
        lines.append("One seed: the spread between seeds is not known.")
    if basis.missing:
        what = "count as failures" if scope.padding.value == "fail" else "leave their seed out"
        lines.append(f"{len(basis.missing)} missing results {what} (padding={scope.padding}).")
    if basis.excluded:
        how = "left out" if scope.excluded.value == "drop" else "counted as failures"
        flags = ", ".join(scope.exclude_flags)
        lines.append(f"Flagged {flags}, {how}: {', '.join(basis.excluded)}.")
    if basis.open:
        lines.append(f"{basis.open} runs are still open: their last valid submission counts.")
    if basis.policies:
        policies = ", ".join(f"{count} {name}" for name, count in sorted(basis.policies.items()))
        lines.append(
            f"Feedback: {policies}. Told to the agents: {totals.get('validation', 0)} validations, "
            f"{totals.get('public_score', 0)} public scores, "
            f"{totals.get('private_score', 0)} private scores."
        )
    if basis.failures:
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(basis.failures.items()))
        lines.append(f"Failures of runs: {told}.")
    if basis.imported:
        lines.append(f"{basis.imported} imported results: what those agents were told is unknown.")
    codes: dict[str, list[str]] = {}
    for slug, code, _ in basis.flags:
        codes.setdefault(code, []).append(slug)
    lines += [f"Flag {code}: {', '.join(slugs)}." for code, slugs in sorted(codes.items())]
    return lines
