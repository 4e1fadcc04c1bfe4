"""Feedback policies: the results of its submissions that a run's own key may see, and when.

Some metrics take longer for files that are further from the answers. Under a policy that hides
times, an outcome is therefore not shown when it is there, but at the next of a few moments after
the file was received.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.domain.competition import Flag  # it loads pydantic, which commands need only to run

LONGEST_STEP = 64  # the steps double until this many times the first one, and stay as long then


class Feedback(StrEnum):
    """The feedback policy of a run, from no results to all results.

    - `none`: that the bytes arrived
    - `validity`: whether the file was graded or rejected, and why rejected; no number
    - `search`: also the score on the search part of the answers, the rows to search on
    - `public`: the score on the public part of the answers instead
    - `full`: everything a researcher sees
    """

    NONE = "none"
    VALIDITY = "validity"
    SEARCH = "search"
    PUBLIC = "public"
    FULL = "full"

    @property
    def shows_state(self) -> bool:
        """Whether the outcome of grading is shown."""
        return self is not Feedback.NONE

    @property
    def hides_time(self) -> bool:
        """Whether an outcome is shown at set moments only, because its time would tell a score."""
        return self in (Feedback.VALIDITY, Feedback.SEARCH, Feedback.PUBLIC)

    @property
    def shows_a_score(self) -> bool:
        """Whether any score is shown."""
        return self.shows_search_score or self.shows_public_score

    @property
    def shows_search_score(self) -> bool:
        """Whether the score on the search part is shown."""
        return self in (Feedback.SEARCH, Feedback.FULL)

    @property
    def shows_public_score(self) -> bool:
        """Whether the public score is shown."""
        return self in (Feedback.PUBLIC, Feedback.FULL)

    @property
    def shows_everything(self) -> bool:
        """Whether private score, place, medal and the human board are shown."""
        return self is Feedback.FULL


def visible_flags(flags: Sequence[Flag], policy: Feedback | None) -> list[dict[str, str]]:
    """The flags that a caller may see; `policy` is None for researchers and admins.

    The notes are written for readers of results. Some say where labels can be found, so a run's key
    sees no note: under `full` it sees the codes, otherwise nothing.

    >>> from app.domain.competition import Flag
    >>> flags = [Flag(code="labels_public", note="The labels are in ...")]
    >>> visible_flags(flags, Feedback.FULL), visible_flags(flags, Feedback.VALIDITY)
    ([{'code': 'labels_public', 'note': ''}], [])
    """
    if policy is None:
        return [flag.model_dump() for flag in flags]
    return [{"code": flag.code, "note": ""} for flag in flags if policy.shows_everything]


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
