"""Kaggle's archives on this disk: their paths, and the disk space that they may take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from app.downloads.errors import DownloadChanged
from app.downloads.http_ranges import HttpRanges
from app.downloads.zip_download import Advance, ZipDownload
from app.errors import DiskReserved, PodiumError, StorageFull
from app.importers.kaggle_source import KaggleSource
from app.settings import Settings
from app.storage.blobs.disk_reserve import WHAT_TO_DO, DiskReserve
from app.system_limits import is_disk_full

FOLDER = "downloads"  # of the data directory
CHANGES = 3  # a download is given up after the archive changed this often
Result = TypeVar("Result")


def archive_place(data_dir: Path, slug: str) -> Path:
    """The path of a competition's archive once it is complete."""
    return data_dir / FOLDER / f"{slug}.zip"


def connection(source: KaggleSource, slug: str, report: Callable[[str], None]) -> HttpRanges:
    """A reader of a competition's archive. It asks Kaggle for the address when it needs it."""
    return HttpRanges(lambda: source.address(slug), lambda line: report(f"{slug}: {line}"))


def archive_of(
    settings: Settings, slug: str, ranges: HttpRanges, advance: Advance | None = None
) -> ZipDownload:
    """The archive of a competition, not opened yet.

    Raises:
        Conflict: another process is downloading it.
    """
    return ZipDownload(
        archive_place(settings.data_dir, slug), ranges, advance=advance,
        room=lambda size: require_room(settings, size),
    )  # fmt: skip


def unless_changed(
    download: ZipDownload, slug: str, report: Callable[[str], None], step: Callable[[], Result]
) -> Result:
    """Run the step; restart the download if Kaggle replaces the archive. Returns its result.

    Raises:
        DownloadChanged: it was replaced several times.
    """
    for _ in range(CHANGES):
        try:
            return step()
        except DownloadChanged:
            report(f"{slug}: Kaggle has another archive now; starting anew.")
            download.start_anew()
    raise DownloadChanged(f"Kaggle replaced the archive of {slug} {CHANGES} times meanwhile.")


def require_room(settings: Settings, size: int = 0) -> None:
    """Check that the disk has room for this number of bytes.

    Raises:
        StorageFull: it has not; what is there stays.
    """
    try:
        DiskReserve(settings.data_dir, settings.disk_reserve_percent).require(size)
    except DiskReserved as error:
        raise StorageFull(
            f"There is no room for {size:,} more bytes. {error.detail.removesuffix(WHAT_TO_DO)}"
            "What was downloaded stays: free space, and start again."
        ) from None


def reason_of(error: PodiumError | OSError, settings: Settings) -> str:
    """Why a download or a preparation failed, in words."""
    if isinstance(error, PodiumError):
        return error.detail
    if not is_disk_full(error):
        return f"the system says: {error}"
    return (
        f"the disk of {settings.data_dir} is full ({error.strerror}). What was downloaded stays: "
        "free space, and start again."
    )
