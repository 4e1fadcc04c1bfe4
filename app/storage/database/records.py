"""What queries return: frozen values that mirror the tables and outlive their session."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.domain.feedback import Feedback
from app.domain.states import CompetitionStatus, ReportedScoreKind, Role, RunState, SubmissionState

DISCLOSURE_KINDS = ("validation", "public_score", "private_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRecord:
    """One immutable version of a competition; the highest `number` of a slug is the current one.

    `document` is the parsed competition.toml; `files` lists the public files as `{name, bytes,
    sha256}`; `rows` is what a submission must have, None where the data was never imported.
    """

    id: int
    slug: str
    number: int
    content_hash: str
    status: CompetitionStatus
    title: str
    document: dict[str, Any]
    toml: str
    files: list[dict[str, Any]]
    leaderboard: dict[str, Any] | None
    lint: list[dict[str, Any]]
    rows: int | None
    imported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFileRecord:
    """A file of a version: its path below the competition's folder, and the blob it is."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingUploadRecord:
    """A file that came and was not submitted yet; the store holds it under `name` `until` then."""

    nonce: str
    run_id: str
    name: str
    sha256: str
    bytes: int
    came_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """A key: who holds it, never the key itself. `digest` is its SHA-256 in hex."""

    id: str
    role: Role
    name: str
    digest: str
    run_id: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


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
    """One attempt of an experiment at a competition, under one seed and one feedback policy."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRecord:
    """One stored file: where its bytes are (`sha256`) and how far its grading has come.

    `run_seconds` is the age of the run when the file came; `attempts` counts gradings begun;
    `file_name` is what the sender called the file, where that was said.
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
    """The outcome of a submission: what is written over its row when grading is over."""

    id: str
    state: SubmissionState
    problem: dict[str, Any] | None
    warnings: list[dict[str, Any]]
    settled_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRecord:
    """What a submission was worth under one competition version. `id` is None until it is stored.

    `grader` names what made it: metric, Podium's version, environment.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedGradeRecord:
    """What another grader reported of (experiment, competition, seed).

    `document` is the report's entry as it came, `source` the run group it was of, if any.
    """

    id: int | None = None
    experiment: str
    competition: str
    seed: int
    made: bool
    valid: bool
    score: float | None
    medal: str | None
    above_median: bool
    source: str
    document: dict[str, Any]
    imported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedScoreRecord:
    """A score that a harness measured, and its evidence. `id` is None until it is stored.

    `step` and `run_seconds` place it within the run, as far as that was said. Of those marked
    `final`, the last one is what the run came to. `reported_by` is the id of the key.
    """

    id: int | None = None
    run_id: str
    sort: ReportedScoreKind
    score: float
    step: int | None = None
    run_seconds: float | None = None
    final: bool
    evidence: dict[str, Any]
    reported_by: str | None = None
    reported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRunRecord:
    """The entry, at `place` of a file, that a run was made from; `document` is as it came."""

    run_id: str
    file: str
    place: str
    sha256: str
    document: dict[str, Any]
    imported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosureRecord:
    """One line of a run's exposure ledger: what was told to the run's own key, and when first."""

    id: int
    run_id: str
    kind: str
    submission_id: str | None
    grade_id: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRecord:
    """One failed attempt at grading a submission: our fault, where it happened, and when."""

    id: int
    submission_id: str
    attempt: int
    kind: str
    place: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """A submission that a grading loop has taken, and as whom; `attempts` counts this one."""

    id: str
    run_id: str
    version_id: int
    competition: str
    sha256: str
    attempts: int
    claimed_by: str
