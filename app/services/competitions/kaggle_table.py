"""The train table of a competition on Kaggle, without the rest of its archive."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.domain.competition import SLUG
from app.downloads.zip_download import DAMAGE, Advance, ZipDownload, require_damage
from app.errors import Invalid
from app.importers.kaggle_source import KaggleSource
from app.preparation.from_table.tables import header, read_table
from app.preparation.from_table.train_table import (
    PACKED,
    TABLE,
    Predicted,
    is_table,
    predicted,
    sample_submissions,
    train_table,
)
from app.preparation.raw_files import RawFiles
from app.services.competitions.kaggle_archives import (
    archive_of,
    connection,
    require_room,
    unless_changed,
)
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class ChosenTable:
    """The admin's choices. If one is empty, names of files and the sample submission decide."""

    slug: str
    table: str = ""
    target: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class KaggleTable:
    """The table as a file on this disk; `member` is its name in Kaggle's archive."""

    file: Path
    member: str
    predicted: Predicted


@contextlib.contextmanager
def kaggle_table(
    settings: Settings, source: KaggleSource, wanted: ChosenTable,
    report: Callable[[str], None], advance: Advance | None = None,
) -> Iterator[KaggleTable]:  # fmt: skip
    """The train table, until the end of the block. Downloaded files are kept for the next call.

    Raises:
        RulesNotAccepted, CannotBeJoined: the account may not have the files.
        NotFound: there is no such competition, or no longer.
        Invalid: there is no train table or no target, or one has to be chosen; says which.
        Conflict, StorageFull, DamagedDownload, Unavailable: as `ZipDownload` and `require_room`.
    """
    if not SLUG.fullmatch(wanted.slug):
        raise Invalid(
            f"{wanted.slug!r} is not the name of a competition on Kaggle: it is the last part of "
            "the address https://www.kaggle.com/competitions/NAME."
        )
    ranges = connection(source, wanted.slug, report)
    try:
        download = archive_of(settings, wanted.slug, ranges, advance)
        try:
            unless_changed(download, wanted.slug, report, download.open)
            with tempfile.TemporaryDirectory(
                prefix=f".{wanted.slug}-", dir=download.file.parent
            ) as place:
                yield unless_changed(
                    download, wanted.slug, report,
                    lambda: _table(settings, download, wanted, Path(place).resolve()),
                )  # fmt: skip
        finally:
            download.close()
    finally:
        ranges.close()


def _table(
    settings: Settings, download: ZipDownload, wanted: ChosenTable, place: Path
) -> KaggleTable:
    with RawFiles(download.file, fetch=download.fetch) as raw:
        names = raw.names()
        member = train_table(wanted.slug, names, wanted.table)
        sizes = {one.filename: one.file_size for one in download.members}
        require_room(settings, sizes[member])
        sample: list[str] = []
        found = sample_submissions(names)
        if len(found) == 1 and not (wanted.target and wanted.id):
            sample = header(copied_table(raw, found[0], place / "sample"))
        file = copied_table(raw, member, place / "train")
    columns = predicted(read_table(file), member, sample, wanted.target, wanted.id)
    return KaggleTable(file, member, columns)


def copied_table(raw: RawFiles, name: str, folder: Path) -> Path:
    """The table `name`, or the only one in the archive `name`, as a file in a new folder."""
    is_packed = name.lower().endswith(PACKED)
    try:
        inner = _only_table(raw, name) if is_packed else name
        target = folder / PurePosixPath(inner).name
        target.unlink(missing_ok=True)  # left by an archive that was replaced meanwhile
        raw.copy(inner, target, within=name if is_packed else None)
    except (*DAMAGE, OSError) as error:
        require_damage(error)
        raise Invalid(f"{name} of Kaggle's archive is damaged: {error}.") from None
    return target


def _only_table(raw: RawFiles, archive: str) -> str:
    try:
        tables = [one for one in raw.names(within=archive) if TABLE.search(one.lower())]
    except zipfile.BadZipFile:
        raise Invalid(f"{archive} of Kaggle's archive is not a zip archive.") from None
    tables = [one for one in tables if is_table(one)]
    if len(tables) != 1:
        raise Invalid(
            f"{archive} has {len(tables)} tables; an archive must contain exactly one table."
        )
    return tables[0]
