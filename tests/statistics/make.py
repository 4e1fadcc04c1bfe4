"""Attempts for tests of statistics."""

from __future__ import annotations

import random

from app.domain.medals import Medal
from app.statistics.attempt_columns import Attempt

MEDALS = (Medal.GOLD, Medal.SILVER, Medal.BRONZE, None, None)


def attempt(competition: str, seed: int, medal: str | None = None, **over: object) -> Attempt:
    """A valid attempt; with a medal it is above the median too."""
    fields = {
        "made": True, "valid": True, "above_median": medal is not None,
        "medal": Medal(medal) if medal else None, **over,
    }  # fmt: skip
    return Attempt("an-experiment", competition, seed, **fields)  # type: ignore[arg-type]


def random_attempts(
    competitions: int, seeds: int, chance: random.Random, experiment: str = "an-experiment"
) -> list[Attempt]:
    """Attempts of all kinds at every competition with every seed."""
    found = []
    for c in range(competitions):
        for seed in range(seeds):
            medal = chance.choice(MEDALS)
            valid = medal is not None or chance.random() < 0.7
            found.append(
                Attempt(
                    experiment=experiment,
                    competition=f"c{c:03}",
                    seed=seed,
                    made=valid or chance.random() < 0.5,
                    valid=valid,
                    medal=medal,
                    above_median=valid and chance.random() < 0.5,
                )
            )
    return found
