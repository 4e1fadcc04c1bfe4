"""The facts that every report of experiments states beside its numbers."""

from __future__ import annotations

from typing import Any

from app.services.results.experiment_results import ResultContext


def context_document(basis: ResultContext) -> dict[str, Any]:
    """The choices and facts that the numbers rest on, for JSON."""
    disclosed = basis.disclosed
    return {
        "experiment": basis.experiment.name,
        "agent": basis.experiment.agent,
        "model": basis.experiment.model,
        "suite": basis.filters.suite,
        "padding": basis.filters.padding.value,
        "exclude_flags": list(basis.filters.exclude_flags),
        "excluded_as": basis.filters.excluded.value,
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


def context_columns(basis: ResultContext) -> dict[str, Any]:
    """The same for flat rows, in brief: the exposure of the agents, and flags joined by commas."""
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


def footnotes(basis: ResultContext) -> list[str]:
    """What a reader of the numbers has to know, a line each."""
    scope, totals = basis.filters, basis.disclosed
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
