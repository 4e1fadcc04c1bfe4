"""The records that queries return: frozen copies of rows, usable after their session."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.domain.feedback import Feedback
from app.domain.states import (
    ArchivalKind,
    CompetitionStatus,
    Role,
    RunState,
    SubmissionState,
)

# To a run's key. A failure is a failed grading that the file can have caused.
DISCLOSURE_KINDS = ("validation", "search_score", "public_score", "private_score", "failure")
HARNESS = "harness_"  # begins the kinds of disclosures to the keys of harnesses
HARNESS_KINDS = tuple(f"{HARNESS}{kind}" for kind in DISCLOSURE_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRecord:
    """One immutable version of a competition; the highest `number` of a slug is the current one.

    `document` is the parsed competition.toml; `rows` is the number of rows of a submission, None if
    the data was never imported. The list of public files is read separately, because it may be
    long.
    """

    id: int
    slug: str
    number: int
    content_hash: str
    status: CompetitionStatus
    title: str
    document: dict[str, Any]
    toml: str
    leaderboard: dict[str, Any] | None
    lint: list[dict[str, Any]]
    rows: int | None
    imported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFileRecord:
    """A file of a version: its path below the competition's folder, and its blob."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """The holder of a key, never the key itself. `digest` is the key's SHA-256 in hex.

    `run_id` is the run of a run's key, `experiment` the experiment of a harness's key.
    """

    id: str
    role: Role
    name: str
    digest: str
    run_id: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    experiment: str | None = None


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """A key with the facts about its run that every request needs.

    `run_waits` says that the run is open and its clock has not started. `archived` is the kind of
    the archived thing: the run, its experiment or its competition.
    """

    key: KeyRecord
    run_waits: bool
    archived: ArchivalKind | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRecord:
    """One agent and model under the same resources for all runs."""

    name: str
    agent: str
    model: str
    notes: str = ""
    resources: dict[str, Any] | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One attempt of an experiment at a competition, under one seed and one feedback policy.

    Its time counts from `started_at`, the first request of its key; None before that.
    """

    id: str
    experiment: str
    version_id: int
    competition: str
    seed: int
    feedback: Feedback
    limits: dict[str, Any] = field(default_factory=dict)
    state: RunState = RunState.OPEN
    usage: dict[str, Any] | None = None
    failure: str | None = None
    selected_id: str | None = None
    created_at: datetime
    closed_at: datetime | None = None
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRecord:
    """One submitted file: its blob (`sha256`) and the state of its grading.

    `run_seconds` is the time from the start of the run to the receipt of the file; `attempts` is
    the number of gradings begun; `file_name` is the sender's name of the file, if given.
    """

    id: str
    run_id: str
    version_id: int
    state: SubmissionState = SubmissionState.QUEUED
    message: str = ""
    bytes: int
    sha256: str
    idempotency_key: str | None = None
    received_at: datetime
    settled_at: datetime | None = None
    run_seconds: float
    problem: dict[str, Any] | None = None
    warnings: list[dict[str, Any]] = field(default_factory=list)
    attempts: int = 0
    claimed_by: str | None = None
    claimed_at: datetime | None = None
    file_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledRecord:
    """The outcome of a submission: the columns that are written when grading is over."""

    id: str
    state: SubmissionState
    problem: dict[str, Any] | None
    warnings: list[dict[str, Any]]
    settled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRecord:
    """A submission's grade under one competition version. `id` is None until it is stored.

    `grader` names the metric, Podium's version and the environment that made it.
    """

    id: int | None = None
    submission_id: str
    version_id: int
    score: float
    public_score: float | None = None
    better: int | None = None
    equal: int | None = None
    worse: int | None = None
    teams: int | None = None
    percentile: float | None = None
    above_median: bool | None = None
    medal: str | None = None
    grader: dict[str, Any]
    graded_at: datetime
    search_score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosureRecord:
    """One entry of a run's exposure ledger: a first disclosure to the run's key or a harness's."""

    id: int
    run_id: str
    kind: str
    submission_id: str | None
    grade_id: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """A claimed submission and its claimant. `attempts` includes this attempt."""

    id: str
    run_id: str
    version_id: int
    competition: str
    sha256: str
    attempts: int
    claimed_by: str


@dataclass(frozen=True, slots=True)
class AddedSubmission:
    """A submission that a regrade got: the bytes of its file, and the version that grades it."""

    submission_id: str
    bytes: int
    version_id: int
