"""Compare the final and the best score of a run with a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.baseline import Baseline, judge
from app.services.runtime.catalogue import CatalogueEntry


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """Compares scores with the baseline of a competition, declared or one of `others`."""

    threshold: float | None
    others: Mapping[str, Baseline]

    def __call__(
        self, entry: CatalogueEntry | None, slug: str, score: float | None, best: float | None
    ) -> dict[str, Any]:
        """Compare the final and the best score with the baseline."""
        declared = entry.competition if entry else None
        baseline = (declared.baseline if declared else None) or self.others.get(slug)
        found: dict[str, Any] = {
            "baseline": baseline, "threshold": None, "improvement": None, "success": False,
            "best_improvement": None, "ever": False,
            "higher_is_better": declared.metric.higher_is_better if declared else None,
        }  # fmt: skip
        if baseline is None or declared is None:
            return {**found, "baseline": None}
        limit = baseline.success_threshold if self.threshold is None else self.threshold
        higher = declared.metric.higher_is_better
        found["threshold"] = limit
        if score is not None:
            comparison = judge(score, baseline.score, limit, higher_is_better=higher)
            found |= {"improvement": comparison.improvement, "success": comparison.success}
        if best is not None:
            comparison = judge(best, baseline.score, limit, higher_is_better=higher)
            found |= {"best_improvement": comparison.improvement, "ever": comparison.success}
        return found
