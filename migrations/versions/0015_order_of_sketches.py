"""Sketches get numbers in the order of their grades, by which signals look for earlier files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLE = "submission_sketch"
COLUMNS = "submission_id, version_id, rows, digest, blocks, cells, reviewed_at"


def number() -> sa.types.TypeEngine[int]:
    """A generated number: SQLite generates them for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def key() -> sa.types.TypeEngine[str]:
    """A text that sorts by code points."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def references(column: str, other: str) -> sa.ForeignKeyConstraint:
    """A foreign key with the name that the models give it."""
    target = other.split(".", maxsplit=1)[0]
    return sa.ForeignKeyConstraint([column], [other], name=f"fk_{TABLE}_{column}_{target}")


def make_table(*columns: sa.Column[int], keys: list[sa.Constraint]) -> None:
    """Make the table, with `columns` before those that it has in both forms."""
    op.create_table(
        TABLE,
        *columns,
        sa.Column("submission_id", key(), nullable=False),
        sa.Column("version_id", number(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("digest", key(), nullable=False),
        sa.Column("blocks", sa.LargeBinary(), nullable=False),
        sa.Column("cells", sa.LargeBinary(), nullable=False),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        *keys,
        references("submission_id", "submission.id"),
        references("version_id", "competition_version.id"),
    )


def take_rows_from_old_table(order: str) -> None:
    """Fill the new table, drop the old one, and make the indexes."""
    op.execute(f"INSERT INTO {TABLE} ({COLUMNS}) SELECT {COLUMNS} FROM old_sketch ORDER BY {order}")
    op.drop_table("old_sketch")
    op.create_index(f"ix_{TABLE}_version_id_digest", TABLE, ["version_id", "digest"])
    op.create_index(f"ix_{TABLE}_reviewed_at", TABLE, ["reviewed_at"])


def set_old_table_aside() -> None:
    """Rename the table; names of indexes and constraints must be free for the new one."""
    op.execute(f"CREATE TABLE old_sketch AS SELECT * FROM {TABLE}")
    op.drop_table(TABLE)


def upgrade() -> None:
    """Add the numbers. Files that were reviewed come first, in the order of their reviews."""
    set_old_table_aside()
    make_table(
        sa.Column("id", number(), nullable=False),
        keys=[
            sa.PrimaryKeyConstraint("id", name=f"pk_{TABLE}"),
            sa.UniqueConstraint("submission_id", name=f"uq_{TABLE}_submission_id"),
        ],
    )
    take_rows_from_old_table("reviewed_at IS NULL, reviewed_at, submission_id")


def downgrade() -> None:
    """Drop the numbers."""
    set_old_table_aside()
    make_table(keys=[sa.PrimaryKeyConstraint("submission_id", name=f"pk_{TABLE}")])
    take_rows_from_old_table("submission_id")
