"""The interface by which the lifecycle of a grading gets claims and writes outcomes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Protocol, TypeVar

from app.domain.states import SubmissionState
from app.graders.messages.results import GradingResult


class Claim(Protocol):
    """A submission that this process has to grade. `attempts` includes this attempt."""

    @property
    def id(self) -> str:
        """The id of the submission."""

    @property
    def version_id(self) -> int:
        """The competition version against which the submission is graded."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the submission's file."""

    @property
    def attempts(self) -> int:
        """The number of attempts, with this one."""


AnyClaim = TypeVar("AnyClaim", bound=Claim)


class ClaimStore(Protocol[AnyClaim]):
    """Claims submissions and stores their outcomes: live submissions, or those of regrades.

    Its methods run in any thread.
    """

    @property
    def may_have_more(self) -> bool:
        """Whether there may be more to claim than the last claim returned."""

    def claim(self, limit: int, busy: Collection[AnyClaim]) -> list[AnyClaim] | None:
        """Claim up to `limit` submissions, none of them in `busy`. None if none is to be graded."""

    def in_turn(
        self, claimed: AnyClaim, send: Callable[[], Future[GradingResult]]
    ) -> Future[GradingResult]:
        """Send the file to a grader when it is its turn. Returns without waiting."""

    def write(
        self, claimed: AnyClaim, outcome: GradingResult, metric: str
    ) -> Future[SubmissionState | None]:
        """Write an outcome. The result is the state of the submission then.

        It is `queued` if the submission has to be tried again, None if the outcome was dropped
        because the claim was lost meanwhile.
        """

    def give_back(self, claimed: AnyClaim) -> Future[None]:
        """Return a submission whose grading was interrupted; the attempt does not count."""

    def begun(self, claimed: AnyClaim) -> None:
        """A grader is about to receive the submission."""

    def graded(self, claimed: AnyClaim, seconds: float) -> None:
        """A grader gave an outcome, so many seconds after the lifecycle of the grading began."""

    def ended(self, claimed: AnyClaim) -> None:
        """The lifecycle of the grading has ended, whatever the result."""
