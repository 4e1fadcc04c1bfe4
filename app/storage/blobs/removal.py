"""Remove old files that nobody needs, while other processes may begin to need them.

A process that stores bytes that exist already calls `renew`, and only `remove_old` removes files.
Both lock the file. So either the file is renewed first, and then it is not old any more, or it is
removed first, and then `renew` returns false and the bytes are stored again.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from app.storage.blobs.store import DIGEST
from app.storage.blobs.unreferenced import OldFile
from app.system_limits import is_used_up

# Without O_NONBLOCK, opening a named pipe in place of a file would wait for a writer.
OPENED = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
log = logging.getLogger("podium.storage")


def renew(path: Path, is_right: Callable[[Path], bool] = lambda path: True) -> bool:
    """Make a file or directory new, if it exists and `is_right`. Returns whether it does.

    Raises:
        OSError: this process can open no more files.
    """
    try:
        descriptor = os.open(path, OPENED)
    except OSError as error:  # missing, another user's, or not a file: the blob is stored again
        if is_used_up(error):
            raise
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if not is_right(path) or not _is_at(descriptor, path):
            return False
        os.utime(descriptor)
    except OSError as error:  # removed, another user's, or the disk cannot read it: store it again
        if is_used_up(error):
            raise
        return False
    finally:
        os.close(descriptor)
    return True


def remove_old(path: Path, before: float, remove: Callable[[Path], None] = os.unlink) -> bool:
    """Remove a file or directory that was not changed or renewed since `before` (Unix time).

    Returns whether it was removed. One that cannot be opened or removed stays; the log says why.

    Raises:
        OSError: this process can open no more files.
    """
    try:
        descriptor = os.open(path, OPENED)
    except FileNotFoundError:
        return False
    except OSError as error:
        _warn_or_raise(path, error)
        return False
    try:
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_mtime < before and _is_at(descriptor, path):
                remove(path)
                return True
    except OSError as error:
        _warn_or_raise(path, error)
    finally:
        os.close(descriptor)
    return False


def _warn_or_raise(path: Path, error: OSError) -> None:
    if is_used_up(error):
        raise error  # all others would fail in the same way
    log.warning("an old file stays", extra={"path": str(path), "why": error.strerror})


def _is_at(descriptor: int, path: Path) -> bool:
    found, there = os.fstat(descriptor), path.stat()
    return (found.st_dev, found.st_ino) == (there.st_dev, there.st_ino)


class DiskOldFiles:
    """The files below `root`, the staged ones in `staged`."""

    def __init__(self, root: Path, staged: Path) -> None:
        self._root = root
        self._staged = staged

    def now(self) -> float:
        """The time by the clock that sets the files' times: on a shared disk, the disk's clock.

        If nothing can be written, and so nothing can be removed, it is an earlier time.
        """
        with contextlib.suppress(OSError):
            os.utime(self._staged)
        return self._staged.stat().st_mtime

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
