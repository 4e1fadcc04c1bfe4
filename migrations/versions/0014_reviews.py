"""Sketches of submissions, signals, decisions about runs, and files known to be leaked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def number() -> sa.types.TypeEngine[int]:
    """A generated number: SQLite generates them for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def key() -> sa.types.TypeEngine[str]:
    """A text that sorts by code points."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def words() -> sa.types.TypeEngine[str]:
    """A column with the values of an enum."""
    return sa.String(length=32)


def references(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    """A foreign key with the name that the models give it."""
    target = other.split(".", maxsplit=1)[0]
    return sa.ForeignKeyConstraint([column], [other], name=f"fk_{table}_{column}_{target}")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "submission_sketch",
        sa.Column("submission_id", key(), nullable=False),
        sa.Column("version_id", number(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("digest", key(), nullable=False),
        sa.Column("blocks", sa.LargeBinary(), nullable=False),
        sa.Column("cells", sa.LargeBinary(), nullable=False),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("submission_id", name="pk_submission_sketch"),
        references("submission_sketch", "submission_id", "submission.id"),
        references("submission_sketch", "version_id", "competition_version.id"),
    )
    op.create_index(
        "ix_submission_sketch_version_id_digest", "submission_sketch", ["version_id", "digest"]
    )
    op.create_index("ix_submission_sketch_reviewed_at", "submission_sketch", ["reviewed_at"])
    op.create_table(
        "review_signal",
        sa.Column("id", number(), nullable=False),
        sa.Column("submission_id", key(), nullable=False),
        sa.Column("run_id", key(), nullable=False),
        sa.Column("signal", words(), nullable=False),
        sa.Column("level", words(), nullable=False),
        sa.Column("other_run", key(), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_review_signal"),
        sa.UniqueConstraint(
            "run_id", "signal", "level", name="uq_review_signal_run_id_signal_level"
        ),
        references("review_signal", "submission_id", "submission.id"),
        references("review_signal", "run_id", "run.id"),
        references("review_signal", "other_run", "run.id"),
    )
    op.create_index("ix_review_signal_run_id_id", "review_signal", ["run_id", "id"])
    op.create_table(
        "run_review",
        sa.Column("id", number(), nullable=False),
        sa.Column("run_id", key(), nullable=False),
        sa.Column("decision", words(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_by", key(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("superseded_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_run_review"),
        references("run_review", "run_id", "run.id"),
        references("run_review", "decided_by", "api_key.id"),
    )
    op.create_index("ix_run_review_run_id_id", "run_review", ["run_id", "id"])
    op.create_table(
        "known_leak",
        sa.Column("competition", key(), nullable=False),
        sa.Column("sha256", key(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("added_by", key(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("competition", "sha256", name="pk_known_leak"),
        references("known_leak", "added_by", "api_key.id"),
    )


def downgrade() -> None:
    """Drop them. The decisions about runs are lost; the public log keeps their digests."""
    for table in ("known_leak", "run_review", "review_signal", "submission_sketch"):
        op.drop_table(table)
