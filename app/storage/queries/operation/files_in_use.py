"""Which rows name the bytes of a stored file. These queries read all rows."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.storage.database.models import CompetitionVersion, Submission, VersionFile

SUBMISSION = Submission.__table__
FILE = VersionFile.__table__
VERSION = CompetitionVersion.__table__


def submissions_with(session: Session, sha256: str, limit: int) -> list[str]:
    """The ids of submissions with these bytes, at most `limit`."""
    query = (
        select(SUBMISSION.c.id)
        .where(SUBMISSION.c.sha256 == sha256)
        .order_by(SUBMISSION.c.id)
        .limit(limit)
    )
    return list(session.execute(query).scalars())


def version_files_with(session: Session, sha256: str, limit: int) -> list[tuple[str, int, str]]:
    """Slug, version number and path of files with these bytes, at most `limit`."""
    query = (
        select(VERSION.c.slug, VERSION.c.number, FILE.c.path)
        .join(VERSION, VERSION.c.id == FILE.c.version_id)
        .where(FILE.c.sha256 == sha256)
        .order_by(VERSION.c.slug, VERSION.c.number, FILE.c.path)
        .limit(limit)
    )
    return [(row.slug, row.number, row.path) for row in session.execute(query)]
