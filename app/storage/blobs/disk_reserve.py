"""The part of a disk that uploads leave free, so that the database can go on writing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.errors import DiskReserved, StoreAway

MOST_BYTES = 10 * 1024**3  # of a large disk, no more is kept
GIGABYTE = 1024**3
WHAT_TO_DO = "Nothing was stored. The operator of this Podium has to free space."


@dataclass(frozen=True, slots=True)
class DiskReserve:
    """`percent` of the disk of `directory` is kept free, and at most `MOST_BYTES`."""

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
            free, kept = self._free_and_kept()
        except OSError as error:
            raise StoreAway(
                f"The directory of submitted files cannot be read: {error.strerror}."
            ) from error
        if free - size < kept:
            raise DiskReserved(
                f"The disk of {self.directory} has {free / GIGABYTE:.2f} GB left, of which "
                f"{kept / GIGABYTE:.2f} GB are kept for the database "
                f"(PODIUM_DISK_RESERVE_PERCENT). {WHAT_TO_DO}",
                for_strangers="The disk for submitted files is nearly full, and the rest is kept "
                f"for the database. {WHAT_TO_DO}",
            )

    def is_near(self) -> bool:
        """Whether less than twice the reserve is free.

        Raises:
            OSError: the directory is not there.
        """
        if not self.percent:
            return False
        free, kept = self._free_and_kept()
        return free < 2 * kept

    def _free_and_kept(self) -> tuple[int, float]:
        """The bytes that are free, and those of them that are kept."""
        disk = os.statvfs(self.directory)
        kept = min(disk.f_blocks * disk.f_frsize * self.percent / 100, MOST_BYTES)
        return disk.f_bavail * disk.f_frsize, kept
