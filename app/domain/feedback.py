"""Feedback policies: the results of its submissions that a run's own key may see."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.domain.competition import Flag  # it loads pydantic, which commands need only to run


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
