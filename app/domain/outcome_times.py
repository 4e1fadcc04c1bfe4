"""When a run's key may see an outcome, so that the time does not tell how long grading took.

Some metrics take longer for files that are further from the answers. So an outcome is not shown
when it is there, but at the next of a few moments after the file was received.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

LONGEST_STEP = 64  # the steps double until this many times the first one, and stay as long then


def shown_at(received_at: datetime, settled_at: datetime, step: float) -> datetime:
    """The first moment at or after `settled_at` at which an outcome may be shown.

    The moments are 1, 2, 4, ... 64, 128, 192, ... times `step` seconds after `received_at`. With a
    `step` of 0 every moment is one.

    >>> received = datetime(2026, 1, 1)
    >>> [
    ...     (shown_at(received, received + timedelta(seconds=s), 1.0) - received).total_seconds()
    ...     for s in (0, 0.01, 1, 1.2, 5, 64.5, 129)
    ... ]
    [1.0, 1.0, 1.0, 2.0, 8.0, 128.0, 192.0]
    """
    if step <= 0:
        return settled_at
    passed = (settled_at - received_at).total_seconds() / step
    if passed < -LONGEST_STEP:  # the clock was set back in between: see `is_shown`
        return settled_at
    passed = max(passed, 1.0)
    if passed > LONGEST_STEP:
        steps = math.ceil(passed / LONGEST_STEP) * LONGEST_STEP
    else:
        steps = 2 ** math.ceil(math.log2(passed))
    return received_at + timedelta(seconds=steps * step)


def is_shown(received_at: datetime, settled_at: datetime, now: datetime, step: float) -> bool:
    """Whether the outcome of a settled submission may be shown at the time `now`.

    A file that was received in the future was received before the clock was set back. Nobody can
    tell how long ago that was, and its outcome is not hidden until that time comes again. Clocks of
    servers that differ by less than the longest step have no effect.

    >>> received = datetime(2026, 1, 1)
    >>> [
    ...     is_shown(received, received, received + timedelta(seconds=s), 1.0)
    ...     for s in (-3600, -64, 0.5, 1)
    ... ]
    [True, False, False, True]
    """
    if (received_at - now).total_seconds() > LONGEST_STEP * step:
        return True
    return now >= shown_at(received_at, settled_at, step)
