"""Size and SHA-256 of a file: the identity that stored files, manifests and caches use."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path


def file_digest(path: Path) -> tuple[int, str]:
    """The number of bytes of a file, and their SHA-256 in hexadecimal digits.

    Raises:
        OSError: the file cannot be read.
    """
    # Without O_NONBLOCK, a named pipe in place of a file is waited for until somebody writes to it.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256
