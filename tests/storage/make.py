"""Functions that make rows for storage tests. Every field can be given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import CompetitionStatus
from app.storage.database.database import Database
from app.storage.database.records import (
    ClaimRecord,
    ExperimentRecord,
    GradeRecord,
    RunRecord,
    SubmissionRecord,
    VersionRecord,
)
from app.storage.queries import competitions, direct_claims, experiments, grades, runs, submissions
from app.storage.queries.ids import new_id

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """A run of an experiment at a competition, and another run with a submission."""

    database: Database
    version: VersionRecord
    run: RunRecord
    other_run: RunRecord

    def submit(self, **over: Any) -> SubmissionRecord:
        """Store a submission of the run."""
        submission = make_submission(self.run, **over)
        return self.database.write(lambda s: add_submission(s, submission))


def make_world(database: Database) -> World:
    """Store rows to test, and rows that no query about them may return."""
    version = database.write(lambda s: add_version(s, "bikes"))
    run = add_run(database, version, "first")
    other_version = database.write(lambda s: add_version(s, "leaves"))
    other_run = add_run(database, other_version, "second", seed=7)
    noise = make_submission(other_run, idempotency_key="same", received_at=NOON)
    database.write(lambda s: add_submission(s, noise))
    return World(database, version, run, other_run)


def add_version(session: Session, slug: str, **over: Any) -> VersionRecord:
    """Store a competition version."""
    fields: dict[str, Any] = {
        "slug": slug,
        "number": 1,
        "content_hash": new_id("hash"),
        "status": CompetitionStatus.READY,
        "title": slug.title(),
        "document": {"tags": ["tabular"], "z": 1, "a": 2},
        "toml": "title = 'x'\n",
        "files": [{"name": "train.csv", "bytes": 3, "sha256": "ab" * 32}],
        "leaderboard": {"teams": 3, "gold": 0.1},
        "lint": [],
        "rows": 100,
        "imported_at": NOON,
    }
    return competitions.add_version(session, **{**fields, **over})


def add_run(database: Database, version: VersionRecord, experiment: str, **over: Any) -> RunRecord:
    """Store a run, and its experiment if it is new."""
    run = make_run(version, experiment, **over)

    def add(session: Session) -> RunRecord:
        if experiments.get(session, experiment) is None:
            experiments.add(session, make_experiment(experiment))
        return runs.add_run(session, run)

    return database.write(add)


def make_experiment(name: str, **over: Any) -> ExperimentRecord:
    """An experiment, not stored."""
    return ExperimentRecord(
        **{"name": name, "agent": "aide", "model": "m", "created_at": NOON, **over}
    )


def make_run(version: VersionRecord, experiment: str, **over: Any) -> RunRecord:
    """A run, not stored."""
    fields: dict[str, Any] = {
        "id": new_id("run"),
        "experiment": experiment,
        "version_id": version.id,
        "competition": version.slug,
        "seed": 1,
        "feedback": Feedback.VALIDITY,
        "created_at": NOON,
    }
    return RunRecord(**{**fields, **over})


def make_submission(run: RunRecord, **over: Any) -> SubmissionRecord:
    """A queued submission, not stored."""
    fields: dict[str, Any] = {
        "id": new_id("sub"),
        "run_id": run.id,
        "version_id": run.version_id,
        "bytes": 12_000,
        "sha256": "0123456789abcdef" * 4,
        "received_at": NOON + timedelta(seconds=5),
        "run_seconds": 5.0,
    }
    return SubmissionRecord(**{**fields, **over})


def make_grade(submission: SubmissionRecord, **over: Any) -> GradeRecord:
    """A grade, not stored."""
    fields: dict[str, Any] = {
        "submission_id": submission.id,
        "version_id": submission.version_id,
        "score": 0.1 + 0.2,
        "grader": {"metric": "accuracy_score"},
        "graded_at": NOON,
    }
    return GradeRecord(**{**fields, **over})


def add_grade(session: Session, grade: GradeRecord) -> GradeRecord:
    """Store a grade, and return the stored one."""
    grades.add_grades(session, [grade])
    found = grades.grades_of(session, grade.submission_id)
    return next(one for one in found if one.version_id == grade.version_id)


def add_submission(session: Session, submission: SubmissionRecord) -> SubmissionRecord:
    """Store one submission."""
    submissions.add_submissions(session, [submission])
    return submission


def claim_built_in(session: Session, claimant: str, limit: int, now: datetime) -> list[ClaimRecord]:
    """Claim queued submissions to competitions without a metric.py."""
    limits = direct_claims.ClaimLimits("metric.py", without_file=limit)
    return direct_claims.claim(session, claimant, limits, now)[0]
