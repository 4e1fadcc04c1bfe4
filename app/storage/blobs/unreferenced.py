"""Find the files of a store that no row of the database names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.store import DIGEST

File = tuple[Path, int]  # with its size in bytes


def unreferenced_blobs(store: DiskBlobs, named: Iterable[str], before: float) -> Iterator[File]:
    """The blobs that were not changed since `before` (Unix time) and are not `named`.

    `named` are the digests that rows name, in ascending order. They must be read from the database
    not long before this begins: a blob that got its row later is newer than `before`.
    """
    remaining = iter(named)
    current = next(remaining, None)
    for number in range(256):
        prefix = f"{number:02x}"
        for name, size in sorted(_old_files(store.root / prefix, before)):
            digest = prefix + name
            if not DIGEST.fullmatch(digest):
                continue  # not Podium's
            while current is not None and current < digest:
                current = next(remaining, None)
            if current != digest:
                yield store.path(digest), size


def unreferenced_staged(store: DiskBlobs, named: set[str], before: float) -> Iterator[File]:
    """The staged files that were not changed since `before` and are not `named`."""
    for name, size in sorted(_old_files(store.staged, before)):
        if name not in named:
            yield store.staged / name, size


def _old_files(directory: Path, before: float) -> Iterator[tuple[str, int]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if found.st_mtime < before:
                yield entry.name, found.st_size
