"""The words and letters for the outcome of a run, on pages and in pictures."""

from __future__ import annotations

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
