"""Competition versions: added, never changed; the one with the highest number is current."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind, CompetitionStatus
from app.storage.database.models import CompetitionVersion
from app.storage.database.records import VersionRecord
from app.storage.database.rows import insert_if_new, one
from app.storage.database.tables.sample_scores import SampleScore
from app.storage.queries import archive

TABLE = CompetitionVersion.__table__
SAMPLE = SampleScore.__table__
COLUMNS = [TABLE.c[name] for name in VersionRecord.__dataclass_fields__]  # without `files`
ADD = insert(TABLE).returning(*COLUMNS)
BY_ID = select(*COLUMNS).where(TABLE.c.id == bindparam("id"))
FILES = select(TABLE.c.files).where(TABLE.c.id == bindparam("id"))
BY_HASH = select(*COLUMNS).where(
    TABLE.c.slug == bindparam("slug"), TABLE.c.content_hash == bindparam("content_hash")
)
CURRENT = (
    select(*COLUMNS)
    .where(TABLE.c.slug == bindparam("slug"))
    .order_by(TABLE.c.number.desc())
    .limit(1)
)
CURRENT_ID = CURRENT.with_only_columns(TABLE.c.id)


def add_version(
    session: Session,
    *,
    slug: str,
    number: int,
    content_hash: str,
    status: CompetitionStatus | str,
    title: str,
    document: dict[str, Any],
    toml: str,
    files: list[dict[str, Any]],
    leaderboard: dict[str, Any] | None,
    lint: list[dict[str, Any]],
    rows: int | None,
    imported_at: datetime,
) -> VersionRecord:
    """Store a version. The parameters are the fields of `VersionRecord`.

    `files` are the public files as `{name, bytes, sha256}`.

    Raises:
        IntegrityError: the slug has a version of this number or of this content.
    """
    fields = {
        "slug": slug, "number": number, "content_hash": content_hash, "status": status,
        "title": title, "document": document, "toml": toml, "files": files,
        "leaderboard": leaderboard, "lint": lint, "rows": rows, "imported_at": imported_at,
    }  # fmt: skip
    return VersionRecord(**session.execute(ADD, fields).mappings().one())


def current_version(session: Session, slug: str) -> VersionRecord | None:
    """The version that new runs get."""
    return one(VersionRecord, session.execute(CURRENT, {"slug": slug}).one_or_none())


def lock(session: Session, slug: str, *, shared: bool = False) -> None:
    """Lock a competition, which may get new versions meanwhile, like `experiments.lock`."""
    first = select(TABLE.c.id).where(TABLE.c.slug == slug).order_by(TABLE.c.number).limit(1)
    session.execute(first.with_for_update(read=shared, key_share=not shared))


def current_id(session: Session, slug: str) -> int | None:
    """The id of the version that new runs get."""
    return session.execute(CURRENT_ID, {"slug": slug}).scalar_one_or_none()


def current_ids(session: Session, slugs: Collection[str]) -> dict[str, int]:
    """The ids of the versions that new runs at these competitions get."""
    newest = (
        select(TABLE.c.slug, func.max(TABLE.c.number).label("number"))
        .where(TABLE.c.slug.in_(sorted(slugs)))
        .group_by(TABLE.c.slug)
        .subquery()
    )
    query = select(TABLE.c.slug, TABLE.c.id).join(
        newest, (TABLE.c.slug == newest.c.slug) & (TABLE.c.number == newest.c.number)
    )
    return {row.slug: row.id for row in session.execute(query)}


def public_files(session: Session, version_id: int) -> list[dict[str, Any]]:
    """The public files of a version as `{name, bytes, sha256}`; none if there is no version."""
    return session.execute(FILES, {"id": version_id}).scalar_one_or_none() or []


def version_by_id(session: Session, version_id: int) -> VersionRecord | None:
    """The version with this id."""
    return one(VersionRecord, session.execute(BY_ID, {"id": version_id}).one_or_none())


def version_by_number(session: Session, slug: str, number: int) -> VersionRecord | None:
    """The version of this competition that has this number."""
    query = select(*COLUMNS).where(TABLE.c.slug == slug, TABLE.c.number == number)
    return one(VersionRecord, session.execute(query).one_or_none())


def versions_of(session: Session, slug: str) -> list[VersionRecord]:
    """All versions of this competition, the newest first."""
    query = select(*COLUMNS).where(TABLE.c.slug == slug).order_by(TABLE.c.number.desc())
    return [VersionRecord(**row) for row in session.execute(query).mappings()]


def version_by_hash(session: Session, slug: str, content_hash: str) -> VersionRecord | None:
    """The version of this competition that has this content."""
    found = session.execute(BY_HASH, {"slug": slug, "content_hash": content_hash})
    return one(VersionRecord, found.one_or_none())


def all_hashes(session: Session) -> list[tuple[str, str]]:
    """Slug and content hash of every version."""
    found = session.execute(select(TABLE.c.slug, TABLE.c.content_hash))
    return [(row.slug, row.content_hash) for row in found]


def add_sample_score(session: Session, version_id: int, score: float | None, now: datetime) -> None:
    """Store the score of a version's sample submission; the first one that was stored stays."""
    fields = {"version_id": version_id, "score": score, "measured_at": now}
    insert_if_new(session, SAMPLE, ("version_id",), fields)


