"""The time axis of a run: where each submission is drawn, and the ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.services.submissions.disclose import Disclosed
from app.web.rendering.formats import HOUR, MINUTE

LEFT, RIGHT = 12.0, 948.0  # in a drawing of 960 units
STEPS = (1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR,
         12 * HOUR, 24 * HOUR, 72 * HOUR, 240 * HOUR)  # fmt: skip
MOST_TICKS = 12


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Positions in units of the picture: of each submission, and of ticks with their texts."""

    marks: tuple[tuple[float, Disclosed], ...]
    ticks: tuple[tuple[float, str], ...]


def time_axis(found: Sequence[Disclosed], hours: float | None) -> TimeAxis | None:
    """The axis of these submissions, up to the run's limit of hours; None without submissions."""
    if not found:
        return None
    last = max(one.submission.run_seconds for one in found)
    span = max(last, 1.0)
    if hours is not None and hours * HOUR < 4 * span:
        span = max(span, hours * HOUR)

    def at(seconds: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * max(0.0, seconds) / span, 1)

    step = next((each for each in STEPS if span / each <= MOST_TICKS), STEPS[-1])
    count = min(int(span // step), 100)
    ticks = tuple((at(n * step), _label(n * step)) for n in range(count + 1))
    return TimeAxis(tuple((at(one.submission.run_seconds), one) for one in found), ticks)


def _label(seconds: int) -> str:
    if seconds == 0:
        return "0"
    if seconds % HOUR == 0:
        return f"{seconds // HOUR} h"
    return f"{seconds // MINUTE} min" if seconds % MINUTE == 0 else f"{seconds} s"
