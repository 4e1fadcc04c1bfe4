"""The context that every report of experiments gives with its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.services.results.experiment_results import ResultContext


def context_document(context: ResultContext) -> dict[str, Any]:
    """The choices and the runs behind the numbers, for JSON."""
    disclosed = context.disclosed
    return {
        "experiment": context.experiment.name,
        "agent": context.experiment.agent,
        "model": context.experiment.model,
        "suite": context.filters.suite,
        "padding": context.filters.padding.value,
        "exclude_flags": list(context.filters.exclude_flags),
        "excluded_as": context.filters.excluded.value,
        "excluded": list(context.excluded),
        "seeds": len(context.grid.seeds),
        "seed_numbers": list(context.grid.seeds),
        "competitions": len(context.grid.competitions),
        "missing": [
            {"competition": slug, "seed": seed, "reason": reason}
            for slug, seed, reason in context.missing
        ],
        "open_runs": context.open,
        "imported": context.imported,
        "failures": dict(context.failures),
        "exposure": {
            "policies": dict(context.policies),
            "totals": {
                f"{kind}s": disclosed.get(kind, 0)
                for kind in ("validation", "public_score", "private_score")
            },
            "unknown": context.imported,
        },
        "flags": [
            {"competition": slug, "code": code, "note": note} for slug, code, note in context.flags
        ],
    }


def context_columns(context: ResultContext) -> dict[str, Any]:
    """The context for flat rows, in brief: exposure, and flags joined by commas."""
    disclosed = context.disclosed
    return {
        "missing": len(context.missing),
        "policies": ",".join(sorted(context.policies)),
        "validations": disclosed.get("validation", 0),
        "public_scores": disclosed.get("public_score", 0),
        "private_scores": disclosed.get("private_score", 0),
        "exposure_unknown": context.imported,
        "flags": ",".join(sorted({code for _, code, _ in context.flags})),
        "excluded": ",".join(context.excluded),
    }


def footnotes(context: ResultContext) -> list[str]:
    """Footnotes for readers of the numbers, one line each."""
    scope, totals = context.filters, context.disclosed
    where = f"suite {scope.suite}" if scope.suite else "all its competitions"
    count, seeds = len(context.grid.competitions), len(context.grid.seeds)
    about = f"{where}, {count} competitions, {seeds} seeds"
    lines = [f"{context.experiment.name}: {about}; any medal, mean ± SEM over seeds (ddof = 1)."]
    if len(context.grid.seeds) == 1:
        lines.append("One seed: the spread between seeds is not known.")
    if context.missing:
        effect = "count as failures" if scope.padding.value == "fail" else "leave their seed out"
        lines.append(f"{len(context.missing)} missing results {effect} (padding={scope.padding}).")
    if context.excluded:
        how = "left out" if scope.excluded.value == "drop" else "counted as failures"
        flags = ", ".join(scope.exclude_flags)
        lines.append(f"Flagged {flags}, {how}: {', '.join(context.excluded)}.")
    if context.open:
        lines.append(f"{context.open} runs are still open: their last valid submission counts.")
    if context.policies:
        policies = ", ".join(f"{count} {name}" for name, count in sorted(context.policies.items()))
        lines.append(
            f"Feedback: {policies}. Told to the agents: {totals.get('validation', 0)} validations, "
            f"{totals.get('public_score', 0)} public scores, "
            f"{totals.get('private_score', 0)} private scores."
        )
    if context.failures:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(context.failures.items()))
        lines.append(f"Failures of runs: {counts}.")
    if context.imported:
        lines.append(
            f"{context.imported} imported results: what those agents were told is unknown."
        )
    return lines + flag_notes(context.flags)


def flag_notes(flags: Iterable[tuple[str, str, str]]) -> list[str]:
    """A line for each code, with its competitions, of (competition, code, note) flags.

    >>> flag_notes([("a", "leaky", "..."), ("b", "leaky", "...")])
    ['Flag leaky: a, b.']
    """
    codes: dict[str, list[str]] = {}
    for slug, code, _ in flags:
        codes.setdefault(code, []).append(slug)
    return [f"Flag {code}: {', '.join(slugs)}." for code, slugs in sorted(codes.items())]
