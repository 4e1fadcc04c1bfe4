"""Import a folder or an archive as an immutable version of a competition."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.orm import Session

from app.domain.competition import LARGEST_VERSION, TOML
from app.domain.leaderboard import Leaderboard
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition
from app.graders.messages.results import CompetitionCheck
from app.importers.archive import unpack_archive
from app.importers.folder import MAX_FILES, Staged, stage_folder
from app.importers.names import problem
from app.importers.tree import list_files
from app.preparation.manifest import LARGEST, require_as_listed
from app.services.competitions.check_competition import inspect
from app.services.runtime.context import Context
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.removal import renew
from app.storage.database.records import VersionFileRecord, VersionRecord
from app.storage.queries import competitions, version_files
from app.sync_directory import sync_directory
from app.units import MEGABYTE

MAX_ARCHIVED_FILES = 20_000  # each file of a version takes two syncs: about half a millisecond
MAX_ARCHIVED_MANIFEST = 8 * MEGABYTE  # in memory it has up to thirty times its bytes
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import: the version, and whether it is new."""

    version: VersionRecord
    created: bool


def require_disk_space(context: Context) -> None:
    """Check that the disk is not nearly full, before files are received or copied.

    Raises:
        DiskReserved: what is left is kept for the database.
    """
    settings = context.settings
    DiskReserve(settings.data_dir, settings.disk_reserve_percent).require()


def import_folder(
    context: Context,
    folder: Path,
    progress: Progress | None = None,
    *,
    max_bytes: int | None = None,
    max_manifest: int = LARGEST,
    is_stored: bool = False,
) -> Imported:
    """Import a competition folder as a version of the competition named like the folder.

    New content makes a new version. Content that was imported before gives its existing version,
    whose damaged or missing files it replaces.
    `progress` is called with the path and the size in bytes of each copied file. A folder that
    `is_stored` is a version with changes by Podium: bounds of new ones do not apply to it.

    Raises:
        BadCompetition: the folder has mistakes, or is not what its manifest lists; `problems` lists
            them.
        DiskReserved: the disk is nearly full.
    """
    require_disk_space(context)
    require_as_listed(folder, max_manifest)
    stored_texts = _stored_texts(context, folder.absolute().name)
    if is_stored:
        stored_texts.append((folder / TOML).read_bytes().decode())
    scratch = context.scratch()
    try:
        staged = stage_folder(
            folder,
            scratch / "staged",
            max_bytes=max_bytes or _max_bytes(context, folder),
            progress=progress,
            stored=stored_texts,
        )
        known = _known_version(context, staged)
        if known is not None:
            # The same content again: it replaces what was damaged in the store meanwhile.
            context.catalogue.files.repair(known, staged.directory, staged.copies)
            _measure_sample(context, staged, known)
            return Imported(known, created=False)
        found = inspect(context.graders, staged)
        files = context.catalogue.files
        stored = files.store(staged.directory, staged.copies)
        if context.blobs.is_local:
            directory = files.imported_directory(staged.slug, staged.content_hash)
            _move_into_place(staged.directory, directory)
        return context.database.write_new(lambda session: _record(session, staged, stored, found))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def import_archive(context: Context, archive: Path, progress: Progress | None = None) -> Imported:
    """Import a .zip or .tar.gz of one competition folder.

    `progress` is called with the name and size of each file that was unpacked, and again when it
    was copied.

    Raises:
        BadCompetition: the archive is unsafe, or its folder has mistakes.
    """
    scratch = context.scratch()
    try:
        folder = unpack_archive(
            archive, scratch / "unpacked",
            max_bytes=context.settings.max_upload_bytes, max_files=MAX_ARCHIVED_FILES,
            progress=progress,
        )  # fmt: skip
        # Its compressed members count unpacked as well.
        return import_folder(
            context, folder, progress,
            max_bytes=context.settings.max_upload_bytes, max_manifest=MAX_ARCHIVED_MANIFEST,
        )  # fmt: skip
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _max_bytes(context: Context, folder: Path) -> int:
    """A limit for a folder: its bytes, and room to unpack some, which may be packed zeros."""
    files = list_files(folder, max_files=MAX_FILES) if folder.is_dir() else []
    there = sum((folder / file.path).lstat().st_size for file in files)
    return there + 16 * context.settings.max_upload_bytes


def _stored_texts(context: Context, slug: str) -> list[str]:
    with context.database.read() as session:
        return [version.toml for version in competitions.versions_of(session, slug)]


def _known_version(context: Context, staged: Staged) -> VersionRecord | None:
    """The version with this content. To make old content current again, change its `version`."""
    with context.database.read() as session:
        return competitions.version_by_hash(session, staged.slug, staged.content_hash)


def _measure_sample(context: Context, staged: Staged, known: VersionRecord) -> None:
    """Measure the sample submission of a version that an older Podium imported."""
    if known.status is not CompetitionStatus.READY or staged.competition.is_measured:
        return
    with context.database.read() as session:
        if known.id in competitions.sample_scores(session, [known.id]):
            return
    score = inspect(context.graders, staged).sample_score
    context.database.write(
        lambda session: competitions.add_sample_score(session, known.id, score, datetime.now(UTC))
    )


def _move_into_place(staged: Path, directory: Path) -> None:
    """Move the version to its directory before a row names it. Staged files are synced already."""
    if renew(directory):
        return  # left by an import that stopped before writing its row; the content is the same
    directory.parent.mkdir(parents=True, exist_ok=True)
    try:
        staged.rename(directory)
    except OSError:
        if not renew(directory):
            raise
        return  # another import of the same content was faster
    sync_directory(directory.parent)


def _record(
    session: Session, staged: Staged, stored: list[VersionFileRecord], found: CompetitionCheck
) -> Imported:
    current = competitions.current_version(session, staged.slug)
    if current is not None:
        competitions.lock(session, staged.slug)  # of several at once, each finds the one before
        current = competitions.current_version(session, staged.slug)
    known = competitions.version_by_hash(session, staged.slug, staged.content_hash)
    if known is not None:  # another process has imported the same content
        return Imported(known, created=False)
    number = staged.competition.version
    if current is not None:
        number = max(number, current.number + 1)
    if number > LARGEST_VERSION:
        message = f"this content would be version {number}; the largest is {LARGEST_VERSION}"
        raise BadCompetition([problem(TOML, "version", message)])
    version = competitions.add_version(
        session,
        slug=staged.slug,
        number=number,
        content_hash=staged.content_hash,
        status=staged.status,
        title=staged.competition.title,
        document=staged.competition.model_dump(mode="json"),
        toml=staged.toml,
        files=[asdict(file) for file in staged.files],
        leaderboard=_summary(staged.leaderboard),
        lint=[asdict(finding) for finding in staged.lint],
        rows=found.rows,
        imported_at=datetime.now(UTC),
    )
    version_files.add_files(session, version.id, stored)
    if found.sample_score is not None:
        competitions.add_sample_score(session, version.id, found.sample_score, version.imported_at)
    return Imported(version, created=True)


def _summary(board: Leaderboard | None) -> dict[str, int | float | bool | None] | None:
    """The part of the leaderboard that is in a version's row."""
    if board is None:
        return None
    return {"teams": board.teams, "complete": board.is_complete, **asdict(board.lines)}
