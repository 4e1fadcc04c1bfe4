"""The states of runs and submissions, and their order.

queued -> grading -> graded      the file was scored
                  -> rejected    the file is not a valid submission
                  -> failed      Podium's or the competition's fault, after the last attempt
   ^---------'                   a grader died or was restarted: graded again
"""

from __future__ import annotations

from enum import StrEnum


class SubmissionState(StrEnum):
    """The state of a stored submission."""

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
OPEN = (SubmissionState.QUEUED, SubmissionState.GRADING)
# The states that use up a quota: graded, or possibly graded later.
COUNTED = frozenset({SubmissionState.QUEUED, SubmissionState.GRADING, SubmissionState.GRADED})


LEAST_SEED, LARGEST_SEED = -(2**31), 2**31 - 1  # of runs: what the database's columns take


class RunState(StrEnum):
    """Whether a run still accepts submissions."""

    OPEN = "open"
    CLOSED = "closed"


class CompetitionStatus(StrEnum):
    """Whether a competition can be graded, or only described."""

    READY = "ready"
    NEEDS_DATA = "needs_data"


class Role(StrEnum):
    """The role of a key."""

    ADMIN = "admin"
    RESEARCHER = "researcher"
    HARNESS = "harness"
    RUN = "run"


class ArchivalKind(StrEnum):
    """The kind of a thing that admins archive."""

    COMPETITION = "competition"
    EXPERIMENT = "experiment"
    RUN = "run"


class AmendmentKind(StrEnum):
    """The kind of an amendment: of an experiment or of its imported results."""

    AMENDED = "amended"  # fields of the experiment were changed
    WITHDRAWN = "withdrawn"  # imported results were taken away


class RegradeState(StrEnum):
    """How far a regrade of a competition has come."""

    RUNNING = "running"  # submissions are still to be graded
    READY = "ready"  # all are graded; nothing rests on it yet
    APPLIED = "applied"  # results rest on it, or did until a later one was applied
    CANCELLED = "cancelled"


class ReviewDecision(StrEnum):
    """A person's decision about a run."""

    ACCEPT = "accept"  # it counts
    EXCLUDE = "exclude"  # it does not count in rates
    ANNOTATE = "annotate"  # it counts, with a remark


class ReportedScoreKind(StrEnum):
    """The source of a score that Podium did not grade."""

    REPORTED = "reported"  # a trusted harness measured it and sent it with its evidence
    IMPORTED = "imported"  # it was in a file of results


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


# Failures that are not the agent's fault: such runs say nothing about the agent.
INFRASTRUCTURE = frozenset({Failure.OUT_OF_MEMORY, Failure.CONNECTION})


class QueueState(StrEnum):
    """Which runs with signals are asked for."""

    OPEN = "open"  # nobody has decided since the last signal
    DECIDED = "decided"
    ALL = "all"
