"""Which scores are nearer to a medal line than their noise, for marks in tables."""

from __future__ import annotations

from collections.abc import Mapping

from app.services.results.noise.experiment_noise import ONE_ERROR
from app.services.runtime.context import Context
from app.storage.queries.noise import uncertainties


def near_lines(context: Context, medals: Mapping[str, str | None]) -> frozenset[str]:
    """Those of these submissions that might as well have won another medal, or none.

    `medals` has the medal of each submission. Submissions whose noise nobody asked for are not
    among them.
    """
    with context.database.read() as session:
        kept = uncertainties.of_submissions(session, list(medals))
    return frozenset(
        one
        for one, found in kept.items()
        if found.medals is not None and found.medals[medals[one] or "none"] <= 1.0 - ONE_ERROR
    )
