"""Feedback policies: what a run's own key may learn about its submissions."""

from __future__ import annotations

from enum import StrEnum


class Feedback(StrEnum):
    """The policy of a run, from telling nothing to telling all.

    - `none`: that the bytes arrived
    - `validity`: whether the file was graded or rejected, and why rejected; no number
    - `public`: also the score on the public part of the answers
    - `full`: everything a researcher sees
    """

    NONE = "none"
    VALIDITY = "validity"
    PUBLIC = "public"
    FULL = "full"

    @property
    def shows_state(self) -> bool:
        """Whether the outcome of grading is told."""
        return self is not Feedback.NONE

    @property
    def shows_public_score(self) -> bool:
        """Whether the public score is told."""
        return self in (Feedback.PUBLIC, Feedback.FULL)

    @property
    def shows_everything(self) -> bool:
        """Whether private score, place, medal and the human board are told."""
        return self is Feedback.FULL
