"""Find out which competitions of a suite can be downloaded, before anything large is downloaded."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.downloads.http_ranges import HttpRanges
from app.downloads.zip_download import ZipDownload
from app.errors import NotFound, PodiumError
from app.importers.kaggle_refusals import CannotBeJoined, RulesNotAccepted
from app.importers.kaggle_source import KaggleSource
from app.preparation.manifest import FILE
from app.services.competitions.kaggle_archives import archive_of, connection
from app.services.competitions.prepare import prepared_place, require_prepare
from app.services.competitions.run_prepare import PREPARE, reads_archives
from app.settings import Settings

SAMPLE_BYTES = 4 << 20  # read to measure the speed, if less was read; they are kept
READING = ("table", "open", "copy")  # methods of RawFiles that read even for grading only
State = Literal[
    "prepared", "ready", "rules_missing", "cannot_be_joined", "gone", "no_prepare", "failed"
]


@dataclass(frozen=True, slots=True)
class CompetitionReadiness:
    """One competition. Sizes in bytes; None if they are not known.

    `archive` is the length of Kaggle's archive, `missing` the part that is still to be downloaded,
    `unpacked` the length of all its members. `tables` is the packed length of the members that
    prepare.py names: for grading only, at least these are needed. It is None if nothing can be left
    out.
    """

    slug: str
    state: State
    detail: str = ""
    archive: int | None = None
    missing: int | None = None
    unpacked: int | None = None
    tables: int | None = None


@dataclass(frozen=True, slots=True)
class SuiteReadiness:
    """All competitions, the smallest download first; those without a size last.

    `needed` is the disk space for the competitions that are ready: the missing parts of archives,
    and all unpacked members, because prepared files are at most about as large. `seconds` is the
    time of the downloads at the measured `speed` in bytes per second; None if nothing was read.
    """

    competitions: tuple[CompetitionReadiness, ...]
    missing: int
    needed: int
    free: int
    speed: float | None
    seconds: float | None


def suite_readiness(
    settings: Settings,
    source: KaggleSource,
    folders: Sequence[Path],
    report: Callable[[str], None],
    progress: Callable[[str], None],
) -> SuiteReadiness:
    """Ask Kaggle for the list of each archive. `progress` is called with each slug that is done.

    Lists that were read before are not read again. To measure the speed, some megabytes of an
    archive are read, and kept for the download.
    """
    found, read, seconds = [], 0, 0.0
    for folder in folders:
        ranges = connection(source, folder.name, report)
        try:
            found.append(_one(settings, folder, ranges, measures=read < SAMPLE_BYTES))
        finally:
            ranges.close()
        read, seconds = read + ranges.bytes_read, seconds + ranges.seconds
        progress(folder.name)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    ready = [one for one in found if one.state == "ready"]
    missing = sum(one.missing or 0 for one in ready)
    speed = read / seconds if read and seconds else None
    return SuiteReadiness(
        competitions=tuple(sorted(found, key=lambda one: (one.archive is None, one.archive or 0))),
        missing=missing,
        needed=missing + sum(one.unpacked or 0 for one in ready),
        free=shutil.disk_usage(settings.data_dir).free,
        speed=speed,
        seconds=missing / speed if speed else None,
    )


def _one(
    settings: Settings, folder: Path, ranges: HttpRanges, *, measures: bool
) -> CompetitionReadiness:
    slug = folder.name
    if (prepared_place(settings.data_dir, slug) / FILE).is_file():
        return CompetitionReadiness(slug, "prepared")
    try:
        require_prepare(folder, grading_only=False)
    except NotFound as error:
        return CompetitionReadiness(slug, "no_prepare", error.detail)
    try:
        download = archive_of(settings, slug, ranges)
        try:
            download.open()
            if measures:
                download.fetch_range(0, min(SAMPLE_BYTES, download.length))
            return CompetitionReadiness(
                slug, "ready", "", download.length, download.missing_bytes,
                download.unpacked_bytes, _tables(folder, download),
            )  # fmt: skip
        finally:
            download.close()
    except RulesNotAccepted as error:
        return CompetitionReadiness(slug, "rules_missing", error.detail)
    except CannotBeJoined as error:
        return CompetitionReadiness(slug, "cannot_be_joined", error.detail)
    except NotFound as error:
        return CompetitionReadiness(slug, "gone", error.detail)
    except PodiumError as error:
        return CompetitionReadiness(slug, "failed", error.detail)
    except OSError as error:
        return CompetitionReadiness(slug, "failed", f"the system says: {error}")


def _tables(folder: Path, download: ZipDownload) -> int | None:
    """The packed bytes of the members that prepare.py names literally, also as NAME.zip."""
    if not reads_archives(folder):
        return None
    names = set()
    for call in ast.walk(ast.parse((folder / PREPARE).read_bytes())):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in READING:
            within = [one.value for one in call.keywords if one.arg == "within"]
            texts = within or call.args[:1]
            names |= {text.value for text in texts if isinstance(text, ast.Constant)}
    return sum(
        member.compress_size
        for member in download.members
        if member.filename in names or member.filename.removesuffix(".zip") in names
    )
