"""The files of competition versions: paths, and the digests of their blobs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.storage.database.models import CompetitionVersion, VersionFile
from app.storage.database.records import VersionFileRecord

TABLE = VersionFile.__table__
VERSION = CompetitionVersion.__table__
PUBLIC, PRIVATE = "public/", "private/"
OF_VERSION = select(TABLE.c.path, TABLE.c.sha256, TABLE.c.bytes).order_by(TABLE.c.path)


def add_files(session: Session, version_id: int, files: Iterable[VersionFileRecord]) -> None:
    """Store the names, digests and sizes of a version's files."""
    rows = [
        {"version_id": version_id, "path": f.path, "sha256": f.sha256, "bytes": f.bytes}
        for f in files
    ]
    session.execute(insert(TABLE), rows)


def all_files(session: Session, version_id: int) -> list[VersionFileRecord]:
    """Every file of a version, by path."""
    return _records(session, OF_VERSION.where(TABLE.c.version_id == version_id))


def working_files(
    session: Session, version_id: int, *, also: Sequence[str], private: bool
) -> list[VersionFileRecord]:
    """The files for grading or showing a version, without public files except those in `also`.

    Without `private`, no private files either.
    """
    query = OF_VERSION.where(
        TABLE.c.version_id == version_id,
        ~TABLE.c.path.startswith(PUBLIC) | TABLE.c.path.in_(also),
    )
    if not private:
        query = query.where(~TABLE.c.path.startswith(PRIVATE))
    return _records(session, query)


def versions_with(session: Session, path: str, version_ids: Collection[int]) -> set[int]:
    """The versions among these that have a file at this path."""
    query = select(TABLE.c.version_id).where(
        TABLE.c.version_id.in_(sorted(version_ids)), TABLE.c.path == path
    )
    return set(session.execute(query).scalars())


def of_all_versions(session: Session) -> list[tuple[str, str, VersionFileRecord]]:
    """Slug and content hash of its version, and the record, of every file."""
    query = select(
        VERSION.c.slug, VERSION.c.content_hash, TABLE.c.path, TABLE.c.sha256, TABLE.c.bytes
    ).join(VERSION, VERSION.c.id == TABLE.c.version_id)
    return [
        (
            row.slug,
            row.content_hash,
            VersionFileRecord(path=row.path, sha256=row.sha256, bytes=row.bytes),
        )
        for row in session.execute(query)
    ]


def _records(session: Session, query: object) -> list[VersionFileRecord]:
    return [VersionFileRecord(**row) for row in session.execute(query).mappings()]  # type: ignore[call-overload]
