"""Size and SHA-256 of a file: the identity that stored files, manifests and caches use."""

from __future__ import annotations

import hashlib
from pathlib import Path

from app.regular_file import open_regular


def file_digest(path: Path) -> tuple[int, str]:
    """The number of bytes of a file, and their SHA-256 in hexadecimal digits.

    Raises:
        OSError: it is not a regular file, or cannot be read.
    """
    with open_regular(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256
