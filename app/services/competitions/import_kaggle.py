"""Import a competition from Kaggle, or from another Podium that has Kaggle's API."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.bundled import is_installed
from app.domain.competition import TOML
from app.domain.read_leaderboard import FILE as BOARD
from app.domain.wording import counted
from app.errors import BadCompetition, NotFound, PodiumError
from app.importers.archive import unpack_files
from app.importers.folder import MAX_FILES
from app.importers.kaggle_draft import description_of, write_draft
from app.importers.kaggle_leaderboard import read_kaggle_leaderboard
from app.importers.kaggle_source import KaggleCompetition, KaggleSource, is_podium
from app.regular_file import file_digest
from app.services.competitions.import_folder import Imported, Progress, import_folder
from app.services.competitions.kaggle_archives import require_room
from app.services.competitions.prepare import Raw, prepare_as_mle_bench
from app.services.competitions.run_prepare import PREPARE, copy_folder, reads_archives, run_prepare
from app.services.runtime.context import Context

COPIES = 3  # of the data on disk at the same time: the archive, unpacked, and prepared
StepLog = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ImportReadiness:
    """Whether a competition can be imported. It cannot if there are `obstacles`."""

    slug: str
    about: KaggleCompetition | None
    bytes_needed: int
    bytes_free: int
    obstacles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KaggleImport:
    """The result of an import: a version, or a draft folder with a list of things to do there."""

    slug: str
    imported: Imported | None
    folder: Path
    todo: tuple[str, ...]


def readiness(context: Context, source: KaggleSource, slug: str) -> ImportReadiness:
    """Check, before anything is downloaded, whether the competition can be imported."""
    free = shutil.disk_usage(context.settings.data_dir).free
    try:
        about = source.about(slug)
    except PodiumError as error:
        return ImportReadiness(slug, None, 0, free, (error.detail,))
    needed = about.bytes * COPIES
    obstacles = []
    if not about.has_entered:
        obstacles.append(
            "its rules are not accepted: open https://www.kaggle.com/competitions/"
            f"{slug}/rules in a browser, with the account of these credentials"
        )
    folder = context.settings.competitions_dir / slug
    if (folder / TOML).is_file() and not (folder / PREPARE).is_file():
        obstacles.append(
            f"{folder} has no {PREPARE}, which makes public and private files of the downloaded "
            "ones. Write it (docs/competitions.md), or, for a competition of MLE-bench, run "
            f"`mlebench prepare -c {slug}` and `podium import mle-bench {slug}`"
        )
    if folder.exists() and not (folder / TOML).is_file():
        obstacles.append(
            f"{folder} is there without a {TOML}: move it away for a new draft, or complete it"
        )
    if not (folder / TOML).is_file() and is_installed(folder.parent):
        obstacles.append(
            f"it has no folder yet, and a draft cannot be written into the installed "
            f"{folder.parent}: set PODIUM_COMPETITIONS_DIR to your own directory"
        )
    if not about.files:
        obstacles.append("it has no files")
    if needed > free:
        obstacles.append(f"it needs {needed:,} bytes of disk, and {free:,} are free")
    return ImportReadiness(slug, about, needed, free, tuple(obstacles))


def import_from_kaggle(
    context: Context,
    source: KaggleSource,
    about: KaggleCompetition,
    log_step: StepLog,
    progress: Progress | None = None,
) -> KaggleImport:
    """Download, prepare and import a competition. Reuses the files of an interrupted attempt.

    `log_step` is called with a line of text for each step, `progress` as in `import_folder`.
    """
    slug = about.slug
    home = context.settings.data_dir / "kaggle" / slug
    log_step(f"{slug}: downloading {about.bytes:,} bytes")
    archive = source.download(slug, home / "archive")
    pages = source.pages(slug)
    folder = context.settings.competitions_dir / slug
    if not (folder / TOML).is_file():
        todo = write_draft(folder, about, pages, archive)
        _fetch_board(source, slug, home, folder, log_step)
        _write_provenance(folder, about, archive, home)
        return KaggleImport(slug, None, folder, tuple(todo))
    scratch = context.scratch()
    try:
        prepared = prepared_copy(context, folder, archive, scratch, log_step)
        if not (prepared / "description.md").is_file():
            (prepared / "description.md").write_text(
                description_of(about.title, pages), encoding="utf-8"
            )
        _fetch_board(source, slug, home, prepared, log_step)
        _write_provenance(prepared, about, archive, home)
        return KaggleImport(slug, import_folder(context, prepared, progress), folder, ())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def prepared_copy(
    context: Context, folder: Path, archive: Path, scratch: Path, log_step: StepLog
) -> Path:
    """Copy the folder and let its prepare.py process the archive. Returns the copy."""
    slug = folder.name
    prepared, raw = scratch / slug, scratch / "raw"
    if reads_archives(folder) and zipfile.is_zipfile(archive):
        log_step(f"{slug}: preparing")
        return prepare_as_mle_bench(folder, Raw(archive), scratch)
    if zipfile.is_zipfile(archive):
        log_step(f"{slug}: unpacking")
        try:
            size = _unpacked_bytes(archive)
            require_room(context.settings, size)
            unpack_files(archive, raw, max_files=MAX_FILES, max_bytes=size)
        except BadCompetition as error:
            log_step(f"{slug}: {archive} cannot be unpacked. Delete it to download it again.")
            raise error from None
    else:
        raw.mkdir(parents=True)
        shutil.copy2(archive, raw)
    log_step(f"{slug}: preparing")
    if reads_archives(folder):
        return prepare_as_mle_bench(folder, Raw(raw), scratch)
    copy_folder(folder, prepared)
    run_prepare(folder, raw, prepared)
    return prepared


def _unpacked_bytes(archive: Path) -> int:
    """The sum of the sizes that an archive states for its members; unpacking refuses more."""
    try:
        with zipfile.ZipFile(archive) as packed:
            return sum(one.file_size for one in packed.infolist())
    except (zipfile.BadZipFile, NotImplementedError):
        return 0  # unpacking says what is wrong with it


def _fetch_board(
    source: KaggleSource, slug: str, home: Path, folder: Path, log_step: StepLog
) -> None:
    """Write Kaggle's leaderboard into the folder. If there is none, keep the folder's own."""
    try:
        board = read_kaggle_leaderboard(source.leaderboard(slug, home / "leaderboard"))
    except (NotFound, BadCompetition) as error:
        log_step(f"{slug}: no leaderboard: {error.detail}")
        return
    (folder / BOARD).write_text(board.csv_text, encoding="utf-8")
    without = f", {board.without_score} without a score left out" if board.without_score else ""
    log_step(f"{slug}: leaderboard of {counted(board.teams, 'team')}{without}")


def _write_provenance(folder: Path, about: KaggleCompetition, archive: Path, home: Path) -> None:
    board = home / "leaderboard" / f"{about.slug}.zip"
    document: dict[str, Any] = {
        "source": f"{'podium' if is_podium() else 'kaggle'}:{about.slug}",
        "asked": source_of_files(os.environ.get("HTTP_PROXY", "")),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "kaggle": asdict(about),
        "archive": {"name": archive.name, **_digest(archive)},
        "leaderboard": {"name": board.name, **_digest(board)} if board.is_file() else None,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    (folder / "provenance.json").write_text(text + "\n", encoding="utf-8")


def source_of_files(proxy: str) -> str:
    """The source of the files: Kaggle, or the proxy, whose address is shown without a password."""
    if not proxy:
        return "https://api.kaggle.com"
    scheme, slashes, address = proxy.rpartition("://")
    return f"{scheme}{slashes}{address.rpartition('@')[2]}"


def _digest(file: Path) -> dict[str, Any]:
    size, sha256 = file_digest(file)
    return {"bytes": size, "sha256": sha256}
