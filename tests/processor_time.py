"""Comparisons of two actions by their processor time, which hold on slow and busy machines."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_TURNS = 12


def takes_at_most(factor: float, action: Callable[[], object], other: Callable[[], object]) -> bool:
    """Whether an action takes at most `factor` times as long as another.

    The least processor time of several turns counts: a busy machine makes some turns slow, an
    algorithm that is slow all of them. Nothing is repeated once the action is quick enough.
    """
    least = [float("inf")] * 2
    for _ in range(MOST_TURNS):
        for number, act in enumerate((other, action)):
            started = time.process_time()
            act()
            least[number] = min(least[number], time.process_time() - started)
        if least[1] <= factor * least[0]:
            return True
    return False
