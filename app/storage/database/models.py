"""All tables, as SQLAlchemy models. Queries use `Model.__table__` and return `records`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Double,
    ForeignKey,
    Index,
    Integer,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.feedback import Feedback
from app.domain.states import (
    CompetitionStatus,
    Role,
    RunState,
    SubmissionState,
)
from app.storage.database.tables import (  # importing this module gives all tables
    acts,  # noqa: F401
    noise,  # noqa: F401
    operation,  # noqa: F401
    receipts,  # noqa: F401
    regrades,  # noqa: F401
    results_elsewhere,  # noqa: F401
    reviews,  # noqa: F401
    sample_scores,  # noqa: F401
)
from app.storage.database.tables.column_types import (
    DOCUMENT,
    KEY,
    NUMBER,
    UtcDateTime,
    enum_column,
)
from app.storage.database.tables.declarative import Base as Base

IS_GRADED = text("state = 'graded'")
IS_QUEUED = text("coalesce(state, '') = 'queued'")
IS_FAILED = text("state = 'failed'")
IS_SETTLED = text("settled_at IS NOT NULL")
IS_OF_FAILURE = text("grade_id IS NULL AND submission_id IS NOT NULL")


class CompetitionVersion(Base):
    """An immutable version of a competition."""

    __tablename__ = "competition_version"
    __table_args__ = (UniqueConstraint("slug", "number"), UniqueConstraint("slug", "content_hash"))

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    slug: Mapped[str] = mapped_column(KEY)
    number: Mapped[int] = mapped_column(Integer)
    content_hash: Mapped[str] = mapped_column(Text)
    status: Mapped[CompetitionStatus] = mapped_column(enum_column(CompetitionStatus))
    title: Mapped[str] = mapped_column(Text)
    document: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    toml: Mapped[str] = mapped_column(Text)
    files: Mapped[list[dict[str, Any]]] = mapped_column(DOCUMENT)
    leaderboard: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    lint: Mapped[list[dict[str, Any]]] = mapped_column(DOCUMENT)
    rows: Mapped[int | None] = mapped_column(BigInteger)
    imported_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Experiment(Base):
    """One agent and model, with the same resources for all runs."""

    __tablename__ = "experiment"

    name: Mapped[str] = mapped_column(KEY, primary_key=True)
    agent: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text)
    notes: Mapped[str] = mapped_column(Text)
    resources: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Run(Base):
    """One attempt of an experiment at a competition."""

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("experiment", "competition", "seed"),
        # Statistics ask whether an experiment has newly closed runs, and which are open.
        Index(None, "state", "experiment", "failure"),
        Index(None, "closed_at"),  # finds runs that closed lately and have no receipt
    )

    id: Mapped[str] = mapped_column(KEY, primary_key=True)
    experiment: Mapped[str] = mapped_column(KEY, ForeignKey("experiment.name"))
    version_id: Mapped[int] = mapped_column(NUMBER, ForeignKey("competition_version.id"))
    competition: Mapped[str] = mapped_column(KEY, index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    feedback: Mapped[Feedback] = mapped_column(enum_column(Feedback))
    limits: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    state: Mapped[RunState] = mapped_column(enum_column(RunState))
    usage: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    failure: Mapped[str | None] = mapped_column(Text)
    # No foreign key: it would make a cycle with submission.run_id.
    selected_id: Mapped[str | None] = mapped_column(KEY)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    closed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ApiKey(Base):
    """A key's holder and digest."""

    __tablename__ = "api_key"
    __table_args__ = (UniqueConstraint("digest"),)

    id: Mapped[str] = mapped_column(KEY, primary_key=True)
    role: Mapped[Role] = mapped_column(enum_column(Role))
    name: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(Text)
    run_id: Mapped[str | None] = mapped_column(KEY, ForeignKey("run.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # No foreign key: SQLite would have to copy the table in the migration that added the column.
    experiment: Mapped[str | None] = mapped_column(KEY)


class Submission(Base):
    """A stored file and the state of its grading. Grading is resumed from this row alone."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("run_id", "idempotency_key"),
        Index(None, "state", "id"),
        Index(None, "run_id", "id"),
        # For the first queued ones of each run, however many are queued. It is small if few are. A
        # query states the condition in both ways: see `direct_claims`.
        Index(
            "ix_submission_queued", "state", "run_id", "id",
            sqlite_where=IS_QUEUED, postgresql_where=IS_QUEUED,
        ),
        # For the last graded submission of each of very many runs.
        Index(
            "ix_submission_graded", "run_id", "id",
            sqlite_where=IS_GRADED, postgresql_where=IS_GRADED,
        ),
        # For the failures of a run, which are few, and for its recent outcomes. SQLite chooses the
        # index with more columns in equality conditions.
        Index(
            "ix_submission_failed", "run_id", "state",
            sqlite_where=IS_FAILED, postgresql_where=IS_FAILED,
        ),
        # A submission enters it only with its outcome, so receiving one writes one page less.
        Index(
            "ix_submission_settled", "run_id", "settled_at",
            sqlite_where=IS_SETTLED, postgresql_where=IS_SETTLED,
        ),
    )  # fmt: skip

    id: Mapped[str] = mapped_column(KEY, primary_key=True)
    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"))
    version_id: Mapped[int] = mapped_column(NUMBER, ForeignKey("competition_version.id"))
    state: Mapped[SubmissionState] = mapped_column(enum_column(SubmissionState))
    message: Mapped[str] = mapped_column(Text)
    bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(Text)
    idempotency_key: Mapped[str | None] = mapped_column(Text)
    received_at: Mapped[datetime] = mapped_column(UtcDateTime)
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    run_seconds: Mapped[float] = mapped_column(Double)
    problem: Mapped[dict[str, Any] | None] = mapped_column(DOCUMENT)
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(DOCUMENT)
    attempts: Mapped[int] = mapped_column(Integer)
    claimed_by: Mapped[str | None] = mapped_column(Text)
    claimed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    file_name: Mapped[str | None] = mapped_column(Text)


class Grade(Base):
    """The grade of a submission under a competition version; at most one for each pair."""

    __tablename__ = "grade"
    __table_args__ = (UniqueConstraint("submission_id", "version_id"),)

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    submission_id: Mapped[str] = mapped_column(KEY, ForeignKey("submission.id"))
    version_id: Mapped[int] = mapped_column(NUMBER, ForeignKey("competition_version.id"))
    score: Mapped[float] = mapped_column(Double)
    public_score: Mapped[float | None] = mapped_column(Double)
    better: Mapped[int | None] = mapped_column(Integer)
    equal: Mapped[int | None] = mapped_column(Integer)
    worse: Mapped[int | None] = mapped_column(Integer)
    teams: Mapped[int | None] = mapped_column(Integer)
    percentile: Mapped[float | None] = mapped_column(Double)
    above_median: Mapped[bool | None]
    medal: Mapped[str | None] = mapped_column(Text)
    grader: Mapped[dict[str, Any]] = mapped_column(DOCUMENT)
    graded_at: Mapped[datetime] = mapped_column(UtcDateTime)
    search_score: Mapped[float | None] = mapped_column(Double)


class Disclosure(Base):
    """An entry of a run's exposure ledger.

    Only the first disclosure of each number and of each failure is recorded.
    """

    __tablename__ = "disclosure"
    __table_args__ = (
        UniqueConstraint("kind", "grade_id"),
        # Counts of kinds need only the index.
        Index(None, "run_id", "id", "kind"),
        Index(
            "ix_disclosure_failure", "submission_id", "kind",
            unique=True, sqlite_where=IS_OF_FAILURE, postgresql_where=IS_OF_FAILURE,
        ),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    run_id: Mapped[str] = mapped_column(KEY, ForeignKey("run.id"))
    kind: Mapped[str] = mapped_column(Text)
    submission_id: Mapped[str | None] = mapped_column(KEY, ForeignKey("submission.id"))
    grade_id: Mapped[int | None] = mapped_column(NUMBER, ForeignKey("grade.id"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class VersionFile(Base):
    """A file of a competition version: its path below the folder, and its blob."""

    __tablename__ = "version_file"

    version_id: Mapped[int] = mapped_column(
        NUMBER, ForeignKey("competition_version.id"), primary_key=True, autoincrement=False
    )
    path: Mapped[str] = mapped_column(KEY, primary_key=True)
    sha256: Mapped[str] = mapped_column(Text)
    bytes: Mapped[int] = mapped_column(BigInteger)
