"""The files and directories of the cache on the disk: their locks, sizes and paths."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import uuid
from pathlib import Path

BLOCK_BYTES = 512  # the unit of st_blocks


def new_partial(root: Path) -> tuple[Path, int]:
    """A new directory, and the descriptor that has its lock until this process ends."""
    while True:
        directory = root / uuid.uuid4().hex
        directory.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError):
            descriptor = lock(directory, fcntl.LOCK_SH)
            if directory.exists():
                return directory, descriptor
            os.close(descriptor)  # another process swept it before it was locked


def lock(path: Path, mode: int) -> int:
    """A descriptor of the path with a lock on it.

    Raises:
        BlockingIOError: another one has it, and `mode` has LOCK_NB.
        FileNotFoundError: nothing is there.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the opened file or directory is still at the path.

    Raises:
        FileNotFoundError: nothing is there.
    """
    now, there = path.stat(), os.fstat(descriptor)
    return (now.st_dev, now.st_ino) == (there.st_dev, there.st_ino)


def rename_new(new: Path, path: Path) -> None:
    """Move a new file or directory to its path. Never replace an entry that others may use.

    Raises:
        OSError: EEXIST or ENOTEMPTY if there is an entry at the path.
    """
    if new.is_dir():
        new.rename(path)
    else:
        path.hardlink_to(new)
        new.unlink()


def size_of(path: Path) -> int:
    """The disk space of a file or directory in bytes. Hard links to other files count as 0."""
    found = path.stat()
    if not path.is_dir():
        return found.st_blocks * BLOCK_BYTES if found.st_nlink == 1 else 0
    return found.st_blocks * BLOCK_BYTES + sum(size_of(below) for below in path.iterdir())


def delete(path: Path) -> None:
    """Delete a file or a directory as far as the disk allows it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):  # missing, or its disk fails: `sweep` removes it
            path.unlink()
