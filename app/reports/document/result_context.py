"""The context of the numbers in every report of experiments, as JSON and flat rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.services.results.inputs.scope import ResultContext
from app.storage.database.records import DISCLOSURE_KINDS, HARNESS


def context_document(context: ResultContext) -> dict[str, Any]:
    """The choices and the runs behind the numbers, for JSON."""
    disclosed = context.disclosed
    freeze = context.freeze
    frozen = freeze and {"receipt": freeze.receipt.id, "departures": list(freeze.departures)}
    return {
        "experiment": context.experiment.name,
        "agent": context.experiment.agent,
        "model": context.experiment.model,
        "suite": context.filters.suite,
        "padding": context.filters.padding.value,
        "exclude_flags": list(context.filters.exclude_flags),
        "excluded_as": context.filters.excluded.value,
        "excluded": list(context.excluded),
        "archived": context.filters.archived,
        "as_of": context.filters.basis.as_of,
        "regrades": [asdict(one) for one in context.regrades],
        "reviews": context.filters.reviews.value,
        "excluded_runs": [{"competition": slug, "seed": seed} for slug, seed in context.reviewed],
        "with_excluded": context.with_excluded,
        "seeds": len(context.grid.seeds),
        "seed_numbers": list(context.grid.seeds),
        "competitions": len(context.grid.competitions),
        "missing": [
            {"competition": slug, "seed": seed, "reason": reason}
            for slug, seed, reason in context.missing
        ],
        "outside_suite": context.outside,
        "open_runs": context.open,
        "imported": context.imported,
        "withdrawn": context.withdrawn,
        **({"freeze": frozen} if frozen else {}),
        # Sorted, because a database may return the same runs in another order.
        "failures": dict(sorted(context.failures.items())),
        "exposure": {
            "policies": dict(sorted(context.policies.items())),
            "totals": {f"{kind}s": disclosed.get(kind, 0) for kind in DISCLOSURE_KINDS},
            "harness_totals": {
                f"{kind}s": disclosed.get(f"{HARNESS}{kind}", 0) for kind in DISCLOSURE_KINDS
            },
            "unknown": context.imported,
        },
        "flags": [
            {"competition": slug, "code": code, "note": note} for slug, code, note in context.flags
        ],
        "archived_competitions": list(context.archived_competitions),
    }


CONTEXT = (
    "missing", "policies", "validations", "search_scores", "public_scores", "private_scores",
    "failures_shown", "harness_validations", "harness_private_scores", "harness_failures_shown",
    "exposure_unknown", "flags", "excluded", "regrades", "excluded_runs",
    "any_medal_with_excluded", "archived_competitions",
)  # fmt: skip


def context_columns(context: ResultContext) -> dict[str, Any]:
    """A summary of the context for flat rows: exposure, and flags joined by commas."""
    disclosed = context.disclosed
    return {
        "missing": len(context.missing),
        "policies": ",".join(sorted(context.policies)),
        "validations": disclosed.get("validation", 0),
        "search_scores": disclosed.get("search_score", 0),
        "public_scores": disclosed.get("public_score", 0),
        "private_scores": disclosed.get("private_score", 0),
        "failures_shown": disclosed.get("failure", 0),
        "harness_validations": disclosed.get(f"{HARNESS}validation", 0),
        "harness_private_scores": disclosed.get(f"{HARNESS}private_score", 0),
        "harness_failures_shown": disclosed.get(f"{HARNESS}failure", 0),
        "exposure_unknown": context.imported,
        "flags": ",".join(sorted({code for _, code, _ in context.flags})),
        "excluded": ",".join(context.excluded),
        "regrades": ",".join(one.id for one in context.regrades),
        "excluded_runs": len(context.reviewed),
        "any_medal_with_excluded": (context.with_excluded or {}).get("any_medal"),
        "archived_competitions": ",".join(context.archived_competitions),
    }
