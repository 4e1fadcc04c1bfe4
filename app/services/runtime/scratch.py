"""Temporary directories on the disk of the stored files, for the lifetime of a process.

A command may import a folder for hours while a server starts. So each process locks its directory,
and only unlocked directories are removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import threading
import uuid
from pathlib import Path

FOLDER = "tmp"  # of the data directory


class ScratchDirectories:
    """The temporary directories of this process below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._held: dict[Path, int] = {}

    def new(self) -> Path:
        """A new empty directory. The caller removes it."""
        while True:
            directory = self._root / uuid.uuid4().hex
            directory.mkdir(parents=True)
            with contextlib.suppress(FileNotFoundError):
                descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if directory.exists():
                    break
                os.close(descriptor)  # a server that starts removed it before it was locked
        with self._lock:
            for path in [path for path in self._held if not path.exists()]:
                os.close(self._held.pop(path))
            self._held[directory] = descriptor
        return directory

    def close(self) -> None:
        """Unlock the directory, so that the next server removes what is left."""
        with self._lock:
            while self._held:
                os.close(self._held.popitem()[1])


def remove_abandoned(root: Path) -> None:
    """Remove the directories of dead processes below `root`."""
    for path in root.iterdir() if root.is_dir() else ():
        with contextlib.suppress(OSError):
            if path.is_symlink():
                path.unlink()
                continue
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
            finally:
                os.close(descriptor)
