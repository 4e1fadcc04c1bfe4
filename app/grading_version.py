"""The version that a grade names: the release, and a digest of the code that decides scores."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from app import __version__

# What a score depends on besides the competition and the libraries: how files and answers are
# read, and the metrics. Order and names are part of the digest.
DECISIVE_PACKAGES = ("domain", "grading", "metrics")
DIGITS = 12


@functools.cache
def grading_version() -> str:
    """The release and the digest, as a PEP 440 local version.

    Two installations of the same release whose grading code differs by one byte have different
    grading versions, so workers of both are kept apart.

    >>> release, _, digest = grading_version().partition("+")
    >>> release == __version__, len(digest)
    (True, 12)
    """
    return f"{__version__}+{source_digest(Path(__file__).parent)}"


def source_digest(package: Path) -> str:
    """The digest of the deciding sources below `package`, as hexadecimal digits."""
    digest = hashlib.sha256()
    for name in DECISIVE_PACKAGES:
        for file in sorted((package / name).rglob("*.py")):
            source = file.read_bytes()
            digest.update(f"{file.relative_to(package).as_posix()}\0{len(source)}\0".encode())
            digest.update(source)
    return digest.hexdigest()[:DIGITS]
