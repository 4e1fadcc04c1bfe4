"""The kinds of signals, and how much attention each needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Signal(StrEnum):
    """Unusual properties of a graded submission. None of them is a verdict."""

    PERFECT_SCORE = "perfect_score"  # the score is at the metric's bound or beyond it
    BEYOND_HUMANS = "beyond_humans"  # better than every team by a margin
    SAME_FILE = "same_file"  # the bytes of a file of another experiment
    SAME_PREDICTIONS = "same_predictions"  # another file, and equal or nearly equal predictions
    SAMPLE_SUBMISSION = "sample_submission"  # the predictions of the sample submission
    KNOWN_LEAK = "known_leak"  # a file that an admin listed as leaked answers
    PUBLIC_FAR_FROM_PRIVATE = "public_far_from_private"
    PROBING = "probing"  # many submissions that differ in few rows
    FAST_NEAR_PERFECT = "fast_near_perfect"  # as good as the best team within minutes


class Level(StrEnum):
    """How much attention a signal needs."""

    ANNOTATE = "annotate"  # worth knowing; honest runs have it too
    REVIEW = "review"  # a person should look at the run


@dataclass(frozen=True, slots=True)
class Finding:
    """A signal of one submission. `detail` has the numbers behind it."""

    signal: Signal
    level: Level
    detail: dict[str, Any] = field(default_factory=dict)