def sample_scores(
    session: Session, version_ids: Collection[int], as_of: datetime | None = None
) -> dict[int, float | None]:
    """The scores of the sample submissions of these versions, if they were measured.

    With `as_of`, those that were measured until then.
    """
    query = select(SAMPLE).where(SAMPLE.c.version_id.in_(sorted(version_ids)))
    if as_of is not None:
        query = query.where(SAMPLE.c.measured_at <= as_of)
    return {row.version_id: row.score for row in session.execute(query)}


def versions_without_board(session: Session, slugs: Collection[str]) -> dict[str, set[int]]:
    """The versions of these competitions that have no human leaderboard, by slug."""
    query = select(TABLE.c.slug, TABLE.c.id).where(
        TABLE.c.leaderboard.is_(None), TABLE.c.slug.in_(slugs)
    )
    found: dict[str, set[int]] = {}
    for slug, version in session.execute(query):
        found.setdefault(slug, set()).add(version)
    return found


def list_current(
    session: Session,
    *,
    q: str | None = None,
    tag: str | None = None,
    slugs: Collection[str] | None = None,
    archived: bool = True,
    after: str | None = None,
    limit: int | None,
    as_of: datetime | None = None,
) -> list[VersionRecord]:
    """Current versions by slug, at most `limit` (None: all) after the slug `after`.

    `q` is text in the slug or title, in any case; `tag` is one of the competition's tags; `slugs`
    restricts the result to these slugs. Without `archived`, archived competitions are left out.
    With `as_of` the versions are those that were current then.
    """
    newest = select(TABLE.c.slug, func.max(TABLE.c.number).label("number")).group_by(TABLE.c.slug)
    if as_of is not None:
        newest = newest.where(TABLE.c.imported_at <= as_of)
    if slugs is not None:
        newest = newest.where(TABLE.c.slug.in_(sorted(slugs)))
    if not archived:
        newest = newest.where(TABLE.c.slug.not_in(archive.names_of(ArchivalKind.COMPETITION)))
    if after is not None:
        newest = newest.where(TABLE.c.slug > after)
    last = newest.subquery()
    query = (
        select(*COLUMNS)
        .join(last, (TABLE.c.slug == last.c.slug) & (TABLE.c.number == last.c.number))
        .order_by(TABLE.c.slug)
    )
    return list(islice(_matching(session.execute(query).mappings(), q, tag), limit))


def _matching(rows: Any, q: str | None, tag: str | None) -> Iterator[VersionRecord]:
    # In Python and not in SQL: SQLite and PostgreSQL differ in how they fold the case of letters
    # beyond ASCII and in how they query JSON. There are hundreds of competitions, not millions.
    for row in rows:
        version = VersionRecord(**row)
        if tag is not None and tag not in version.document.get("tags", ()):
            continue
        if q is None or is_named(version, q):
            yield version


def is_named(version: VersionRecord, q: str) -> bool:
    """Whether a search for this text finds the competition: by slug or title, in any case."""
    return q.casefold() in f"{version.slug}\n{version.title}".casefold()
