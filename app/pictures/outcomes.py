"""The words and letters for the outcome of a run, on pages and in pictures."""

from __future__ import annotations

from collections.abc import Mapping, Set

OUTCOMES = {
    "gold": "gold",
    "silver": "silver",
    "bronze": "bronze",
    "above_median": "above the median, no medal",
    "valid": "graded, not above the median",
    "reported": "reported by a harness, not graded",
    "rejected": "every file was rejected",
    "nothing": "closed without a file",
    "failed": "grading failed: not the file's fault",
    "pending": "open, being graded, or not counted",
    "missing": "no run",
}
LETTERS = {
    "gold": "G", "silver": "S", "bronze": "B", "above_median": "+", "valid": "·", "reported": "R",
    "rejected": "×", "nothing": "0", "failed": "!", "pending": "…", "missing": "–",
}  # fmt: skip
GRADED = "graded"  # where there is no median


def outcomes_at(has_medians: Set[bool]) -> Mapping[str, str]:
    """The words where graded results have a median, have none, or some of them have one.

    >>> [outcomes_at(each)["valid"] for each in ({True}, {False}, {True, False})]
    ['graded, not above the median', 'graded', 'graded, not above the median or without one']
    """
    if False not in has_medians:
        return OUTCOMES
    words = f"{OUTCOMES['valid']} or without one" if True in has_medians else GRADED
    return {**OUTCOMES, "valid": words}
