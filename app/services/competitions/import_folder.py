"""Bring a competition in: a folder or an archive becomes an immutable version."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.competition import TOML
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition, GradingFault
from app.graders.pool import GraderPool
from app.graders.results import CompetitionCheck, GraderFault
from app.grading.custom_metric import METRIC_FILE
from app.importers.archive import unpack_archive
from app.importers.folder import Staged, stage_folder
from app.metrics import problems
from app.services.runtime.context import Context
from app.storage.blobs.disk import sync_directory
from app.storage.database.records import VersionFileRecord, VersionRecord
from app.storage.queries import competitions, version_files

MAX_FILES = 200_000
OUR_FAULTS = frozenset({"crashed", "internal", "not_started"})
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: the version, and whether it is new."""

    version: VersionRecord
    created: bool


def import_folder(
    context: Context,
    folder: Path,
    on_file: Progress | None = None,
    *,
    max_bytes: int | None = None,
    max_files: int = MAX_FILES,
) -> Imported:
    """Import a competition folder as a version of the competition named like the folder.

    The same content again gives the version that is there already; new content a new version.

    Raises:
        BadCompetition: the folder has a mistake; every one found is in `problems`.
    """
    scratch = context.scratch()
    try:
        # Graders know a competition's slug by the name of the directory above its files.
        staged = stage_folder(
            folder,
            scratch / folder.name / "staged",
            max_bytes=max_bytes or _room(context),
            max_files=max_files,
            on_file=on_file,
        )
        known = _known_version(context, staged)
        if known is not None:
            return Imported(known, created=False)
        rows = inspect(context.graders, staged)
        files = context.catalogue.files
        stored = files.store(staged.directory, staged.copies)
        if context.blobs.is_local:
            directory = files.imported_directory(staged.slug, staged.content_hash)
            _move_into_place(staged.directory, directory)
        return context.database.write(lambda session: _record(session, staged, stored, rows))
    except IntegrityError:
        # Another server's import of the same content was quicker, between our look and our row.
        known = _known_version(context, staged)
        if known is None:
            raise
        return Imported(known, created=False)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def import_archive(context: Context, archive: Path, on_file: Progress | None = None) -> Imported:
    """Import a .zip or .tar.gz of one competition folder.

    Raises:
        BadCompetition: the archive is unsafe, or its folder has a mistake.
    """
    scratch = context.scratch()
    try:
        folder = unpack_archive(
            archive, scratch / "unpacked",
            max_bytes=_room(context), max_files=MAX_FILES,
        )  # fmt: skip
        return import_folder(context, folder, on_file)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _room(context: Context) -> int:
    """How large a competition may be, unpacked: data is larger than any submission to it."""
    return context.settings.max_upload_bytes * 16


def _known_version(context: Context, staged: Staged) -> VersionRecord | None:
    """The version with this content. To bring old content back as current, bump its `version`."""
    with context.database.read() as session:
        return competitions.version_by_hash(session, staged.slug, staged.content_hash)


def inspect(graders: GraderPool, staged: Staged) -> int | None:
    """Let a grader try the competition: its process alone may read answers and run metric.py.

    Returns the number of rows of a submission, None where the data is not there yet or where
    nothing is submitted.

    Raises:
        BadCompetition: with what the grader found wrong.
        GradingFault: the grader itself broke down.
    """
    if staged.competition.is_measured:
        return None
    if staged.status is CompetitionStatus.NEEDS_DATA:
        _require_fitting_metric(staged)
        return None
    found: CompetitionCheck | GraderFault = graders.check_competition(staged.directory).result()
    if isinstance(found, GraderFault):
        if found.kind == "isolation":
            message = (
                "PODIUM_REQUIRE_ISOLATION is set, and this machine would run the file "
                f"{found.place}; /readyz says why"
            )
            raise BadCompetition([{"file": METRIC_FILE, "key": "", "message": message}])
        if found.kind in OUR_FAULTS:
            raise GradingFault(f"A grader broke down while it tried {staged.slug} ({found.kind}).")
        raise BadCompetition(
            [{"file": METRIC_FILE, "key": "", "message": f"{found.kind}: {found.place}"}]
        )
    if found.problems:
        raise BadCompetition(list(found.problems))
    return found.rows


def _require_fitting_metric(staged: Staged) -> None:
    """What can be checked without data; a metric.py is not run for that."""
    if (staged.directory / METRIC_FILE).is_file():
        return
    if misfits := problems(staged.competition):
        raise BadCompetition([{"file": TOML, "key": "metric", "message": m} for m in misfits])


def _move_into_place(staged: Path, directory: Path) -> None:
    """Give the version its directory before any row names it; staged files are synced already."""
    if directory.is_dir():
        return  # left by an import that ended between here and the row; same hash, same content
    directory.parent.mkdir(parents=True, exist_ok=True)
    staged.rename(directory)
    sync_directory(directory.parent)


def _record(
    session: Session, staged: Staged, stored: list[VersionFileRecord], rows: int | None
) -> Imported:
    known = competitions.version_by_hash(session, staged.slug, staged.content_hash)
    if known is not None:  # another import of the same content was quicker
        return Imported(known, created=False)
    current = competitions.current_version(session, staged.slug)
    number = staged.competition.version
    if current is not None:
        number = max(number, current.number + 1)
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
        leaderboard=_leaderboard_document(staged),
        lint=[asdict(finding) for finding in staged.lint],
        rows=rows,
        imported_at=datetime.now(UTC),
    )
    version_files.add_files(session, version.id, stored)
    return Imported(version, created=True)


def _leaderboard_document(staged: Staged) -> dict[str, Any] | None:
    board = staged.leaderboard
    if board is None:
        return None
    return {"teams": board.teams, "complete": board.is_complete, **asdict(board.lines)}
