"""The result of a grading, in a module of its own: the server need not import the graders' code."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.leaderboard import Standing
from app.domain.verdict import Notice


@dataclass(frozen=True, slots=True)
class Sketch:
    """A fingerprint of at most 512 bytes, to compare the predictions of two files.

    `rows` is the number of rows. `blocks` are digests of 64 runs of neighbouring rows, 4 bytes
    each; `cells` are 64 numbers of the file as float32, always at the same places, or empty where
    no column has numbers. It is made of the submission alone, not of the answers.
    """

    rows: int
    blocks: bytes
    cells: bytes


@dataclass(frozen=True, slots=True)
class Graded:
    """A graded submission. Scores are unrounded.

    `score` is on the private part of the answers, or on all rows if there are no parts. Only it
    determines the standing; `public_score` is on the public part and `search_score` on the search
    part, None where there is none. `sketch` is of the predictions; it decides nothing.
    """

    score: float
    public_score: float | None
    standing: Standing | None
    warnings: tuple[Notice, ...]
    search_score: float | None = None
    sketch: Sketch | None = None
