"""The costs of runs: averages, and successes for each unit of cost.

Each number is over the runs that reported the cost, and comes with the number of these runs.
Averages and successes per unit weigh all runs equally: they are ratios of sums over the same runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from app.units import HOUR

MILLION = 1_000_000.0


class Usage(NamedTuple):
    """The usage of one run; None means not known, not 0."""

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
# The name of a rate, the cost that it divides by, and the size of one unit.
PER = (
    ("million_tokens", "tokens", MILLION),
    ("hour", "seconds", HOUR),
    ("dollar", "cost_usd", 1.0),
    ("step", "steps", 1.0),
)


@dataclass(frozen=True, slots=True)
class Average:
    """The mean over the runs that reported it; None where no run did."""

    mean: float | None
    runs: int


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Averages of each cost, and successes per unit of it (None where the cost is 0)."""

    averages: dict[str, Average]
    successes_per: dict[str, float | None]


def efficiency(runs: Sequence[tuple[Usage, bool]]) -> Efficiency:
    """The efficiency of runs, given the usage of each and whether it succeeded.

    >>> found = efficiency([(Usage(cost_usd=1.0), True), (Usage(cost_usd=3.0), False)])
    >>> found.averages["cost_usd"].mean, found.successes_per["dollar"]
    (2.0, 0.25)
    """
    averages, known = {}, {}
    for name in COSTS:
        known[name] = [
            (amount, success)
            for usage, success in runs
            if (amount := getattr(usage, name)) is not None
        ]
        amounts = [amount for amount, _ in known[name]]
        averages[name] = Average(fmean(amounts) if amounts else None, len(amounts))
    per: dict[str, float | None] = {}
    for name, cost, unit in PER:
        total = sum(amount for amount, _ in known[cost]) / unit
        per[name] = sum(success for _, success in known[cost]) / total if total else None
    return Efficiency(averages, per)
