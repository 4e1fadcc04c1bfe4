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
    return frozenset(one for one, found in kept.items() if is_near(medals[one], found.medals))


def is_near(medal: str | None, chances: Mapping[str, float] | None) -> bool:
    """Whether a score with this medal might as well have won another one, or none.

    >>> is_near("gold", {"gold": 0.6, "none": 0.4}), is_near(None, {"none": 0.9})
    (True, False)
    """
    return chances is not None and chances[medal or "none"] <= 1.0 - ONE_ERROR
