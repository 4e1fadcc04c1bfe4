"""The comparison of two experiments in one sentence: who is ahead, by how much, and how sure."""

from __future__ import annotations

from app.domain.wording import counted
from app.statistics.comparison import Comparison

ALL_POINTS = 100.0


def comparison_sentence(a: str, b: str, found: Comparison, rate: str) -> str:
    """Who is ahead, by how many percentage points, and whether chance explains it.

    The interval is Student's t over competitions; the sentence says so if there is none.
    """
    what = rate.replace("_", " ")
    over = f"over {counted(found.competitions, 'competition')}"
    if found.difference == 0:
        lead = f"{a} and {b} have the same rate of {what}, {found.a_mean:.1f} %, {over}."
    else:
        first, second = (a, b) if found.difference > 0 else (b, a)
        points = abs(found.difference)
        lead = f"{first} is ahead of {second} by {points:.1f} points of {what} {over}"
        lead += f" ({found.a_mean:.1f} % for {a}, {found.b_mean:.1f} % for {b})."
    if found.ci95 is None:
        if found.competitions == 1:
            return f"{lead} One competition shows no spread, so no interval is known."
        return f"{lead} The competitions show no spread, so no interval is known."
    low, high = found.ci95
    if found.difference < 0:
        low, high = -high, -low
    known = f"95 % interval: {low:.1f} to {high:.1f} points."
    if low > 0:
        return f"{lead} {known} The difference is more than chance."
    least = ""
    if found.detectable is not None and found.detectable > ALL_POINTS:
        least = (
            " So few and so different competitions cannot show any difference with a power of 80 %."
        )
    elif found.detectable is not None:
        least = (
            f" A true difference of {found.detectable:.1f} points would be found in 80 % of such "
            "comparisons."
        )
    return f"{lead} {known} The difference cannot be told from chance.{least}"
