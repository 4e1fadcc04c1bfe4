"""Errors of the client. A file at fault is none of them: it is an outcome."""

from __future__ import annotations

from typing import Any


class PodiumError(Exception):
    """A request had no success."""


class PodiumAway(PodiumError):
    """Podium did not answer, or was busy until the end of the waiting time."""


class PodiumRefused(PodiumError):
    """Podium refused a request, or failed; `problem` is its problem document."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(
            f"{status}: {problem.get('detail') or problem.get('title') or 'no reason'}"
        )
        self.status = status
        self.problem = problem
