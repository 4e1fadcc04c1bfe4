"""What runs cost: averages, and successes for each unit of cost.

Only runs whose cost was told are in a number, and how many they are stands beside it. Averages and
successes per unit weigh every run alike: they are sums over the same runs, divided by one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

MILLION = 1_000_000.0
HOUR = 3600.0


class Usage(NamedTuple):
    """What one run used; None is not known, and is not 0."""

    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    steps: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> float | None:
        """Prompt and completion together; None unless both are known."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


COSTS = ("prompt_tokens", "completion_tokens", "tokens", "steps", "seconds", "cost_usd")
# The name of a rate, what it divides by, and how much of it is one unit.
PER = (
    ("million_tokens", "tokens", MILLION),
    ("hour", "seconds", HOUR),
    ("dollar", "cost_usd", 1.0),
    ("step", "steps", 1.0),
)


@dataclass(frozen=True, slots=True)
class Average:
    """The mean over the runs that told it; `mean` is None where none did."""

    mean: float | None
    runs: int


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Averages of each cost, and successes per unit of it (None where nothing was spent)."""

    averages: dict[str, Average]
    successes_per: dict[str, float | None]


def efficiency(runs: Sequence[tuple[Usage, bool]]) -> Efficiency:
    """What these runs spent, and what that bought; each comes with whether it succeeded.

    >>> found = efficiency([(Usage(cost_usd=1.0), True), (Usage(cost_usd=3.0), False)])
    >>> found.averages["cost_usd"].mean, found.successes_per["dollar"]
    (2.0, 0.25)
    """
    averages, told = {}, {}
    for name in COSTS:
        told[name] = [
            (spent, success) for one, success in runs if (spent := getattr(one, name)) is not None
        ]
        amounts = [spent for spent, _ in told[name]]
        averages[name] = Average(fmean(amounts) if amounts else None, len(amounts))
    per: dict[str, float | None] = {}
    for name, cost, unit in PER:
        total = sum(spent for spent, _ in told[cost]) / unit
        per[name] = sum(success for _, success in told[cost]) / total if total else None
    return Efficiency(averages, per)
