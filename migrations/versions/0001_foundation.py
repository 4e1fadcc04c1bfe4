"""The tables of the foundation: competitions, runs, submissions, grades, ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def key() -> sa.types.TypeEngine[str]:
    """Text that both databases sort by its bytes."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def number() -> sa.types.TypeEngine[int]:
    """A 64-bit number that SQLite may give itself."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def instant() -> sa.DateTime:
    """A moment."""
    return sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "competition_version",
        sa.Column("id", number(), nullable=False),
        sa.Column("slug", key(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("leaderboard", sa.JSON(), nullable=True),
        sa.Column("lint", sa.JSON(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=True),
        sa.Column("imported_at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_competition_version"),
        sa.UniqueConstraint("slug", "number", name="uq_competition_version_slug_number"),
        sa.UniqueConstraint(
            "slug", "content_hash", name="uq_competition_version_slug_content_hash"
        ),
    )
    op.create_table(
        "experiment",
        sa.Column("name", key(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("resources", sa.JSON(), nullable=True),
        sa.Column("created_at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_experiment"),
    )
    op.create_table(
        "run",
        sa.Column("id", key(), nullable=False),
        sa.Column("experiment", key(), nullable=False),
        sa.Column("version_id", number(), nullable=False),
        sa.Column("competition", key(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("feedback", sa.String(32), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("usage", sa.JSON(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("selected_id", key(), nullable=True),
        sa.Column("created_at", instant(), nullable=False),
        sa.Column("closed_at", instant(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint(
            "experiment", "competition", "seed", name="uq_run_experiment_competition_seed"
        ),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiment.name"], name="fk_run_experiment_experiment"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["competition_version.id"], name="fk_run_version_id_competition_version"
        ),
    )
    op.create_index("ix_run_competition", "run", ["competition"])
    op.create_table(
        "api_key",
        sa.Column("id", key(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("run_id", key(), nullable=True),
        sa.Column("created_at", instant(), nullable=False),
        sa.Column("expires_at", instant(), nullable=True),
        sa.Column("revoked_at", instant(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
        sa.UniqueConstraint("digest", name="uq_api_key_digest"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_api_key_run_id_run"),
    )
    op.create_table(
        "submission",
        sa.Column("id", key(), nullable=False),
        sa.Column("run_id", key(), nullable=False),
        sa.Column("version_id", number(), nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("received_at", instant(), nullable=False),
        sa.Column("settled_at", instant(), nullable=True),
        sa.Column("run_seconds", sa.Double(), nullable=False),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claimed_by", sa.Text(), nullable=True),
        sa.Column("claimed_at", instant(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_submission"),
        sa.UniqueConstraint(
            "run_id", "idempotency_key", name="uq_submission_run_id_idempotency_key"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_submission_run_id_run"),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["competition_version.id"],
            name="fk_submission_version_id_competition_version",
        ),
    )
    op.create_index("ix_submission_state_id", "submission", ["state", "id"])
    op.create_index("ix_submission_run_id_id", "submission", ["run_id", "id"])
    op.create_table(
        "grade",
        sa.Column("id", number(), nullable=False),
        sa.Column("submission_id", key(), nullable=False),
        sa.Column("version_id", number(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("public_score", sa.Double(), nullable=True),
        sa.Column("better", sa.Integer(), nullable=True),
        sa.Column("equal", sa.Integer(), nullable=True),
        sa.Column("worse", sa.Integer(), nullable=True),
        sa.Column("teams", sa.Integer(), nullable=True),
        sa.Column("percentile", sa.Double(), nullable=True),
        sa.Column("above_median", sa.Boolean(), nullable=True),
        sa.Column("medal", sa.Text(), nullable=True),
        sa.Column("grader", sa.JSON(), nullable=False),
        sa.Column("graded_at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_grade"),
        sa.UniqueConstraint(
            "submission_id", "version_id", name="uq_grade_submission_id_version_id"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name="fk_grade_submission_id_submission"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["competition_version.id"],
            name="fk_grade_version_id_competition_version",
        ),
    )
    op.create_table(
        "disclosure",
        sa.Column("id", number(), nullable=False),
        sa.Column("run_id", key(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("submission_id", key(), nullable=True),
        sa.Column("grade_id", number(), nullable=True),
        sa.Column("at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_disclosure"),
        sa.UniqueConstraint("kind", "grade_id", name="uq_disclosure_kind_grade_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_disclosure_run_id_run"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name="fk_disclosure_submission_id_submission"
        ),
        sa.ForeignKeyConstraint(["grade_id"], ["grade.id"], name="fk_disclosure_grade_id_grade"),
    )
    op.create_index("ix_disclosure_run_id_id", "disclosure", ["run_id", "id"])
    op.create_table(
        "fault",
        sa.Column("id", number(), nullable=False),
        sa.Column("submission_id", key(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_fault"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name="fk_fault_submission_id_submission"
        ),
    )
    op.create_index("ix_fault_submission_id_id", "fault", ["submission_id", "id"])
    op.create_table(
        "write_receipt",
        sa.Column("writer", key(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", instant(), nullable=False),
        sa.PrimaryKeyConstraint("writer", name="pk_write_receipt"),
    )


def downgrade() -> None:
    """Drop all tables, those that refer to others first."""
    for table in (
        "write_receipt",
        "fault",
        "disclosure",
        "grade",
        "submission",
        "api_key",
        "run",
        "experiment",
        "competition_version",
    ):
        op.drop_table(table)
