"""The states of runs and submissions, and which may follow which.

queued -> grading -> graded      the file was scored
                  -> rejected    the file's fault: it is not a valid submission
                  -> failed      our fault, after the last attempt
   ^---------'                   a grader died or was restarted: graded again
"""

from __future__ import annotations

from enum import StrEnum


class SubmissionState(StrEnum):
    """Where a stored submission stands."""

    QUEUED = "queued"
    GRADING = "grading"
    GRADED = "graded"
    REJECTED = "rejected"
    FAILED = "failed"

    @property
    def is_settled(self) -> bool:
        """Whether grading is over."""
        return self in SETTLED


SETTLED = frozenset({SubmissionState.GRADED, SubmissionState.REJECTED, SubmissionState.FAILED})
# What uses up a quota: graded files, and those that may yet be.
COUNTED = frozenset({SubmissionState.QUEUED, SubmissionState.GRADING, SubmissionState.GRADED})


class RunState(StrEnum):
    """Whether a run still accepts submissions."""

    OPEN = "open"
    CLOSED = "closed"


class CompetitionStatus(StrEnum):
    """Whether a competition can be graded, or only described."""

    READY = "ready"
    NEEDS_DATA = "needs_data"


class Role(StrEnum):
    """Who holds a key."""

    ADMIN = "admin"
    RESEARCHER = "researcher"
    RUN = "run"


class ReportedScoreKind(StrEnum):
    """Where a score that Podium did not grade is from."""

    REPORTED = "reported"  # a trusted harness measured it and sent it with its evidence
    IMPORTED = "imported"  # it stood in a file of results


class Failure(StrEnum):
    """Why a run ended without a usable submission, as its harness saw it."""

    NONE = "none"
    NO_SUBMISSION = "no_submission"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_TIME = "out_of_time"
    CONNECTION = "connection"
    CONTEXT_LENGTH = "context_length"
    MALFORMED_OUTPUT = "malformed_output"
    CRASH = "crash"
    OTHER = "other"


# Whose fault the agent's is not: such runs say nothing about the agent.
INFRASTRUCTURE = frozenset({Failure.OUT_OF_MEMORY, Failure.CONNECTION})
