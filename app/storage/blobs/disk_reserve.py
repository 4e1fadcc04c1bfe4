"""The part of a disk that uploads leave free, so that the database can continue to write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.errors import DiskReserved, StoreAway

MOST_BYTES, MOST_FILES = 10 * 1024**3, 100_000  # the most kept free on a large disk
GIGABYTE = 1024**3
WHAT_TO_DO = "Nothing was stored. The operator of this Podium has to free space."
FOR_STRANGERS = (
    "The disk for submitted files is nearly full, and the rest is kept for the database. "
    f"{WHAT_TO_DO}"
)


@dataclass(frozen=True, slots=True)
class DiskReserve:
    """`percent` of the disk of `directory` is kept free, but at most `MOST_BYTES`.

    The same share of its inodes is kept free, at most `MOST_FILES`: millions of small files use
    them up while most bytes are free.
    """

    directory: Path
    percent: float = 0.0

    def require(self, size: int = 0) -> None:
        """Check that the reserve is free after `size` more bytes are stored.

        Raises:
            DiskReserved: it would not be.
            StoreAway: the directory is not there.
        """
        if not self.percent:
            return
        try:
            disk = os.statvfs(self.directory)
        except OSError as error:
            raise StoreAway(
                f"The directory of submitted files cannot be read: {error.strerror}."
            ) from error
        files, kept_files = self._files(disk)
        if files < kept_files:
            raise DiskReserved(
                f"The disk of {self.directory} can have {files} more files (inodes), of which "
                f"{kept_files:.0f} are kept for the database "
                f"(PODIUM_DISK_RESERVE_PERCENT). {WHAT_TO_DO}",
                for_strangers=FOR_STRANGERS,
            )
        free, kept = self._bytes(disk)
        if free - size < kept:
            raise DiskReserved(
                f"The disk of {self.directory} has {free / GIGABYTE:.2f} GB left, of which "
                f"{kept / GIGABYTE:.2f} GB are kept for the database "
                f"(PODIUM_DISK_RESERVE_PERCENT). {WHAT_TO_DO}",
                for_strangers=FOR_STRANGERS,
            )

    def is_near(self) -> bool:
        """Whether less than twice the reserve is free.

        Raises:
            OSError: the directory is not there.
        """
        if not self.percent:
            return False
        disk = os.statvfs(self.directory)
        return any(free < 2 * kept for free, kept in (self._bytes(disk), self._files(disk)))

    def _files(self, disk: os.statvfs_result) -> tuple[int, float]:
        """How many more files the disk can have, and how many of these are kept.

        A file system without a limit of files reports 0; then none are kept. If really 0 are left,
        no file can be made anyway.
        """
        kept = min(disk.f_files * self.percent / 100, MOST_FILES) if disk.f_favail else 0.0
        return disk.f_favail, kept

    def _bytes(self, disk: os.statvfs_result) -> tuple[int, float]:
        """The bytes that are free, and those of them that are kept."""
        kept = min(disk.f_blocks * disk.f_frsize * self.percent / 100, MOST_BYTES)
        return disk.f_bavail * disk.f_frsize, kept
