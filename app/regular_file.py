"""Open, read and digest a file that a user named, without waiting for a pipe or a device."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path


class NotRegularFile(OSError):
    """It is a folder, a named pipe or a device."""


def open_regular(path: Path) -> BufferedReader:
    """The file, open for reading.

    Raises:
        NotRegularFile: it is a folder, a named pipe or a device.
        OSError: it cannot be opened.
    """
    # Without O_NONBLOCK, opening a named pipe in place of a file would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise NotRegularFile(errno.EISDIR, "it is a directory", str(path))
    raise NotRegularFile(errno.EINVAL, "it is not a regular file", str(path))


def read_regular(path: Path) -> bytes:
    """The bytes of a regular file.

    Raises:
        OSError: as `open_regular`.
    """
    with open_regular(path) as file:
        return file.read()


def file_digest(path: Path) -> tuple[int, str]:
    """The number of bytes of a file, and their SHA-256 in hexadecimal digits.

    Stored files, manifests and caches identify a file by these two.

    Raises:
        OSError: as `open_regular`, or it cannot be read.
    """
    with open_regular(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256
