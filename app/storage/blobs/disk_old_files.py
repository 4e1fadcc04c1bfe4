"""The old files of a store on disk, and their removal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.storage.blobs.removal import remove_old
from app.storage.blobs.store import DIGEST
from app.storage.blobs.unreferenced import OldFile


class DiskOldFiles:
    """The files below `root`, the staged ones in `staged`."""

    def __init__(self, root: Path, staged: Path) -> None:
        self._root = root
        self._staged = staged

    def blobs(self, before: float) -> Iterator[OldFile]:
        """The old blobs, in ascending order of their digests."""
        for number in range(256):
            prefix = f"{number:02x}"
            directory = self._root / prefix
            for name, size in sorted(_old_files(directory, before)):
                if DIGEST.fullmatch(prefix + name):  # others are not Podium's
                    yield OldFile(prefix + name, False, str(directory / name), size)

    def staged(self, before: float) -> Iterator[OldFile]:
        """The old staged files, sorted by name."""
        for name, size in sorted(_old_files(self._staged, before)):
            yield OldFile(name, True, str(self._staged / name), size)

    def remove(self, file: OldFile, before: float) -> bool:
        """Remove a file under its lock, unless it was changed or renewed since `before`."""
        return remove_old(Path(file.place), before)

    def settle(self, named: Iterable[str], before: float) -> None:
        """Do nothing: whoever needs a blob renews it under its lock, or stores it again."""


def _old_files(directory: Path, before: float) -> Iterator[tuple[str, int]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if found.st_mtime < before:
                yield entry.name, found.st_size
